#include "aot/passes/replace_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "aot/passes/attention_cost.h"
#include "aot/passes/attention_rows.h"
#include "aot/passes/decomposition.h"
#include "aot/passes/kv_caches.h"
#include "aot/passes/pass.h"
#include "aot/passes/spelled_attention.h"

namespace vitrine::aot {
namespace {

struct Attention {
  Node* query = nullptr;
  Node* key = nullptr;
  Node* value = nullptr;
  // The caches that keys and values are, if both are.
  const KvCache* key_cache = nullptr;
  const KvCache* value_cache = nullptr;
  const Node* prefix = nullptr;  // takes the first positions of the cache; null: all are taken
  Node* mask = nullptr;          // null: none
  bool is_causal = false;
  Argument start = 0;  // what custom_sdpa counts queries from
  bool reads_part_of_cache = false;
};

// Keys or values before they are repeated for each query head; itself if they are not.
Node* unrepeated(Node* node, const Node& call) {
  const AttentionRows rows = trace_rows(node);
  const bool is_plain = rows.is_repeated && !rows.is_transposed && rows.prefix == nullptr;
  return is_plain && are_unchanged(rows, call) ? rows.source : node;
}

std::string why_not_operands(const Attention& of, bool shares_heads) {
  const TensorSpec& query = *of.query->tensor();
  for (const Node* node : {of.query, of.key, of.value}) {
    const TensorSpec& spec = *node->tensor();
    if (spec.rank() != kAttentionRank) return "its operands do not have 4 dims";
    if (spec.dtype != query.dtype || !(spec.sizes[kValue] == query.sizes[kValue]) ||
        !(spec.sizes[kBatch] == query.sizes[kBatch])) {
      return "its operands differ in dtype, batch or the length of a head";
    }
  }
  if (query.dtype != ScalarType::kFloat && query.dtype != ScalarType::kHalf &&
      query.dtype != ScalarType::kBFloat16) {
    return "its dtype is not f32, f16 or bf16";
  }
  const TensorSpec& key = *of.key->tensor();
  if (!(key.sizes[kHead] == of.value->tensor()->sizes[kHead]) ||
      !(key.sizes[kPosition] == of.value->tensor()->sizes[kPosition])) {
    return "its keys and values differ in number";
  }
  if (key.sizes[kHead] == query.sizes[kHead]) return "";
  const bool is_static = key.sizes[kHead].is_static() && query.sizes[kHead].is_static();
  const bool divides = is_static && key.sizes[kHead].value() > 0 &&
                       query.sizes[kHead].value() % key.sizes[kHead].value() == 0;
  return divides && (shares_heads || key.sizes[kHead] == SymInt(1))
             ? ""
             : "its heads do not share keys evenly";
}

std::string why_not_mask(const Attention& of) {
  const TensorSpec& mask = *of.mask->tensor();
  const size_t rank = mask.rank();
  const bool is_known = mask.dtype == ScalarType::kBool || mask.dtype == ScalarType::kFloat ||
                        mask.dtype == ScalarType::kHalf || mask.dtype == ScalarType::kBFloat16;
  if (!is_known || of.is_causal) return "its mask is of an unknown kind";
  if (rank < 2 || !(mask.sizes[rank - 2] == of.query->tensor()->sizes[kPosition]) ||
      !(mask.sizes[rank - 1] == of.key->tensor()->sizes[kPosition])) {
    return "its mask is not given for each query and key";
  }
  const bool is_shared = std::all_of(mask.sizes.begin(), mask.sizes.end() - 2,
                                     [](const SymInt& size) { return size == SymInt(1); });
  return is_shared ? "" : "its mask differs by head or batch";
}

// Without a mask, custom_sdpa reads the keys up to the last query's position.
std::string find_start(Attention& of) {
  const SymInt& queries = of.query->tensor()->sizes[kPosition];
  const SymInt& keys = of.key->tensor()->sizes[kPosition];
  if (queries == keys) return "";
  const bool has_keys = queries.is_static() && keys.is_static() && keys.value() > queries.value();
  if (!has_keys) return "it is not known to have a key for each query";
  if (!of.is_causal) of.start = keys.value() - queries.value();
  return "";
}

// Sums that queries of a call count from, as far as the graph shows them.
struct Starts {
  std::optional<LinearSum> of_mask;  // query i sees the keys up to this + i
  std::optional<LinearSum> of_keys;  // the keys that are taken end with the last query's
};

class Replacing {
 public:
  Replacing(ExportedProgram& program, AttentionChoice which)
      : program_(program), which_(which), caches_(program) {}

  AttentionResult run() {
    std::vector<Node*> calls;
    find_spelled();
    {
      IndexValues values(program_);
      for (Node& node : program_.graph->nodes()) {
        if (!node.is_call() || !node.target().is("aten.scaled_dot_product_attention.default")) {
          continue;
        }
        calls.push_back(&node);
        starts_[&node] = starts_of(node, values);
      }
      caches_.find(values, result_.kept);
    }
    result_.writes = caches_.replace_writes();
    result_.flat_buffers = caches_.flat_buffers();
    for (Node* call : calls) run_at_node(call->name(), [&] { visit(*call); });
    return std::move(result_);
  }

 private:
  // Attention that is spelled out is one call, as long as it is not known that it stays.
  void find_spelled() {
    for_each_call(*program_.graph, [&](Node& node) {
      if (&node.graph() != program_.graph.get()) return;
      Node* attention = attention_of(program_, node);
      if (attention == nullptr) return;
      node.replace_all_uses_with(attention);
      rename_output(node, *attention);
      spelled_[attention] = &node;
    });
  }

  void rename_output(const Node& from, const Node& to) {
    for (OutputSpec& output : program_.signature.outputs) {
      if (output.name == from.name()) output.name = to.name();
    }
  }

  void spell_again(Node& attention) {
    const auto found = spelled_.find(&attention);
    if (found == spelled_.end()) return;
    attention.replace_all_uses_with(found->second);
    rename_output(attention, *found->second);
    program_.graph->erase(&attention);
  }

  void visit(Node& node) {
    Decomposition to(program_, node);
    Attention found;
    std::string reason = why_not(to, found);
    if (reason.empty()) reason = why_not_better(found);
    if (!reason.empty()) {
      result_.kept.push_back(fmt::format("attention stays: node {}: {}", node.name(), reason));
      spell_again(node);
      return;
    }
    replace(to, found);
    ++result_.replaced;
  }

  std::string why_not(Decomposition& to, Attention& found) {
    if (to.number("dropout_p", 0) != 0) return "it drops values out";
    found.query = to.tensor("query");
    found.key = to.tensor("key");
    found.value = to.tensor("value");
    found.mask = to.optional_tensor("attn_mask");
    found.is_causal = to.boolean("is_causal", false);
    std::string reason = why_not_operands(found, to.boolean("enable_gqa", false));
    if (!reason.empty()) return reason;
    find_caches(found, to.node());
    if (found.key_cache != nullptr && find_causal_start(found, to.node())) return "";
    Attention shared = found;
    shared.key = unrepeated(found.key, to.node());
    shared.value = unrepeated(found.value, to.node());
    if (why_not_operands(shared, true).empty()) found = shared;
    drop_causal_mask(found, to.node());
    if (found.is_causal && found.start != Argument(0)) return "";
    return found.mask != nullptr ? why_not_mask(found) : find_start(found);
  }

  std::string why_not_better(const Attention& found) const {
    if (which_ == AttentionChoice::kAll) return "";
    if (found.mask != nullptr) return "its mask may hide all keys of a query";
    AttentionShape shape;
    shape.queries = found.query->tensor()->sizes[kPosition];
    shape.keys = found.key->tensor()->sizes[kPosition];
    shape.is_causal = found.is_causal;
    shape.reads_part_of_cache = found.reads_part_of_cache;
    shape.is_delegated = which_ == AttentionChoice::kWherePaysDelegated;
    return pays_as_one_operator(shape, program_.range_constraints)
               ? ""
               : fmt::format("one operator for {} queries and {} keys is not known to be faster",
                             to_text(shape.queries), to_text(shape.keys));
  }

  const KvCache* cache_of(const AttentionRows& from, const Node& call) const {
    const KvCache* cache = caches_.cache_of(from.source);
    const bool fits = cache != nullptr && cache->positions_first == from.is_transposed;
    return fits && are_unchanged(from, call) ? cache : nullptr;
  }

  void find_caches(Attention& found, const Node& call) const {
    const AttentionRows keys = trace_rows(found.key);
    const AttentionRows values = trace_rows(found.value);
    const KvCache* key = cache_of(keys, call);
    const KvCache* value = cache_of(values, call);
    if (key == nullptr || value == nullptr || key->positions_first != value->positions_first ||
        key->heads != value->heads || (keys.prefix == nullptr) != (values.prefix == nullptr)) {
      return;
    }
    found.key_cache = key;
    found.value_cache = value;
    found.prefix = keys.prefix;
  }

  // What the graph shows of the position that the first query has.
  static Starts starts_of(const Node& node, IndexValues& values) {
    const Call call(node);
    Starts starts;
    if (const Node* mask = call.optional_node("attn_mask")) {
      starts.of_mask = values.causal_from(mask);
    }
    const auto before_end = [&](Node& rows) -> std::optional<LinearSum> {
      const AttentionRows from = trace_rows(&rows);
      if (from.prefix == nullptr) return std::nullopt;
      const bool is_slice = from.prefix->target().op() == "slice";
      const auto end = values.whole(Call(*from.prefix).value(is_slice ? "end" : "length"));
      const auto count = values.size_sum(call.tensor("query").sizes[kPosition]);
      return end && count ? combined(*end, *count, -1) : std::nullopt;
    };
    if (call.tensor("query").rank() != kAttentionRank) return starts;
    starts.of_keys = before_end(call.node("key"));
    if (starts.of_keys != before_end(call.node("value"))) starts.of_keys = std::nullopt;
    return starts;
  }

  // Where the queries begin, if they see just the rows written now and all before: by the mask, or
  // by the end of the keys that are taken.
  std::optional<LinearSum> causal_start(const Attention& found, const Node& call) {
    const Starts& starts = starts_[&call];
    if (found.is_causal) return std::nullopt;
    if (found.mask == nullptr) return found.prefix != nullptr ? starts.of_keys : std::nullopt;
    const bool has_all = found.prefix == nullptr || starts.of_keys == starts.of_mask;
    return has_all ? starts.of_mask : std::nullopt;
  }

  // Whether the position suffices in the place of mask and prefix.
  bool find_causal_start(Attention& found, const Node& call) {
    const std::optional<LinearSum> from = causal_start(found, call);
    const SymInt& count = found.query->tensor()->sizes[kPosition];
    const auto start_of = [&](const KvCache& cache) {
      return from ? caches_.start_of_write(cache, *from, count, call) : std::nullopt;
    };
    const std::optional<Argument> start = start_of(*found.key_cache);
    if (start && start_of(*found.value_cache) == start) {
      found.is_causal = found.mask != nullptr;
      found.mask = nullptr;
      found.start = *start;
      found.reads_part_of_cache = true;
      return true;
    }
    if (found.prefix != nullptr) {  // what is taken is not the whole cache
      found.key_cache = found.value_cache = nullptr;
      return false;
    }
    if (found.mask != nullptr && !found.is_causal) {
      result_.kept.push_back(fmt::format(
          "mask stays: node {}: the graph does not show that it is causal by the position of the "
          "cache's write, so all of the cache is read",
          call.name()));
    }
    return false;
  }

  // A causal mask over keys that are in no cache.
  void drop_causal_mask(Attention& found, const Node& call) {
    const std::optional<LinearSum>& from = starts_[&call].of_mask;
    const bool is_known = found.key_cache == nullptr && found.mask != nullptr && !found.is_causal &&
                          from && from->terms.empty() && from->constant >= 0;
    const SymInt& queries = found.query->tensor()->sizes[kPosition];
    if (!is_known || !(found.key->tensor()->sizes[kPosition] == queries + SymInt(from->constant))) {
      return;
    }
    found.mask = nullptr;
    found.is_causal = true;
    found.start = from->constant;
  }

  static void replace(Decomposition& to, const Attention& of) {
    const bool is_flat = of.key_cache != nullptr && of.key_cache->is_flat();
    const auto positions_first = [&](Node* x) { return to.transpose(x, kHead, kPosition); };
    const auto rows = [&](const KvCache* cache, Node* x) {
      return cache != nullptr ? cache->buffer : positions_first(x);
    };
    Node* query = is_flat ? by_key_head(to, of) : positions_first(of.query);
    const TensorSpec spec = contiguous_spec(query->tensor()->dtype, query->tensor()->sizes);
    ArgumentList args = {query,
                         rows(of.key_cache, of.key),
                         rows(of.value_cache, of.value),
                         of.start,
                         of.mask == nullptr ? Argument() : Argument(mask_of(to, of.mask)),
                         0.0,
                         of.is_causal};
    if (const Argument scale = to.value("scale"); !scale.is_none()) args.push_back(scale);
    Node* made = to.call("llama.custom_sdpa.default", std::move(args), spec);
    if (is_flat) made = by_query_head(to, of, made);
    made = positions_first(made);
    // Views of the result rely on its strides.
    const TensorSpec& before = to.spec();
    if (before.strides == contiguous_strides(before.sizes)) {
      made = to.make("aten.clone.default", {made}, {{"memory_format", MemoryFormat::kContiguous}});
    }
    to.replace(made);
  }

  // Over a flat cache each head of keys is a batch of its own, with the query heads that share it.
  // [batch, heads, positions, values] -> [batch * key heads, positions, heads each, values]
  static Node* by_key_head(Decomposition& to, const Attention& of) {
    const std::vector<SymInt>& sizes = of.query->tensor()->sizes;
    const SymInt batches = of.key_cache->batch * of.key_cache->heads;
    const SymInt each = sizes[kHead] / SymInt(of.key_cache->heads);
    if (sizes[kPosition] == SymInt(1)) {
      return to.reshape(of.query, {batches, 1, each, sizes[kValue]});
    }
    Node* split = to.reshape(of.query, {batches, each, sizes[kPosition], sizes[kValue]});
    return to.transpose(split, kHead, kPosition);
  }

  // Back, to [batch, positions, heads, values].
  static Node* by_query_head(Decomposition& to, const Attention& of, Node* made) {
    const std::vector<SymInt>& sizes = of.query->tensor()->sizes;
    const SymInt each = sizes[kHead] / SymInt(of.key_cache->heads);
    if (!(sizes[kPosition] == SymInt(1))) {
      made = to.reshape(
          made, {of.key_cache->batch, of.key_cache->heads, sizes[kPosition], each, sizes[kValue]});
      made = to.permute(made, {0, 2, 1, 3, 4});
    }
    return to.reshape(made, {sizes[kBatch], sizes[kPosition], sizes[kHead], sizes[kValue]});
  }

  // f32 [query, key], to be added to scores.
  static Node* mask_of(Decomposition& to, Node* mask) {
    while (rank_of(mask) > 2) mask = to.select(mask, 0, 0);
    if (mask->tensor()->dtype == ScalarType::kBool) {
      Node* none = to.scalar(0.0, ScalarType::kFloat);
      Node* all = to.scalar(-kInfinity, ScalarType::kFloat);
      mask = to.where(mask, none, all);
    }
    return to.convert(mask, ScalarType::kFloat);
  }

  ExportedProgram& program_;
  AttentionChoice which_;
  KvCaches caches_;
  std::unordered_map<const Node*, Starts> starts_;  // by call
  std::unordered_map<const Node*, Node*> spelled_;  // calls -> products that they stand for
  AttentionResult result_;
};

}  // namespace

AttentionResult replace_attention(ExportedProgram& program, AttentionChoice which) {
  return Replacing(program, which).run();
}

}  // namespace vitrine::aot
