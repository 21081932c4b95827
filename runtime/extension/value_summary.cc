#include "runtime/extension/value_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vitrine/half.h"

namespace vitrine {
namespace {

// Adds the finite elements up. `get(i)` returns element i as a real number.
template <class Get>
void measure(size_t count, const Get& get, ValueSummary& summary) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  uint64_t nan = 0;
  uint64_t infinite = 0;
  uint64_t zeros = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = get(i);
    if (!std::isfinite(x)) {
      ++(std::isnan(x) ? nan : infinite);
      continue;
    }
    zeros += x == 0 ? 1 : 0;
    sum += x;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  summary.count = count;
  summary.nan = nan;
  summary.infinite = infinite;
  summary.zeros = zeros;
  const uint64_t finite = summary.finite();
  if (finite == 0) return;
  summary.min = low;
  summary.max = high;
  const double mean = sum / static_cast<double>(finite);
  // Halves the bounds first, because the difference of two large numbers may overflow.
  const double half_width = high / 2 - low / 2;
  const double bins_per_unit = half_width > 0 ? ValueSummary::kBins / 2.0 / half_width : 0;
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = get(i);
    if (!std::isfinite(x)) continue;
    squares += (x - mean) * (x - mean);
    const double bin = std::min((x - low) * bins_per_unit, ValueSummary::kBins - 1.0);
    ++summary.histogram[bin > 0 ? static_cast<size_t>(bin) : 0];
  }
  summary.mean = mean;
  summary.deviation = std::sqrt(squares / static_cast<double>(finite));
}

// Calls visit(element, scale, zero point) for each element.
template <class T, class Visit>
void visit_quantized(const Tensor& tensor, const TracedQuantization& quantization, Visit visit) {
  const T* const elements = tensor.unchecked_data<T>();
  const auto count = static_cast<size_t>(tensor.numel());
  const size_t width = std::max<size_t>(count / std::max<size_t>(quantization.rows, 1), 1);
  for (size_t begin = 0; begin < count; begin += width) {
    const size_t row = std::min(begin / width, quantization.rows - 1);
    const float scale = quantization.scale(row);
    const int32_t zero_point = quantization.zero_point(row);
    for (size_t i = begin; i < std::min(begin + width, count); ++i) {
      visit(i, int32_t{elements[i]}, scale, zero_point);
    }
  }
}

template <class T>
void dequantize_to(const Tensor& tensor, const TracedQuantization& quantization, float* floats) {
  visit_quantized<T>(tensor, quantization,
                     [floats](size_t i, int32_t element, float scale, int32_t zero_point) {
                       floats[i] = scale * static_cast<float>(element - zero_point);
                     });
}

template <class T>
ValueSummary summarize_quantized(const Tensor& tensor, const TracedQuantization& quantization) {
  ValueSummary summary;
  const auto count = static_cast<size_t>(tensor.numel());
  const size_t width = std::max<size_t>(count / std::max<size_t>(quantization.rows, 1), 1);
  const T* const elements = tensor.unchecked_data<T>();
  const auto get = [&](size_t i) {
    const size_t row = std::min(i / width, quantization.rows - 1);
    return double{quantization.scale(row)} * (int32_t{elements[i]} - quantization.zero_point(row));
  };
  measure(count, get, summary);
  visit_quantized<T>(
      tensor, quantization, [&summary](size_t, int32_t element, float, int32_t zero_point) {
        const bool at_end =
            element == std::numeric_limits<T>::min() || element == std::numeric_limits<T>::max();
        summary.saturated += at_end && element != zero_point ? 1 : 0;
      });
  return summary;
}

template <class T>
ValueSummary summarize_as(const Tensor& tensor) {
  ValueSummary summary;
  const T* const elements = tensor.unchecked_data<T>();
  measure(
      static_cast<size_t>(tensor.numel()),
      [elements](size_t i) { return static_cast<double>(elements[i]); }, summary);
  return summary;
}

struct Summarizer {
  ScalarType dtype;
  ValueSummary (*summarize)(const Tensor&);
};
constexpr Summarizer kSummarizers[] = {
    {ScalarType::kFloat, &summarize_as<float>},
    {ScalarType::kHalf, &summarize_as<Half>},
    {ScalarType::kBFloat16, &summarize_as<BFloat16>},
    {ScalarType::kDouble, &summarize_as<double>},
    {ScalarType::kByte, &summarize_as<uint8_t>},
    {ScalarType::kChar, &summarize_as<int8_t>},
    {ScalarType::kShort, &summarize_as<int16_t>},
    {ScalarType::kInt, &summarize_as<int32_t>},
    {ScalarType::kLong, &summarize_as<int64_t>},
    {ScalarType::kBool, &summarize_as<uint8_t>},
    {ScalarType::kUInt16, &summarize_as<uint16_t>},
    {ScalarType::kUInt32, &summarize_as<uint32_t>},
    {ScalarType::kUInt64, &summarize_as<uint64_t>},
};

const Summarizer* find_summarizer(ScalarType dtype) {
  const auto* found = std::find_if(std::begin(kSummarizers), std::end(kSummarizers),
                                   [dtype](const Summarizer& row) { return row.dtype == dtype; });
  return found == std::end(kSummarizers) ? nullptr : found;
}

}  // namespace

bool can_summarize(ScalarType dtype) { return find_summarizer(dtype) != nullptr; }

ValueSummary summarize(const Tensor& tensor, const TracedQuantization* quantization) {
  if (quantization != nullptr && quantization->rows != 0) {
    return tensor.dtype() == ScalarType::kByte ? summarize_quantized<uint8_t>(tensor, *quantization)
                                               : summarize_quantized<int8_t>(tensor, *quantization);
  }
  return find_summarizer(tensor.dtype())->summarize(tensor);
}

void dequantize(const Tensor& tensor, const TracedQuantization& quantization, float* floats) {
  if (tensor.dtype() == ScalarType::kByte) {
    dequantize_to<uint8_t>(tensor, quantization, floats);
  } else {
    dequantize_to<int8_t>(tensor, quantization, floats);
  }
}

}  // namespace vitrine
