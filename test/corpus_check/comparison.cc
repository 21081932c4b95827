#include "test/corpus_check/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "devtools/inspector/tensor_difference.h"

namespace vitrine::corpus {
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

}  // namespace

Comparison compare(std::span<const std::byte> actual, std::span<const std::byte> expected,
                   ScalarType dtype, const Tolerance& tolerance) {
  Comparison result;
  const ScalarType real = real_part(dtype);
  const bool exact = !is_floating(real);
  double dot = 0;
  double norm_actual = 0;
  double norm_expected = 0;
  const size_t count = expected.size() / element_size(real);
  for (size_t i = 0; i < count; ++i) {
    const double a = inspector::element_as_double(actual, real, i);
    const double e = inspector::element_as_double(expected, real, i);
    dot += a * e;
    norm_actual += a * a;
    norm_expected += e * e;
    const bool same = a == e || (std::isnan(a) && std::isnan(e));
    if (same) continue;
    double difference = std::fabs(a - e);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    result.max_abs = std::max(result.max_abs, difference);
    if (e != 0) result.max_rel = std::max(result.max_rel, difference / std::fabs(e));
    const double allowed = exact ? 0 : tolerance.atol + tolerance.rtol * std::fabs(e);
    const bool within = std::isfinite(difference) && difference <= allowed;
    if (!within && result.failure.empty()) {
      result.failure = fmt::format("element {} is {}, expected {}", i, a, e);
    }
  }
  if (norm_actual > 0 && norm_expected > 0) {
    result.cosine = dot / std::sqrt(norm_actual) / std::sqrt(norm_expected);
  }
  if (tolerance.min_cosine > -1 && !(result.cosine >= tolerance.min_cosine) &&
      result.failure.empty()) {
    result.failure = fmt::format("cosine {:.4f} is below {}", result.cosine, tolerance.min_cosine);
  }
  return result;
}

}  // namespace vitrine::corpus
