#include "tools/tensor_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/host_tensor.h"

namespace vitrine::tools {
namespace {

// Complex numbers compare as pairs of reals.
ScalarType real_part(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kComplexHalf:
      return ScalarType::kHalf;
    case ScalarType::kComplexFloat:
      return ScalarType::kFloat;
    case ScalarType::kComplexDouble:
      return ScalarType::kDouble;
    default:
      return dtype;
  }
}

struct DefaultTolerance {
  ScalarType dtype;
  Tolerance tolerance;
};
constexpr DefaultTolerance kDefaults[] = {
    {ScalarType::kFloat, {.rtol = 1e-4, .atol = 1e-4}},
    {ScalarType::kDouble, {.rtol = 1e-7, .atol = 1e-7}},
    {ScalarType::kHalf, {.rtol = 2e-3, .atol = 2e-3}},
    {ScalarType::kBFloat16, {.rtol = 1.6e-2, .atol = 1.6e-2}},
};

}  // namespace

Tolerance default_tolerance(ScalarType dtype) {
  for (const DefaultTolerance& entry : kDefaults) {
    if (entry.dtype == real_part(dtype)) return entry.tolerance;
  }
  return {};
}

TensorDifference measure_difference(std::span<const std::byte> actual,
                                    std::span<const std::byte> expected, ScalarType dtype,
                                    const Tolerance& tolerance) {
  const ScalarType real = real_part(dtype);
  const size_t width = element_size(real);
  TensorDifference result;
  result.elements = expected.size() / width;
  double dot = 0;
  double actual_square = 0;
  double expected_square = 0;
  double noise = 0;
  double sum_abs = 0;
  for (size_t i = 0; i < result.elements; ++i) {
    const double a = element_as_double(actual, real, i);
    const double e = element_as_double(expected, real, i);
    dot += a * e;
    actual_square += a * a;
    expected_square += e * e;
    // 64-bit integers differ where doubles do not; a zero equals the other zero.
    const bool same_bytes =
        std::memcmp(actual.data() + i * width, expected.data() + i * width, width) == 0;
    if (same_bytes || (is_floating(real) && (a == e || (std::isnan(a) && std::isnan(e))))) continue;
    double difference = std::fabs(a - e);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    sum_abs += difference;
    noise += difference * difference;
    result.max_abs = std::max(result.max_abs, difference);
    if (e != 0) {
      // Of infinity by infinity too: that is no small difference.
      const double relative = std::isfinite(difference) ? difference / std::fabs(e) : difference;
      result.max_rel = std::max(result.max_rel, relative);
    }
    const double allowed = tolerance.atol + tolerance.rtol * std::fabs(e);
    const bool within = is_floating(real) || difference > 0 ? difference <= allowed : false;
    if (within && std::isfinite(difference)) continue;
    ++result.mismatches;
    if (!result.first) result.first = {i, a, e};
  }
  if (result.elements != 0) result.mean_abs = sum_abs / static_cast<double>(result.elements);
  if (noise > 0) result.sqnr_db = 10 * std::log10(expected_square / noise);
  if (actual_square > 0 || expected_square > 0) {
    const double norm = std::sqrt(actual_square) * std::sqrt(expected_square);
    result.cosine = norm > 0 ? dot / norm : 0;
  }
  return result;
}

}  // namespace vitrine::tools
