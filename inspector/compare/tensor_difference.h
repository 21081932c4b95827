// How far one tensor's elements are from another's, and whether that is near enough.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include "vitrine/scalar_type.h"

namespace vitrine::inspector {

// An element is near enough if |actual - expected| <= atol + rtol * |expected|; NaN is near NaN,
// and an infinity near itself.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// The difference allowed between libraries' kernels: 1e-4 for f32, more for shorter floats, nothing
// for integers and bools.
Tolerance default_tolerance(ScalarType dtype);

// Over elements; complex numbers count as two reals. Equal elements differ by 0, those of which
// just one is finite by infinity.
struct TensorDifference {
  struct Mismatch {
    size_t element = 0;  // row-major
    double actual = 0;
    double expected = 0;
  };

  size_t elements = 0;
  double max_abs = 0;
  double mean_abs = 0;
  double max_rel = 0;  // of elements whose expected value is not 0
  // Signal to quantisation noise, 10 log10(sum expected^2 / sum (actual - expected)^2); infinite
  // for equal tensors. Elements that are not finite do not count as signal.
  double sqnr_db = std::numeric_limits<double>::infinity();
  double cosine = 1;      // of the angle between the two as vectors; 1 if both are zero
  size_t mismatches = 0;  // elements out of tolerance
  std::optional<Mismatch> first = {};
};

// Elements of one dtype, in an order that both sides share.
struct Elements {
  ScalarType dtype = ScalarType::kByte;
  std::span<const std::byte> bytes;
};

// Both hold as many elements. Dtypes may differ, but not one be complex alone. InspectorError for a
// dtype without numbers.
TensorDifference measure_difference(const Elements& actual, const Elements& expected,
                                    const Tolerance& tolerance = {});

// Element `index` as a double; complex numbers are not supported. InspectorError as above.
double element_as_double(std::span<const std::byte> bytes, ScalarType dtype, size_t index);

}  // namespace vitrine::inspector
