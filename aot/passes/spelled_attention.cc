#include "aot/passes/spelled_attention.h"

#include <algorithm>

#include "aot/operators/decomposition.h"
#include "aot/passes/attention_rows.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/index_values.h"

namespace vitrine::aot {
namespace {

bool calls_any(const Node* node, std::initializer_list<std::string_view> ops) {
  return node != nullptr && node->is_call() && node->tensor() != nullptr &&
         node->target().dialect() == Dialect::kAten && node->target().name_space() == "aten" &&
         std::ranges::count(ops, node->target().op()) != 0;
}

std::optional<double> literal_number(const Argument& argument) {
  if (const double* number = argument.get<double>()) return *number;
  if (const int64_t* number = argument.get<int64_t>()) return static_cast<double>(*number);
  return std::nullopt;
}

bool is_rank4_float(const Node* node) {
  return node != nullptr && node->tensor() != nullptr && node->tensor()->rank() == kAttentionRank &&
         node->tensor()->dtype == ScalarType::kFloat;
}

bool may_write(const Node& node) {
  return node.is_call() && (is_in_place(node.target()) || writes_arguments(node) ||
                            has_unknown_effects(node.target()));
}

// The operands of attention that a model spells out as matrix products around a softmax.
struct Spelled {
  Node* query = nullptr;
  Node* key_transposed = nullptr;
  Node* value = nullptr;
  double scale = 1;
  Node* additive_mask = nullptr;  // a mask that is added to the scores
  Node* hidden = nullptr;         // or a mask that is true where keys are hidden
  bool hides_with_infinity = true;
};

class SpelledAttentionReader {
 public:
  std::optional<Spelled> read(const Node& product) {
    Node* weights = product.need(0).node();
    found_.value = product.need(1).node();
    while (is_no_op(weights)) weights = weights->need(0).node();
    if (!is_rank4_float(&product) || !calls_any(weights, {"softmax"}) || !is_over_keys(*weights)) {
      return std::nullopt;
    }
    Node* scores = unscaled(unmasked(weights->need(0).node()));
    if (!calls_any(scores, {"matmul"})) return std::nullopt;
    found_.query = scores->need(0).node();
    found_.key_transposed = scores->need(1).node();
    // The new call reads operands later than the old calls, so calls in between must not write.
    for (const Node* node = scores; node != &product; node = node->next()) {
      if (node == nullptr || may_write(*node)) return std::nullopt;
    }
    const bool is_supported = is_rank4_float(found_.query) &&
                              is_rank4_float(found_.key_transposed) && is_rank4_float(found_.value);
    return is_supported ? std::optional(found_) : std::nullopt;
  }

 private:
  // True for calls that return an f32 input unchanged in evaluation mode.
  static bool is_no_op(const Node* node) {
    if (calls_any(node, {"dropout"})) return !Call(*node).boolean("train", true);
    return calls_any(node, {"to", "clone", "contiguous", "type_as"}) &&
           is_rank4_float(node->need(0).node()) && is_rank4_float(node);
  }
  static bool is_over_keys(const Node& softmax) {
    const int64_t dim = Call(softmax).integer("dim");
    return wrapped(dim, kAttentionRank) == kAttentionRank - 1 && is_rank4_float(&softmax) &&
           is_rank4_float(softmax.need(0).node());
  }

  Node* unmasked(Node* scores) {
    if (calls_any(scores, {"masked_fill"})) {
      const Call call(*scores);
      const std::optional<double> value = literal_number(call.value("value"));
      if (!value || *value > -3.4e38) return nullptr;
      found_.hides_with_infinity = *value == -kInfinity;
      found_.hidden = &call.node("mask");
      return &call.node("self");
    }
    if (!calls_any(scores, {"add"})) return scores;
    const Call call(*scores);
    Node* mask = call.optional_node("other");
    if (mask == nullptr || call.real("alpha", 1) != 1 || !is_rank4_float(&call.node("self")) ||
        mask->tensor()->dtype != ScalarType::kFloat) {
      return nullptr;
    }
    found_.additive_mask = mask;
    return &call.node("self");
  }

  Node* unscaled(Node* scores) {
    while (calls_any(scores, {"mul", "div"})) {
      const Call call(*scores);
      const std::optional<double> factor = literal_number(call.value("other"));
      const bool divides = scores->target().op() == "div";
      if (!factor || !call.value("rounding_mode").is_none() || (divides && *factor == 0)) {
        return nullptr;
      }
      found_.scale = divides ? found_.scale / *factor : found_.scale * *factor;
      scores = &call.node("self");
    }
    return scores;
  }

  Spelled found_;
};

// A bool mask [..., query, key] that is true where the query sees the key.
Node* visible_mask(Decomposition& to, Node* hidden) {
  const bool is_negated = calls_any(hidden, {"logical_not", "bitwise_not"});
  Node* visible =
      is_negated ? &hidden->need_node(0) : to.make("aten.logical_not.default", {hidden});
  return rank_of(visible) == 1 ? to.make("aten.unsqueeze.default", {visible, 0}) : visible;
}

}  // namespace

Node* match_spelled_attention(ExportedProgram& program, Node& product) {
  if (!calls_any(&product, {"matmul"})) return nullptr;
  const std::optional<Spelled> found = SpelledAttentionReader().read(product);
  if (!found || !(found->scale > 0)) return nullptr;
  if (found->hidden != nullptr && found->hidden->tensor()->dtype != ScalarType::kBool) {
    return nullptr;
  }
  Decomposition to(program, product);
  const Node& transposed = *found->key_transposed;
  Node* key = nullptr;
  if (calls_any(&transposed, {"transpose"})) {
    const Call call(transposed);
    const size_t a = wrapped(call.integer("dim0"), kAttentionRank);
    const size_t b = wrapped(call.integer("dim1"), kAttentionRank);
    if (std::min(a, b) == kAttentionRank - 2 && a != b) key = &call.node("self");
  }
  if (key == nullptr) return nullptr;
  Node* mask = found->additive_mask;
  if (mask != nullptr && rank_of(mask) == 1) mask = to.make("aten.unsqueeze.default", {mask, 0});
  if (found->hidden != nullptr) {
    mask = visible_mask(to, found->hidden);
    // custom_sdpa returns NaN for a query that sees no key. Calls that hide keys with a finite
    // number return a number instead, so they match only if every query sees the first key.
    if (!found->hides_with_infinity) {
      const std::optional<LinearSum> start = IndexValues(program).causal_from(mask);
      if (!start || !is_never_negative(*start)) return nullptr;
    }
  }
  ArgumentList args = {found->query, key, found->value};
  if (mask != nullptr) args.emplace_back(mask);
  return to.call("aten.scaled_dot_product_attention.default", std::move(args), to.spec(),
                 {{"scale", found->scale}});
}

}  // namespace vitrine::aot
