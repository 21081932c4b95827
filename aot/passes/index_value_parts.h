// Helpers of index_value_rules.cc that build and combine index values (index_values.h).
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "aot/passes/index_values.h"

namespace vitrine::aot {

using Conditions = std::vector<LinearSum>;

inline IndexValue integer_value(LinearSum sum) {
  return {IndexValue::Kind::kInteger, std::move(sum), {}, 0, false};
}
inline IndexValue constant_value(double number) {
  return {IndexValue::Kind::kConstant, {}, {}, number, false};
}
inline IndexValue conditions_value(IndexValue::Kind kind, Conditions conditions) {
  return {kind, {}, std::move(conditions), 0, false};
}
inline IndexValue bool_mask_value(Conditions conditions) {
  return conditions_value(IndexValue::Kind::kBoolMask, std::move(conditions));
}

// Negates a single condition. Empty if the number of conditions is not 1 or a number is too large.
inline std::optional<Conditions> opposite(const Conditions& conditions) {
  if (conditions.size() != 1) return std::nullopt;
  LinearSum minus_one;
  minus_one.constant = -1;
  std::optional<LinearSum> sum = combined(minus_one, conditions.front(), -1);
  if (!sum) return std::nullopt;
  return Conditions{std::move(*sum)};
}

// True if adding the number to a key's score gives the key the softmax weight 0, unless all other
// keys are masked, too.
inline bool is_masking(double number) {
  return number <= static_cast<double>(std::numeric_limits<float>::lowest()) * 0.99;
}

// Replaces each axis with map_axis(axis). Empty if map_axis fails or a sum becomes too large.
template <class MapAxis>
std::optional<IndexValue> value_with_axes(IndexValue value, const MapAxis& map_axis) {
  const auto apply = [&](LinearSum& sum) {
    std::optional<LinearSum> mapped = with_axes(sum, map_axis);
    if (mapped) sum = std::move(*mapped);
    return mapped.has_value();
  };
  if (!apply(value.integer)) return std::nullopt;
  for (LinearSum& condition : value.conditions) {
    if (!apply(condition)) return std::nullopt;
  }
  return value;
}

inline bool is_single(const SymInt& size) { return size == SymInt(1); }

// Returns the axis of a dim. The last dim is axis 0.
inline size_t from_last(size_t dim, size_t rank) { return rank - 1 - dim; }

inline bool is_float(const TensorSpec& spec) {
  return spec.dtype == ScalarType::kFloat || spec.dtype == ScalarType::kHalf ||
         spec.dtype == ScalarType::kBFloat16;
}

inline bool is_integer(ScalarType dtype) {
  return dtype == ScalarType::kLong || dtype == ScalarType::kInt;
}

}  // namespace vitrine::aot
