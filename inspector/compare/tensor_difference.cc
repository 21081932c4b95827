#include "inspector/compare/tensor_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "inspector/join/profile.h"
#include "vitrine/half.h"

namespace vitrine::inspector {
namespace {

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

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void set_ratios(TensorDifference& figures) {
  if (figures.elements != 0) {
    figures.mean_abs = figures.sum_abs / static_cast<double>(figures.elements);
  }
  if (figures.noise > 0) {
    figures.sqnr_db = 10 * std::log10(figures.expected_square / figures.noise);
  }
  if (figures.actual_square > 0 || figures.expected_square > 0) {
    const double norm = std::sqrt(figures.actual_square) * std::sqrt(figures.expected_square);
    figures.cosine = norm > 0 ? figures.dot / norm : 0;
  }
}

}  // namespace

double element_as_double(std::span<const std::byte> bytes, ScalarType dtype, size_t index) {
  const std::byte* at = bytes.data() + index * element_size(dtype);
  switch (dtype) {
    case ScalarType::kByte:
    case ScalarType::kBool:
      return load<uint8_t>(at);
    case ScalarType::kChar:
      return load<int8_t>(at);
    case ScalarType::kShort:
      return load<int16_t>(at);
    case ScalarType::kInt:
      return load<int32_t>(at);
    case ScalarType::kLong:
      return static_cast<double>(load<int64_t>(at));
    case ScalarType::kHalf:
      return load<Half>(at);
    case ScalarType::kFloat:
      return static_cast<double>(load<float>(at));
    case ScalarType::kDouble:
      return load<double>(at);
    case ScalarType::kBFloat16:
      return load<BFloat16>(at);
    case ScalarType::kUInt16:
      return load<uint16_t>(at);
    case ScalarType::kUInt32:
      return load<uint32_t>(at);
    case ScalarType::kUInt64:
      return static_cast<double>(load<uint64_t>(at));
    default:
      throw InspectorError(fmt::format("elements of type {} cannot be printed or compared",
                                       scalar_type_name(dtype)));
  }
}

Tolerance default_tolerance(ScalarType dtype) {
  for (const DefaultTolerance& entry : kDefaults) {
    if (entry.dtype == real_type(dtype)) return entry.tolerance;
  }
  return {};
}

std::string_view why_not_comparable(ScalarType a, ScalarType b) {
  if (is_complex(a) != is_complex(b)) return "only one of the two tensors is complex";
  if (is_floating(a) != is_floating(b)) {
    return "one tensor has floats, the other has integers, which may be quantized";
  }
  return "";
}

TensorDifference measure_difference(const Elements& actual, const Elements& expected,
                                    const Tolerance& tolerance) {
  const ScalarType actual_real = real_type(actual.dtype);
  const ScalarType expected_real = real_type(expected.dtype);
  const bool is_float = is_floating(actual_real) || is_floating(expected_real);
  const size_t width = element_size(expected_real);
  TensorDifference result;
  result.elements = expected.bytes.size() / width;
  for (size_t i = 0; i < result.elements; ++i) {
    const double a = element_as_double(actual.bytes, actual_real, i);
    const double e = element_as_double(expected.bytes, expected_real, i);
    if (std::isfinite(a) && std::isfinite(e)) {
      result.dot += a * e;
      result.actual_square += a * a;
      result.expected_square += e * e;
    }
    // Compares bytes too, because different 64-bit integers may be equal as doubles. +0 equals -0.
    const bool same_bytes =
        actual_real == expected_real &&
        std::memcmp(actual.bytes.data() + i * width, expected.bytes.data() + i * width, width) == 0;
    const bool by_value = is_float || actual_real != expected_real;
    if (same_bytes || (by_value && (a == e || (std::isnan(a) && std::isnan(e))))) continue;
    double difference = std::fabs(a - e);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    result.sum_abs += difference;
    result.noise += difference * difference;
    if (difference > result.max_abs) {
      result.max_abs = difference;
      result.max_abs_at = i;
    }
    if (e != 0) {
      // The division could yield NaN for an infinite difference, because the expected value may be
      // infinite.
      const double relative = std::isfinite(difference) ? difference / std::fabs(e) : difference;
      if (relative > result.max_rel) {
        result.max_rel = relative;
        result.max_rel_at = i;
      }
    }
    const double allowed = tolerance.atol + tolerance.rtol * std::fabs(e);
    const bool within = is_float || difference > 0 ? difference <= allowed : false;
    if (within && std::isfinite(difference)) continue;
    ++result.mismatches;
    if (!result.first) result.first = {i, a, e};
  }
  set_ratios(result);
  return result;
}

void add_difference(TensorDifference& all, const TensorDifference& other) {
  all.elements += other.elements;
  all.mismatches += other.mismatches;
  if (!all.first) all.first = other.first;
  if (other.max_abs > all.max_abs) {
    all.max_abs = other.max_abs;
    all.max_abs_at = other.max_abs_at;
  }
  if (other.max_rel > all.max_rel) {
    all.max_rel = other.max_rel;
    all.max_rel_at = other.max_rel_at;
  }
  all.dot += other.dot;
  all.actual_square += other.actual_square;
  all.expected_square += other.expected_square;
  all.noise += other.noise;
  all.sum_abs += other.sum_abs;
  set_ratios(all);
}

}  // namespace vitrine::inspector
