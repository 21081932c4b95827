// What calls make of masks: index values that say which keys are seen.
#include <algorithm>
#include <cmath>
#include <utility>

#include "aot/passes/index_value_parts.h"
#include "aot/passes/index_values.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

using Kind = IndexValue::Kind;

constexpr size_t kMostConditions = 8;  // masks have one or two

// 0 where the conditions hold, else what hides; or the other way around.
std::optional<IndexValue> added_mask(const Conditions& conditions, std::optional<double> where_true,
                                     std::optional<double> where_false) {
  if (!where_true || !where_false) return std::nullopt;
  if (*where_true == 0 && hides(*where_false)) return conditions_value(Kind::kAdded, conditions);
  if (!hides(*where_true) || *where_false != 0) return std::nullopt;
  std::optional<Conditions> seen = opposite(conditions);
  if (!seen) return std::nullopt;
  return conditions_value(Kind::kAdded, std::move(*seen));
}

std::optional<IndexValue> value_where(Kind kind, std::optional<Conditions> conditions) {
  if (!conditions || conditions->size() > kMostConditions) return std::nullopt;
  return conditions_value(kind, std::move(*conditions));
}

Conditions all_of(Conditions a, const Conditions& b) {
  for (const LinearSum& each : b) {
    if (std::ranges::find(a, each) == a.end()) a.push_back(each);
  }
  return a;
}

// Where one or the other holds: known if one follows from the other.
std::optional<Conditions> either(const Conditions& a, const Conditions& b) {
  if (a.size() != 1 || b.size() != 1) return std::nullopt;
  for (const auto& [narrow, wide] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const std::optional<LinearSum> more = combined(wide->front(), narrow->front(), -1);
    if (more && is_never_negative(*more)) return *wide;
  }
  return std::nullopt;
}

bool is_everywhere(const IndexValue& value, double number) {
  return value.kind == Kind::kNumber && value.number == number;
}

}  // namespace

std::optional<double> IndexValues::number_of(const Argument& argument) {
  if (const double* number = argument.get<double>()) return *number;
  if (const int64_t* number = argument.get<int64_t>()) return static_cast<double>(*number);
  const Result value = of(argument.node());
  if (!value || value->kind != Kind::kNumber) return std::nullopt;
  return value->number;
}

// What a call that may write to its first argument finds there.
IndexValues::Result IndexValues::before(const Node& node, const Node& self) {
  if (!is_in_place(node.target())) return of(&self);
  // Nothing else has written to it, nor does it share memory with anything.
  const bool is_own = self.is_call() && self.users().size() == 1 && !is_view(self.target());
  return is_own ? call(self) : std::nullopt;
}

IndexValues::Result IndexValues::negate(const Node&, const Call& call) {
  const Result value = of(&call.node("self"));
  if (!value || value->kind != Kind::kSeen) return std::nullopt;
  return value_where(Kind::kSeen, opposite(value->conditions));
}

IndexValues::Result IndexValues::both(const Node&, const Call& call) {
  const Result a = of(call.value("self").node());
  const Result b = of(call.value("other").node());
  if (!a || !b || a->kind != Kind::kSeen || b->kind != Kind::kSeen) return std::nullopt;
  return value_where(Kind::kSeen, all_of(a->conditions, b->conditions));
}

// mask == 0, of a mask of ones and zeros
IndexValues::Result IndexValues::equal(const Node& node, const Call& call) {
  const Result value = of(&call.node("self"));
  const std::optional<double> number = number_of(call.value("other"));
  const bool is_mask = value && (value->kind == Kind::kOneWhere || value->kind == Kind::kSeen);
  if (!is_mask || !number || (*number != 0 && *number != 1)) return std::nullopt;
  const bool wants_ones = (*number == 1) == (node.target().op() == "eq");
  return value_where(Kind::kSeen,
                     wants_ones ? std::optional(value->conditions) : opposite(value->conditions));
}

IndexValues::Result IndexValues::choose(const Node& node, const Call& call) {
  const Result condition = of(&call.node("condition"));
  if (!condition || condition->kind != Kind::kSeen || !is_float(*node.tensor())) {
    return std::nullopt;
  }
  return added_mask(condition->conditions, number_of(call.value("self")),
                    number_of(call.value("other")));
}

IndexValues::Result IndexValues::fill(const Node& node, const Call& call) {
  const Result condition = of(&call.node("mask"));
  const Result self = before(node, call.node("self"));
  const std::optional<double> number = number_of(call.value("value"));
  if (!condition || condition->kind != Kind::kSeen || !self || !number ||
      !is_float(*node.tensor())) {
    return std::nullopt;
  }
  const Conditions& filled = condition->conditions;
  if (self->kind == Kind::kNumber) return added_mask(filled, *number, self->number);
  if (!hides(*number)) return std::nullopt;
  // Ones are what is filled; the rest is zeros.
  if (self->kind == Kind::kOneWhere && self->conditions == filled) {
    return value_where(Kind::kAdded, opposite(filled));
  }
  const std::optional<Conditions> unfilled = opposite(filled);
  if (self->kind != Kind::kAdded || !unfilled) return std::nullopt;
  return value_where(Kind::kAdded, all_of(self->conditions, *unfilled));
}

// 1 - mask
IndexValues::Result IndexValues::subtract_from(const Node&, const Call& call) {
  const Result value = of(&call.node("self"));
  const bool is_one = number_of(call.value("other")) == 1.0 && call.real("alpha", 1) == 1;
  if (!value || value->kind != Kind::kOneWhere || !is_one) return std::nullopt;
  return value_where(Kind::kOneWhere, opposite(value->conditions));
}

// The lowest number where a mask of ones, or of what hides already, is not 0.
IndexValues::Result IndexValues::multiply(const Node& node, const Call& call) {
  if (!is_float(*node.tensor())) return std::nullopt;
  const auto factor = [](const Argument& argument, const Result& value) -> Result {
    if (const double* number = argument.get<double>()) return number_value(*number);
    if (const int64_t* number = argument.get<int64_t>()) {
      return number_value(static_cast<double>(*number));
    }
    return value;
  };
  const Argument other = call.value("other");
  Result a = before(node, call.node("self"));
  Result b = factor(other, of(other.node()));
  if (!a || !b) return std::nullopt;
  if (a->kind == Kind::kSeen || a->kind == Kind::kOneWhere) std::swap(a, b);
  if (b->kind != Kind::kSeen && b->kind != Kind::kOneWhere) return std::nullopt;
  // inf * 0 is not a number.
  const bool is_finite = a->kind == Kind::kNumber && std::isfinite(a->number);
  if (is_finite && hides(a->number)) return value_where(Kind::kAdded, opposite(b->conditions));
  if (a->kind != Kind::kAdded || !a->is_finite) return std::nullopt;
  const std::optional<Conditions> zeros = opposite(b->conditions);
  return zeros ? value_where(Kind::kAdded, either(a->conditions, *zeros)) : std::nullopt;
}

// What is above or below a diagonal; the rest becomes 0.
IndexValues::Result IndexValues::triangle(const Node& node, const Call& call) {
  const Result self = before(node, call.node("self"));
  const std::optional<LinearSum> diagonal = whole(call.value("diagonal"));
  if (!self || !diagonal || diagonal->has_axes() || node.tensor()->rank() < 2) return std::nullopt;
  const int64_t sign = node.target().op().starts_with("triu") ? 1 : -1;
  // column - row - diagonal >= 0, or the opposite sign
  std::optional<LinearSum> kept = combined(LinearSum::axis(0), LinearSum::axis(1), -1);
  if (kept) kept = combined(*kept, *diagonal, -1);
  if (kept) kept = combined(LinearSum(), *kept, sign);
  if (!kept) return std::nullopt;
  const Conditions inside = {*kept};
  if (is_everywhere(*self, 1)) return value_where(Kind::kOneWhere, inside);
  if (self->kind == Kind::kNumber && hides(self->number)) {
    IndexValue hidden = conditions_value(Kind::kAdded, *opposite(inside));
    hidden.is_finite = std::isfinite(self->number);
    return hidden;
  }
  if (self->kind == Kind::kSeen || self->kind == Kind::kOneWhere) {
    return value_where(self->kind, all_of(self->conditions, inside));
  }
  if (self->kind != Kind::kAdded) return std::nullopt;
  return value_where(Kind::kAdded, either(self->conditions, *opposite(inside)));
}

// Two masks that are added, or zeros to a mask.
IndexValues::Result IndexValues::add_masks(const Node& node, const Call& call) {
  const Result a = before(node, call.node("self"));
  const Result b = of(call.value("other").node());
  if (!a || !b || !is_float(*node.tensor()) || call.real("alpha", 1) != 1) return std::nullopt;
  const auto conditions = [](const IndexValue& value) {
    return is_everywhere(value, 0)      ? std::optional(Conditions())
           : value.kind == Kind::kAdded ? std::optional(value.conditions)
                                        : std::nullopt;
  };
  const std::optional<Conditions> of_a = conditions(*a);
  const std::optional<Conditions> of_b = conditions(*b);
  return of_a && of_b ? value_where(Kind::kAdded, all_of(*of_a, *of_b)) : std::nullopt;
}

// Keys from before this call, all seen, and a mask for those of this call.
IndexValues::Result IndexValues::join(const Node& node, const Call& call) {
  const std::vector<Node*> parts = call.nodes("tensors");
  const size_t rank = node.tensor()->rank();
  const bool is_along_rows =
      node.target().op() == "hstack" || wrapped(call.integer("dim", 0), rank) == rank - 1;
  if (parts.size() != 2 || rank < 2 || !is_along_rows) return std::nullopt;
  const Result first = of(parts[0]);
  const Result second = of(parts[1]);
  const std::optional<LinearSum> count = size_sum(parts[0]->tensor()->sizes.back());
  const bool shows_all = first && (is_everywhere(*first, 0) || first->kind == Kind::kSeen) &&
                         first->conditions.empty();
  if (!shows_all || !second || !count) return std::nullopt;
  const bool fits = second->kind == (first->kind == Kind::kSeen ? Kind::kSeen : Kind::kAdded);
  const Result moved = value_with_axes(*second, [&](size_t axis) -> std::optional<LinearSum> {
    return axis == 0 ? combined(LinearSum::axis(0), *count, -1)
                     : std::optional(LinearSum::axis(axis));
  });
  // count - 1 - column >= 0
  LinearSum one;
  one.constant = 1;
  std::optional<LinearSum> earlier = combined(*count, one, -1);
  if (earlier) earlier = combined(*earlier, LinearSum::axis(0), -1);
  if (!fits || !moved || !earlier) return std::nullopt;
  return value_where(second->kind, either(moved->conditions, {*earlier}));
}

}  // namespace vitrine::aot
