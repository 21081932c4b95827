// What index values are made of, for the rules of operators.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "aot/passes/index_values.h"

namespace vitrine::aot {

using Conditions = std::vector<LinearSum>;

inline IndexValue whole_value(LinearSum sum) {
  return {IndexValue::Kind::kWhole, std::move(sum), {}, 0, false};
}
inline IndexValue number_value(double number) {
  return {IndexValue::Kind::kNumber, {}, {}, number, false};
}
inline IndexValue conditions_value(IndexValue::Kind kind, Conditions conditions) {
  return {kind, {}, std::move(conditions), 0, false};
}
inline IndexValue seen_value(Conditions conditions) {
  return conditions_value(IndexValue::Kind::kSeen, std::move(conditions));
}

inline std::optional<Conditions> opposite(const Conditions& conditions) {
  if (conditions.size() != 1) return std::nullopt;
  LinearSum minus_one;
  minus_one.constant = -1;
  std::optional<LinearSum> sum = combined(minus_one, conditions.front(), -1);
  if (!sum) return std::nullopt;
  return Conditions{std::move(*sum)};
}

// What hides a key wherever another one is seen: added to any score, it gives a weight of 0.
inline bool hides(double number) {
  return number <= static_cast<double>(std::numeric_limits<float>::lowest()) * 0.99;
}

template <class MapAxis>
std::optional<IndexValue> value_with_axes(IndexValue value, const MapAxis& map_axis) {
  const auto apply = [&](LinearSum& sum) {
    std::optional<LinearSum> mapped = with_axes(sum, map_axis);
    if (mapped) sum = std::move(*mapped);
    return mapped.has_value();
  };
  if (!apply(value.whole)) return std::nullopt;
  for (LinearSum& each : value.conditions) {
    if (!apply(each)) return std::nullopt;
  }
  return value;
}

inline bool is_single(const SymInt& size) { return size == SymInt(1); }

inline size_t from_last(size_t dim, size_t rank) { return rank - 1 - dim; }

inline bool is_float(const TensorSpec& spec) {
  return spec.dtype == ScalarType::kFloat || spec.dtype == ScalarType::kHalf ||
         spec.dtype == ScalarType::kBFloat16;
}

inline bool is_integer(ScalarType dtype) {
  return dtype == ScalarType::kLong || dtype == ScalarType::kInt;
}

}  // namespace vitrine::aot
