// Sums: integers wrap around, floats are summed in double, Bool is or'ed.
#pragma once

#include <type_traits>

#include "kernels/util/reduction.h"

namespace vitrine {

// The type of sum_type().
using SumTypes = TypeList<int64_t, float, double, bool>;

// The type that elements are converted to for an output of dtype `out`: wrapping at the end is the
// same as wrapping at each step, so one type serves all integers.
constexpr ScalarType sum_type(ScalarType out) {
  return is_integral(out) ? ScalarType::kLong : compute_type(out);
}

template <class T>
struct Sum {
  static constexpr size_t kLanes = 4;  // independent, for the processor's sake
  using In = T;
  using Results = TypeList<T>;
  using Total = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_same_v<T, bool>, bool, uint64_t>>;
  Total lanes[kLanes] = {};

  static Total plus(Total total, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return total || value;
    } else {
      return total + static_cast<Total>(value);
    }
  }
  void add(std::span<const T> values) {
    size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = plus(lanes[lane], values[i + lane]);
      }
    }
    for (; i < values.size(); ++i) lanes[0] = plus(lanes[0], values[i]);
  }
  Total total() const {
    if constexpr (std::is_same_v<T, bool>) {
      return lanes[0] || lanes[1] || lanes[2] || lanes[3];
    } else {
      return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }
  void result(T& sum) const { sum = static_cast<T>(total()); }
};

}  // namespace vitrine
