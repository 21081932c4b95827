#include "aot/passes/replace_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/passes/call_builder.h"
#include "aot/passes/pass.h"

namespace vitrine::aot {
namespace {

// Operands are [batch, head, position, value].
constexpr int kBatch = 0;
constexpr int kHead = 1;
constexpr int kPosition = 2;
constexpr int kValue = 3;
constexpr size_t kRank = 4;

struct Attention {
  Node* query = nullptr;
  Node* key = nullptr;
  Node* value = nullptr;
  Node* mask = nullptr;  // null: none
  bool is_causal = false;
  Argument start = 0;  // what custom_sdpa counts queries from
};

// Whether something between the two, in order of execution, may write to memory.
bool writes_between(const Node* from, const Node& to) {
  for (const Node* node = from->next(); node != nullptr && node != &to; node = node->next()) {
    if (node->is_call() && (is_in_place(node->target()) || has_unknown_effects(node->target()))) {
      return true;
    }
  }
  return false;
}

// What a node repeats for each query head of `call` that shares it; itself if it does no such
// thing.
Node* unrepeated(Node* node, const Node& call) {
  if (!node->is_call() || !node->target().is("aten.repeat_interleave.self_int")) return node;
  const Argument* dim = node->arg(2);
  Node* source = node->need(0).node();
  const bool by_head =
      dim != nullptr && dim->get<int64_t>() != nullptr && *dim->get<int64_t>() == kHead;
  const bool has_source = source != nullptr && source->tensor() != nullptr;
  return by_head && has_source && !writes_between(node, call) ? source : node;
}

std::string why_not_operands(const Attention& of, bool shares_heads) {
  const TensorSpec& query = *of.query->tensor();
  for (const Node* node : {of.query, of.key, of.value}) {
    const TensorSpec& spec = *node->tensor();
    if (spec.rank() != kRank) return "its operands do not have 4 dims";
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

class Replacing {
 public:
  explicit Replacing(ExportedProgram& program) : program_(program) {}

  AttentionResult run() {
    std::vector<Node*> calls;
    for (Node& node : program_.graph->nodes()) {
      if (node.is_call() && node.target().is("aten.scaled_dot_product_attention.default")) {
        calls.push_back(&node);
      }
    }
    for (Node* call : calls) run_at_node(call->name(), [&] { visit(*call); });
    return std::move(result_);
  }

 private:
  void visit(Node& node) {
    Decomposition to(program_, node);
    Attention found;
    const std::string reason = why_not(to, found);
    if (!reason.empty()) {
      result_.kept.push_back(fmt::format("node {}: {}", node.name(), reason));
      return;
    }
    replace(to, found);
    ++result_.replaced;
  }

  static std::string why_not(Decomposition& to, Attention& found) {
    if (to.number("dropout_p", 0) != 0) return "it drops values out";
    found.query = to.tensor("query");
    found.key = to.tensor("key");
    found.value = to.tensor("value");
    found.mask = to.optional_tensor("attn_mask");
    found.is_causal = to.boolean("is_causal", false);
    std::string reason = why_not_operands(found, to.boolean("enable_gqa", false));
    if (!reason.empty()) return reason;
    Attention shared = found;
    shared.key = unrepeated(found.key, to.node());
    shared.value = unrepeated(found.value, to.node());
    if (why_not_operands(shared, true).empty()) found = shared;
    return found.mask != nullptr ? why_not_mask(found) : find_start(found);
  }

  static void replace(Decomposition& to, const Attention& of) {
    const auto positions_first = [&](Node* x) { return to.transpose(x, kHead, kPosition); };
    Node* query = positions_first(of.query);
    const TensorSpec spec = contiguous_spec(query->tensor()->dtype, query->tensor()->sizes);
    ArgumentList args = {query,
                         positions_first(of.key),
                         positions_first(of.value),
                         of.start,
                         of.mask == nullptr ? Argument() : Argument(mask_of(to, of.mask)),
                         0.0,
                         of.is_causal};
    if (const Argument scale = to.value("scale"); !scale.is_none()) args.push_back(scale);
    Node* made = to.call("llama.custom_sdpa.default", std::move(args), spec);
    made = positions_first(made);
    // Views of the result rely on its strides.
    const TensorSpec& before = to.spec();
    if (before.strides == contiguous_strides(before.sizes)) {
      made = to.make("aten.clone.default", {made}, {{"memory_format", MemoryFormat::kContiguous}});
    }
    to.replace(made);
  }

  // f32 [query, key], to be added to scores.
  static Node* mask_of(Decomposition& to, Node* mask) {
    const Calls f(to);
    while (rank_of(mask) > 2) mask = f.select(mask, 0, 0);
    if (mask->tensor()->dtype == ScalarType::kBool) {
      Node* none = to.scalar(0.0, ScalarType::kFloat);
      Node* all = to.scalar(-kInfinity, ScalarType::kFloat);
      mask = f.where(mask, none, all);
    }
    return to.convert(mask, ScalarType::kFloat);
  }

  ExportedProgram& program_;
  AttentionResult result_;
};

}  // namespace

AttentionResult replace_attention(ExportedProgram& program) { return Replacing(program).run(); }

}  // namespace vitrine::aot
