// Computes the index values (index_values.h) of calls whose operands are masks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "aot/passes/index_value_parts.h"
#include "aot/passes/index_values.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

using Kind = IndexValue::Kind;

constexpr size_t kMaxConditions = 8;  // real masks have one or two

// Returns the additive mask whose elements are `where_true` if the conditions hold, and otherwise
// `where_false`. One of the numbers must be 0, and is_masking() must be true for the other.
std::optional<IndexValue> additive_mask(const Conditions& conditions,
                                        std::optional<double> where_true,
                                        std::optional<double> where_false) {
  if (!where_true || !where_false) return std::nullopt;
  if (*where_true == 0 && is_masking(*where_false)) {
    return conditions_value(Kind::kAdditiveMask, conditions);
  }
  if (!is_masking(*where_true) || *where_false != 0) return std::nullopt;
  std::optional<Conditions> unmasked = opposite(conditions);
  if (!unmasked) return std::nullopt;
  return conditions_value(Kind::kAdditiveMask, std::move(*unmasked));
}

std::optional<IndexValue> mask_value(Kind kind, std::optional<Conditions> conditions) {
  if (!conditions || conditions->size() > kMaxConditions) return std::nullopt;
  return conditions_value(kind, std::move(*conditions));
}

Conditions all_of(Conditions a, const Conditions& b) {
  for (const LinearSum& condition : b) {
    if (std::ranges::find(a, condition) == a.end()) a.push_back(condition);
  }
  return a;
}

// Returns conditions for elements that meet `a` or `b`. Empty unless `a` and `b` are single
// conditions, and one implies the other.
std::optional<Conditions> either(const Conditions& a, const Conditions& b) {
  if (a.size() != 1 || b.size() != 1) return std::nullopt;
  for (const auto& [narrow, wide] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const std::optional<LinearSum> more = combined(wide->front(), narrow->front(), -1);
    if (more && is_never_negative(*more)) return *wide;
  }
  return std::nullopt;
}

bool is_constant(const IndexValue& value, double number) {
  return value.kind == Kind::kConstant && value.number == number;
}

}  // namespace

std::optional<double> IndexValues::number_of(const Argument& argument) {
  if (const double* number = argument.get<double>()) return *number;
  if (const int64_t* number = argument.get<int64_t>()) return static_cast<double>(*number);
  const Result value = of(argument.node());
  if (!value || value->kind != Kind::kConstant) return std::nullopt;
  return value->number;
}

// Returns the value of the first argument before the call, which may change the argument.
IndexValues::Result IndexValues::value_before_write(const Node& node, const Node& self) {
  if (!is_in_place(node.target())) return of(&self);
  // The argument must own its memory, and no other call may write to the argument.
  const bool owns_memory = self.is_call() && self.users().size() == 1 && !is_view(self.target());
  return owns_memory ? call(self) : std::nullopt;
}

IndexValues::Result IndexValues::logical_not(const Node&, const Call& call) {
  const Result value = of(&call.node("self"));
  if (!value || value->kind != Kind::kBoolMask) return std::nullopt;
  return mask_value(Kind::kBoolMask, opposite(value->conditions));
}

IndexValues::Result IndexValues::logical_and(const Node&, const Call& call) {
  const Result a = of(call.value("self").node());
  const Result b = of(call.value("other").node());
  if (!a || !b || a->kind != Kind::kBoolMask || b->kind != Kind::kBoolMask) return std::nullopt;
  return mask_value(Kind::kBoolMask, all_of(a->conditions, b->conditions));
}

// Handles mask == 0, mask == 1 and their negations, for a mask of ones and zeros.
IndexValues::Result IndexValues::equal(const Node& node, const Call& call) {
  const Result value = of(&call.node("self"));
  const std::optional<double> number = number_of(call.value("other"));
  const bool is_mask = value && (value->kind == Kind::kOneMask || value->kind == Kind::kBoolMask);
  if (!is_mask || !number || (*number != 0 && *number != 1)) return std::nullopt;
  const bool wants_ones = (*number == 1) == (node.target().op() == "eq");
  return mask_value(Kind::kBoolMask,
                    wants_ones ? std::optional(value->conditions) : opposite(value->conditions));
}

IndexValues::Result IndexValues::where(const Node& node, const Call& call) {
  const Result condition = of(&call.node("condition"));
  if (!condition || condition->kind != Kind::kBoolMask || !is_float(*node.tensor())) {
    return std::nullopt;
  }
  return additive_mask(condition->conditions, number_of(call.value("self")),
                       number_of(call.value("other")));
}

IndexValues::Result IndexValues::masked_fill(const Node& node, const Call& call) {
  const Result condition = of(&call.node("mask"));
  const Result self = value_before_write(node, call.node("self"));
  const std::optional<double> number = number_of(call.value("value"));
  if (!condition || condition->kind != Kind::kBoolMask || !self || !number ||
      !is_float(*node.tensor())) {
    return std::nullopt;
  }
  const Conditions& filled = condition->conditions;
  if (self->kind == Kind::kConstant) return additive_mask(filled, *number, self->number);
  if (!is_masking(*number)) return std::nullopt;
  if (self->kind == Kind::kOneMask && self->conditions == filled) {
    // The call fills exactly the elements of `self` that are 1. All other elements are 0.
    return mask_value(Kind::kAdditiveMask, opposite(filled));
  }
  const std::optional<Conditions> unfilled = opposite(filled);
  if (self->kind != Kind::kAdditiveMask || !unfilled) return std::nullopt;
  return mask_value(Kind::kAdditiveMask, all_of(self->conditions, *unfilled));
}

// Handles 1 - mask, for a mask of ones and zeros.
IndexValues::Result IndexValues::rsub(const Node&, const Call& call) {
  const Result value = of(&call.node("self"));
  const bool is_one = number_of(call.value("other")) == 1.0 && call.real("alpha", 1) == 1;
  if (!value || value->kind != Kind::kOneMask || !is_one) return std::nullopt;
  return mask_value(Kind::kOneMask, opposite(value->conditions));
}

// Multiplies a mask of ones and zeros by an additive mask or by a masking number.
IndexValues::Result IndexValues::multiply(const Node& node, const Call& call) {
  if (!is_float(*node.tensor())) return std::nullopt;
  const auto factor = [](const Argument& argument, const Result& value) -> Result {
    if (const double* number = argument.get<double>()) return constant_value(*number);
    if (const int64_t* number = argument.get<int64_t>()) {
      return constant_value(static_cast<double>(*number));
    }
    return value;
  };
  const Argument other = call.value("other");
  Result a = value_before_write(node, call.node("self"));
  Result b = factor(other, of(other.node()));
  if (!a || !b) return std::nullopt;
  if (a->kind == Kind::kBoolMask || a->kind == Kind::kOneMask) std::swap(a, b);
  if (b->kind != Kind::kBoolMask && b->kind != Kind::kOneMask) return std::nullopt;
  // Excludes infinite numbers, because inf * 0 is NaN.
  const bool is_finite = a->kind == Kind::kConstant && std::isfinite(a->number);
  if (is_finite && is_masking(a->number))
    return mask_value(Kind::kAdditiveMask, opposite(b->conditions));
  if (a->kind != Kind::kAdditiveMask || !a->is_finite) return std::nullopt;
  const std::optional<Conditions> zeros = opposite(b->conditions);
  return zeros ? mask_value(Kind::kAdditiveMask, either(a->conditions, *zeros)) : std::nullopt;
}

// triu and tril set the elements below or above a diagonal to 0.
IndexValues::Result IndexValues::triangle(const Node& node, const Call& call) {
  const Result self = value_before_write(node, call.node("self"));
  const std::optional<LinearSum> diagonal = integer(call.value("diagonal"));
  if (!self || !diagonal || diagonal->has_axes() || node.tensor()->rank() < 2) return std::nullopt;
  const int64_t sign = node.target().op().starts_with("triu") ? 1 : -1;
  // triu keeps an element if column - row - diagonal >= 0, and tril if this sum is <= 0.
  std::optional<LinearSum> kept = combined(LinearSum::axis(0), LinearSum::axis(1), -1);
  if (kept) kept = combined(*kept, *diagonal, -1);
  if (kept) kept = combined(LinearSum(), *kept, sign);
  if (!kept) return std::nullopt;
  const Conditions inside = {*kept};
  if (is_constant(*self, 1)) return mask_value(Kind::kOneMask, inside);
  if (self->kind == Kind::kConstant && is_masking(self->number)) {
    IndexValue mask = conditions_value(Kind::kAdditiveMask, *opposite(inside));
    mask.is_finite = std::isfinite(self->number);
    return mask;
  }
  if (self->kind == Kind::kBoolMask || self->kind == Kind::kOneMask) {
    return mask_value(self->kind, all_of(self->conditions, inside));
  }
  if (self->kind != Kind::kAdditiveMask) return std::nullopt;
  return mask_value(Kind::kAdditiveMask, either(self->conditions, *opposite(inside)));
}

// Handles the sum of two additive masks, or of an additive mask and zeros.
IndexValues::Result IndexValues::add_masks(const Node& node, const Call& call) {
  const Result a = value_before_write(node, call.node("self"));
  const Result b = of(call.value("other").node());
  if (!a || !b || !is_float(*node.tensor()) || call.real("alpha", 1) != 1) return std::nullopt;
  const auto conditions = [](const IndexValue& value) {
    return is_constant(value, 0)               ? std::optional(Conditions())
           : value.kind == Kind::kAdditiveMask ? std::optional(value.conditions)
                                               : std::nullopt;
  };
  const std::optional<Conditions> of_a = conditions(*a);
  const std::optional<Conditions> of_b = conditions(*b);
  return of_a && of_b ? mask_value(Kind::kAdditiveMask, all_of(*of_a, *of_b)) : std::nullopt;
}

// Handles a mask that shows all keys of earlier runs, concatenated with a mask for the keys of the
// current run.
IndexValues::Result IndexValues::concatenate(const Node& node, const Call& call) {
  const std::vector<Node*> parts = call.nodes("tensors");
  const size_t rank = node.tensor()->rank();
  const bool is_last_dim =
      node.target().op() == "hstack" || wrapped(call.integer("dim", 0), rank) == rank - 1;
  if (parts.size() != 2 || rank < 2 || !is_last_dim) return std::nullopt;
  const Result first = of(parts[0]);
  const Result second = of(parts[1]);
  const std::optional<LinearSum> count = size_sum(parts[0]->tensor()->sizes.back());
  const bool shows_all = first && (is_constant(*first, 0) || first->kind == Kind::kBoolMask) &&
                         first->conditions.empty();
  if (!shows_all || !second || !count) return std::nullopt;
  const bool same_kind =
      second->kind == (first->kind == Kind::kBoolMask ? Kind::kBoolMask : Kind::kAdditiveMask);
  const Result moved = value_with_axes(*second, [&](size_t axis) -> std::optional<LinearSum> {
    return axis == 0 ? combined(LinearSum::axis(0), *count, -1)
                     : std::optional(LinearSum::axis(axis));
  });
  // The first `count` columns belong to keys of earlier runs: count - 1 - column >= 0.
  LinearSum one;
  one.constant = 1;
  std::optional<LinearSum> earlier = combined(*count, one, -1);
  if (earlier) earlier = combined(*earlier, LinearSum::axis(0), -1);
  if (!same_kind || !moved || !earlier) return std::nullopt;
  return mask_value(second->kind, either(moved->conditions, {*earlier}));
}

}  // namespace vitrine::aot
