#include "aot/passes/replace_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "aot/graph/pass.h"
#include "aot/operators/decomposition.h"
#include "aot/passes/attention_cost.h"
#include "aot/passes/attention_rows.h"
#include "aot/passes/kv_caches.h"
#include "aot/passes/spelled_attention.h"

namespace vitrine::aot {
namespace {

struct Attention {
  Node* query = nullptr;
  Node* key = nullptr;
  Node* value = nullptr;
  // The caches of keys and values are both set, or both null.
  const KvCache* key_cache = nullptr;
  const KvCache* value_cache = nullptr;
  const Node* prefix = nullptr;  // the slice of the cache's first positions; null: all are read
  Node* mask = nullptr;          // null without a mask
  bool is_causal = false;
  Argument start = 0;  // custom_sdpa's start_pos: the position of the first query
  bool reads_part_of_cache = false;
};

// Returns the keys or values before the model repeats them for each query head, or `node` if the
// model does not repeat them.
Node* unrepeated(Node* node, const Node& call) {
  const AttentionRows rows = trace_rows(node);
  const bool is_plain = rows.is_repeated && !rows.is_transposed && rows.prefix == nullptr;
  return is_plain && are_unchanged(rows, call) ? rows.source : node;
}

// Returns the reason why custom_sdpa does not support the operands, or an empty string.
// `shares_heads` is true if several query heads may share a key head.
std::string unsupported_operands(const Attention& of, bool shares_heads) {
  const TensorSpec& query = *of.query->tensor();
  for (const Node* node : {of.query, of.key, of.value}) {
    const TensorSpec& spec = *node->tensor();
    if (spec.rank() != kAttentionRank) return "its operands must have 4 dims";
    if (spec.dtype != query.dtype || !(spec.sizes[kValue] == query.sizes[kValue]) ||
        !(spec.sizes[kBatch] == query.sizes[kBatch])) {
      return "its operands differ in dtype, batch size or head size";
    }
  }
  if (query.dtype != ScalarType::kFloat && query.dtype != ScalarType::kHalf &&
      query.dtype != ScalarType::kBFloat16) {
    return "its dtype must be f32, f16 or bf16";
  }
  const TensorSpec& key = *of.key->tensor();
  if (!(key.sizes[kHead] == of.value->tensor()->sizes[kHead]) ||
      !(key.sizes[kPosition] == of.value->tensor()->sizes[kPosition])) {
    return "its keys and values differ in the number of heads or positions";
  }
  if (key.sizes[kHead] == query.sizes[kHead]) return "";
  const bool is_static = key.sizes[kHead].is_static() && query.sizes[kHead].is_static();
  const bool divides = is_static && key.sizes[kHead].value() > 0 &&
                       query.sizes[kHead].value() % key.sizes[kHead].value() == 0;
  return divides && (shares_heads || key.sizes[kHead] == SymInt(1))
             ? ""
             : "the number of query heads must be a multiple of the number of key heads";
}

// Returns the reason why custom_sdpa does not support the mask, or an empty string.
std::string unsupported_mask(const Attention& of) {
  const TensorSpec& mask = *of.mask->tensor();
  const size_t rank = mask.rank();
  const bool is_known = mask.dtype == ScalarType::kBool || mask.dtype == ScalarType::kFloat ||
                        mask.dtype == ScalarType::kHalf || mask.dtype == ScalarType::kBFloat16;
  if (!is_known || of.is_causal)
    return "its mask must be bool or float, and not used together with is_causal";
  if (rank < 2 || !(mask.sizes[rank - 2] == of.query->tensor()->sizes[kPosition]) ||
      !(mask.sizes[rank - 1] == of.key->tensor()->sizes[kPosition])) {
    return "its mask must have a row per query and a column per key";
  }
  const bool is_shared = std::all_of(mask.sizes.begin(), mask.sizes.end() - 2,
                                     [](const SymInt& size) { return size == SymInt(1); });
  return is_shared ? "" : "its mask differs by head or batch";
}

// Sets `of.start` for attention without a mask. custom_sdpa reads keys up to the position of the
// last query, which must therefore be the position of the last key. Returns an error message if
// there may be fewer keys than queries.
std::string set_start_without_mask(Attention& of) {
  const SymInt& queries = of.query->tensor()->sizes[kPosition];
  const SymInt& keys = of.key->tensor()->sizes[kPosition];
  if (queries == keys) return "";
  const bool has_keys = queries.is_static() && keys.is_static() && keys.value() > queries.value();
  if (!has_keys) return "the graph does not show that there are at least as many keys as queries";
  if (!of.is_causal) of.start = keys.value() - queries.value();
  return "";
}

// The position of the first query, derived from the mask and from the keys.
struct Starts {
  std::optional<LinearSum> by_mask;  // the mask lets query i see the keys up to by_mask + i
  std::optional<LinearSum> by_keys;  // the keys that are read end at the last query's position
};

class AttentionReplacer {
 public:
  AttentionReplacer(ExportedProgram& program, AttentionChoice choice)
      : program_(program), choice_(choice), caches_(program) {}

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
  // Replaces products that spell out attention with one call. restore_products() undoes this if
  // custom_sdpa does not replace the call.
  void find_spelled() {
    for_each_call(*program_.graph, [&](Node& node) {
      if (&node.graph() != program_.graph.get()) return;
      Node* attention = match_spelled_attention(program_, node);
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

  void restore_products(Node& attention) {
    const auto found = spelled_.find(&attention);
    if (found == spelled_.end()) return;
    attention.replace_all_uses_with(found->second);
    rename_output(attention, *found->second);
    program_.graph->erase(&attention);
  }

  void visit(Node& node) {
    Decomposition to(program_, node);
    Attention found;
    std::string reason = analyze(to, found);
    if (reason.empty()) reason = reason_to_keep(found);
    if (!reason.empty()) {
      result_.kept.push_back(
          fmt::format("attention not replaced: node {}: {}", node.name(), reason));
      restore_products(node);
      return;
    }
    replace(to, found);
    ++result_.replaced;
  }

  // Fills `found` with the operands. Returns the reason why custom_sdpa cannot compute the call.
  std::string analyze(Decomposition& to, Attention& found) {
    found.query = to.tensor("query");
    found.key = to.tensor("key");
    found.value = to.tensor("value");
    if (to.number("dropout_p", 0) != 0) return "dropout_p must be 0";
    found.mask = to.optional_tensor("attn_mask");
    found.is_causal = to.boolean("is_causal", false);
    std::string reason = unsupported_operands(found, to.boolean("enable_gqa", false));
    if (!reason.empty()) return reason;
    find_caches(found, to.node());
    if (found.key_cache != nullptr && find_causal_start(found, to.node())) return "";
    Attention shared = found;
    shared.key = unrepeated(found.key, to.node());
    shared.value = unrepeated(found.value, to.node());
    if (unsupported_operands(shared, true).empty()) found = shared;
    drop_causal_mask(found, to.node());
    if (found.is_causal && found.start != Argument(0)) return "";
    return found.mask != nullptr ? unsupported_mask(found) : set_start_without_mask(found);
  }

  // Returns the reason to keep a call that custom_sdpa can compute, or an empty string.
  std::string reason_to_keep(const Attention& found) const {
    if (choice_ == AttentionChoice::kAll) return "";
    if (found.mask != nullptr)
      return "its mask may hide all keys of a query, which would change the results";
    AttentionShape shape;
    shape.queries = found.query->tensor()->sizes[kPosition];
    shape.keys = found.key->tensor()->sizes[kPosition];
    shape.is_causal = found.is_causal;
    shape.reads_part_of_cache = found.reads_part_of_cache;
    shape.is_delegated = choice_ == AttentionChoice::kIfFasterThanDelegated;
    return is_faster_as_operator(shape, program_.range_constraints)
               ? ""
               : fmt::format("custom_sdpa is not expected to be faster for {} queries and {} keys",
                             to_text(shape.queries), to_text(shape.keys));
  }

  const KvCache* cache_of(const AttentionRows& from, const Node& call) const {
    const KvCache* cache = caches_.cache_of(from.source);
    const bool has_order = cache != nullptr && cache->positions_first == from.is_transposed;
    return has_order && are_unchanged(from, call) ? cache : nullptr;
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

  // Derives the first query's position from the mask, and from the range of keys that are read.
  static Starts starts_of(const Node& node, IndexValues& values) {
    const Call call(node);
    Starts starts;
    if (const Node* mask = call.optional_node("attn_mask")) {
      starts.by_mask = values.causal_from(mask);
    }
    // Returns the number of cached positions that attention reads, minus the number of queries. The
    // first query has this position if the queries come last.
    const auto start_by_end = [&](Node& rows) -> std::optional<LinearSum> {
      const AttentionRows from = trace_rows(&rows);
      if (from.prefix == nullptr) return std::nullopt;
      const bool is_slice = from.prefix->target().op() == "slice";
      const auto end = values.integer(Call(*from.prefix).value(is_slice ? "end" : "length"));
      const auto count = values.size_sum(call.tensor("query").sizes[kPosition]);
      return end && count ? combined(*end, *count, -1) : std::nullopt;
    };
    if (call.tensor("query").rank() != kAttentionRank) return starts;
    starts.by_keys = start_by_end(call.node("key"));
    if (starts.by_keys != start_by_end(call.node("value"))) starts.by_keys = std::nullopt;
    return starts;
  }

  // Returns the position p of the first query, if known. With a mask, query i then sees exactly the
  // cached keys up to p + i. Without a mask, every query sees the cached keys up to the last query.
  std::optional<LinearSum> causal_start(const Attention& found, const Node& call) {
    const Starts& starts = starts_[&call];
    if (found.is_causal) return std::nullopt;
    if (found.mask == nullptr) return found.prefix != nullptr ? starts.by_keys : std::nullopt;
    const bool has_all_keys = found.prefix == nullptr || starts.by_keys == starts.by_mask;
    return has_all_keys ? starts.by_mask : std::nullopt;
  }

  // If the position of the first query is known, sets found.start, removes the mask and returns
  // true. Otherwise returns false, and sets the caches in `found` to null if attention reads only a
  // part of them.
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
    if (found.prefix != nullptr) {  // only a part of the cache is read
      found.key_cache = found.value_cache = nullptr;
      return false;
    }
    if (found.mask != nullptr && !found.is_causal) {
      result_.kept.push_back(
          fmt::format("mask kept: node {}: the graph does not show a causal mask that starts at "
                      "the position of the cache write, so the entire cache is read",
                      call.name()));
    }
    return false;
  }

  // Replaces a causal mask with is_causal if the keys are not cached.
  void drop_causal_mask(Attention& found, const Node& call) {
    const std::optional<LinearSum>& from = starts_[&call].by_mask;
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
    Node* query = is_flat ? group_by_key_head(to, of) : positions_first(of.query);
    const TensorSpec spec = contiguous_spec(query->tensor()->dtype, query->tensor()->sizes);
    ArgumentList args = {query,
                         rows(of.key_cache, of.key),
                         rows(of.value_cache, of.value),
                         of.start,
                         of.mask == nullptr ? Argument() : Argument(additive_mask(to, of.mask)),
                         0.0,
                         of.is_causal};
    if (const Argument scale = to.value("scale"); !scale.is_none()) args.push_back(scale);
    Node* made = to.call("llama.custom_sdpa.default", std::move(args), spec);
    if (is_flat) made = ungroup(to, of, made);
    made = positions_first(made);
    // The result must keep its strides, because views of the result rely on them.
    const TensorSpec& before = to.spec();
    if (before.strides == contiguous_strides(before.sizes)) {
      made = to.make("aten.clone.default", {made}, {{"memory_format", MemoryFormat::kContiguous}});
    }
    to.replace(made);
  }

  // In a flat cache, each key head is a separate batch. Groups the query heads that share a key
  // head: [batch, heads, positions, values] -> [batch * key heads, positions, group, values].
  static Node* group_by_key_head(Decomposition& to, const Attention& of) {
    const std::vector<SymInt>& sizes = of.query->tensor()->sizes;
    const SymInt batches = of.key_cache->batch * of.key_cache->heads;
    const SymInt group = sizes[kHead] / SymInt(of.key_cache->heads);
    if (sizes[kPosition] == SymInt(1)) {
      return to.reshape(of.query, {batches, 1, group, sizes[kValue]});
    }
    Node* split = to.reshape(of.query, {batches, group, sizes[kPosition], sizes[kValue]});
    return to.transpose(split, kHead, kPosition);
  }

  // Undoes group_by_key_head(). The result is [batch, positions, heads, values].
  static Node* ungroup(Decomposition& to, const Attention& of, Node* made) {
    const std::vector<SymInt>& sizes = of.query->tensor()->sizes;
    const SymInt group = sizes[kHead] / SymInt(of.key_cache->heads);
    if (!(sizes[kPosition] == SymInt(1))) {
      made = to.reshape(
          made, {of.key_cache->batch, of.key_cache->heads, sizes[kPosition], group, sizes[kValue]});
      made = to.permute(made, {0, 2, 1, 3, 4});
    }
    return to.reshape(made, {sizes[kBatch], sizes[kPosition], sizes[kHead], sizes[kValue]});
  }

  // Converts the mask to an additive f32 mask [query, key].
  static Node* additive_mask(Decomposition& to, Node* mask) {
    while (rank_of(mask) > 2) mask = to.select(mask, 0, 0);
    if (mask->tensor()->dtype == ScalarType::kBool) {
      Node* visible = to.scalar(0.0, ScalarType::kFloat);
      Node* hidden = to.scalar(-kInfinity, ScalarType::kFloat);
      mask = to.where(mask, visible, hidden);
    }
    return to.convert(mask, ScalarType::kFloat);
  }

  ExportedProgram& program_;
  AttentionChoice choice_;
  KvCaches caches_;
  std::unordered_map<const Node*, Starts> starts_;  // keyed by the call of attention
  std::unordered_map<const Node*, Node*> spelled_;  // call of attention -> product it replaces
  AttentionResult result_;
};

}  // namespace

AttentionResult replace_attention(ExportedProgram& program, AttentionChoice choice) {
  return AttentionReplacer(program, choice).run();
}

}  // namespace vitrine::aot
