// Measures the difference between two tensors, and checks it against a tolerance.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "vitrine/scalar_type.h"

namespace vitrine::inspector {

// An element is in tolerance if |actual - expected| <= atol + rtol * |expected|. NaN matches NaN,
// and an infinity matches itself.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Returns the tolerance for kernels of different libraries: 1e-4 for f32, more for shorter floats,
// zero for integers and bools.
Tolerance default_tolerance(ScalarType dtype);

// Figures that describe the difference between two tensors. A complex number counts as two
// elements. Equal elements differ by 0. A finite element differs from an infinite or NaN element by
// infinity.
struct TensorDifference {
  struct Mismatch {
    size_t element = 0;  // row-major
    double actual = 0;
    double expected = 0;
  };

  size_t elements = 0;
  double max_abs = 0;
  double mean_abs = 0;
  double max_rel = 0;  // maximum over elements whose expected value is not 0
  // Row-major indices of the first elements with the maximum differences. 0 for equal tensors.
  size_t max_abs_at = 0;
  size_t max_rel_at = 0;
  // Signal-to-quantization-noise ratio, 10 log10(sum expected^2 / sum (actual - expected)^2).
  // Infinite for equal tensors. Elements that are not finite do not count as signal.
  double sqnr_db = std::numeric_limits<double>::infinity();
  double cosine = 1;      // cosine of the angle between the tensors as vectors; 1 if both are zero
  size_t mismatches = 0;  // number of elements out of tolerance
  std::optional<Mismatch> first = {};

  // Totals of all elements, from which mean_abs, sqnr_db and cosine are computed.
  double dot = 0;
  double actual_square = 0;
  double expected_square = 0;
  double noise = 0;    // sum of squared differences
  double sum_abs = 0;  // sum of absolute differences
};

// Returns the reason why elements of these dtypes cannot be compared, or an empty string. For
// example, floats are not compared with integers, which may be quantized.
std::string_view why_not_comparable(ScalarType a, ScalarType b);

// The elements of a tensor. Compared tensors must have the same order of elements.
struct Elements {
  ScalarType dtype = ScalarType::kByte;
  std::span<const std::byte> bytes;
};

// Merges `other` into `all`. The figures then cover the elements of both comparisons. Indices of
// elements still refer to the original tensors.
void add_difference(TensorDifference& all, const TensorDifference& other);

// Measures the difference between two tensors with the same number of elements. Dtypes may differ,
// but both or neither must be complex. Throws InspectorError for a dtype whose elements are not
// numbers.
TensorDifference measure_difference(const Elements& actual, const Elements& expected,
                                    const Tolerance& tolerance = {});

// Throws InspectorError for complex dtypes and for dtypes whose elements are not numbers.
double element_as_double(std::span<const std::byte> bytes, ScalarType dtype, size_t index);

}  // namespace vitrine::inspector
