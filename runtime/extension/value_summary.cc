#include "runtime/extension/value_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "runtime/extension/element_figures.h"
#include "vitrine/half.h"

namespace vitrine {
namespace {

// Number of elements in a block, which fits into the first-level cache.
constexpr size_t kBlock = Distribution::kMaxElements;

template <class Real>
std::span<const Real> copy_finite(std::span<const Real> block, std::array<Real, kBlock>& to) {
  const auto end =
      std::copy_if(block.begin(), block.end(), to.begin(), [](Real x) { return std::isfinite(x); });
  return {to.begin(), end};
}

// Sets all members of `summary` except `saturated`. `load(begin, size)` returns the real numbers of
// the elements [begin, begin + size), as a span of floats or doubles. The span is valid until the
// next call.
template <class Load>
void measure(size_t count, const Load& load, ValueSummary& summary) {
  using Block = decltype(load(0, 0));
  std::array<typename Block::value_type, kBlock> buffer;
  summary.count = count;
  Bounds all;
  // Visits the last block first, because new elements at the end may still be in the caches.
  for (size_t end = count; end != 0;) {
    const size_t begin = (end - 1) / kBlock * kBlock;
    const Block elements = load(begin, end - begin);
    end = begin;
    Bounds bounds = bounds_of(elements);
    // The sum is not finite if an element is NaN or infinite, or if the sum overflows.
    if (!std::isfinite(bounds.sum)) {
      for (const auto x : elements) {
        summary.nan += std::isnan(x) ? 1 : 0;
        summary.infinite += std::isinf(x) ? 1 : 0;
      }
      bounds = bounds_of(copy_finite(elements, buffer));
    }
    all.add(bounds);
  }
  summary.zeros = all.zeros;
  const uint64_t finite = summary.finite();
  if (finite == 0) return;
  summary.min = all.low;
  summary.max = all.high;
  summary.mean = all.sum / static_cast<double>(finite);
  Distribution distribution(all, summary.mean);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const Block elements = load(begin, std::min(kBlock, count - begin));
    distribution.add(finite == count ? elements : copy_finite(elements, buffer));
  }
  summary.histogram = distribution.histogram();
  summary.deviation = std::sqrt(distribution.squares() / static_cast<double>(finite));
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

// Computes all figures from the 256 counts of the integers. All elements must have the same scale.
template <class T>
ValueSummary summarize_counts(const Tensor& tensor, float scale, int32_t zero_point) {
  // There are several tables, because a processor waits if it adds to the same count twice in a
  // row. Neighboring elements are often equal.
  constexpr size_t kParts = 8;
  constexpr size_t kIntegers = 256;
  std::array<std::array<uint64_t, kIntegers + kTableGap<uint64_t>>, kParts> parts = {};
  const std::span<const T> elements(tensor.unchecked_data<T>(),
                                    static_cast<size_t>(tensor.numel()));
  size_t next = 0;
  for (; next + kParts <= elements.size(); next += kParts) {
    for (size_t part = 0; part < kParts; ++part) {
      ++parts[part][static_cast<uint8_t>(elements[next + part])];
    }
  }
  for (; next < elements.size(); ++next) ++parts[0][static_cast<uint8_t>(elements[next])];

  ValueSummary summary;
  summary.count = elements.size();
  std::array<double, kIntegers> reals;
  std::array<uint64_t, kIntegers> counts;
  Bounds bounds;
  for (size_t i = 0; i < kIntegers; ++i) {
    const T integer = static_cast<T>(static_cast<uint8_t>(i));
    const double x = double{scale} * (int32_t{integer} - zero_point);
    uint64_t count = 0;
    for (const auto& part : parts) count += part[i];
    const bool at_end =
        integer == std::numeric_limits<T>::min() || integer == std::numeric_limits<T>::max();
    if (at_end && integer != zero_point) summary.saturated += count;
    if (std::isnan(x)) summary.nan += count;
    if (std::isinf(x)) summary.infinite += count;
    reals[i] = x;
    counts[i] = std::isfinite(x) ? count : 0;
    if (counts[i] == 0) continue;
    bounds.low = std::min(bounds.low, x);
    bounds.high = std::max(bounds.high, x);
    bounds.sum += x * static_cast<double>(count);
    if (x == 0) bounds.zeros += count;
  }
  summary.zeros = bounds.zeros;
  if (summary.finite() == 0) return summary;
  summary.min = bounds.low;
  summary.max = bounds.high;
  summary.mean = bounds.sum / static_cast<double>(summary.finite());
  const Bins bins(bounds.low, bounds.high);
  double squares = 0;
  for (size_t i = 0; i < kIntegers; ++i) {
    if (counts[i] == 0) continue;
    const double difference = reals[i] - summary.mean;
    squares += difference * difference * static_cast<double>(counts[i]);
    summary.histogram[bins.bin_of(reals[i])] += counts[i];
  }
  summary.deviation = std::sqrt(squares / static_cast<double>(summary.finite()));
  return summary;
}

template <class T>
ValueSummary summarize_quantized(const Tensor& tensor, const TracedQuantization& quantization) {
  if (quantization.rows == 1) {
    return summarize_counts<T>(tensor, quantization.scale(0), quantization.zero_point(0));
  }
  ValueSummary summary;
  const auto count = static_cast<size_t>(tensor.numel());
  const size_t width = std::max<size_t>(count / std::max<size_t>(quantization.rows, 1), 1);
  const T* const elements = tensor.unchecked_data<T>();
  std::array<double, kBlock> reals;
  const auto load = [&](size_t begin, size_t size) {
    for (size_t i = 0; i < size;) {
      const size_t row = std::min((begin + i) / width, quantization.rows - 1);
      const bool is_last = row == quantization.rows - 1;
      const size_t end = is_last ? size : std::min(size, (row + 1) * width - begin);
      const double scale{quantization.scale(row)};
      const int32_t zero_point = quantization.zero_point(row);
      for (; i < end; ++i) reals[i] = scale * (int32_t{elements[begin + i]} - zero_point);
    }
    return std::span<const double>(reals).first(size);
  };
  measure(count, load, summary);
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
  const size_t parts = is_complex(tensor.dtype()) ? 2 : 1;
  const std::span<const T> elements(tensor.unchecked_data<T>(),
                                    parts * static_cast<size_t>(tensor.numel()));
  if constexpr (std::is_same_v<T, float>) {
    const auto load = [=](size_t begin, size_t size) { return elements.subspan(begin, size); };
    measure(elements.size(), load, summary);
  } else {
    std::array<double, kBlock> reals;
    const auto load = [&](size_t begin, size_t size) {
      for (size_t i = 0; i < size; ++i) reals[i] = static_cast<double>(elements[begin + i]);
      return std::span<const double>(reals).first(size);
    };
    measure(elements.size(), load, summary);
  }
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
  const ScalarType real = real_type(dtype);
  const auto* found = std::find_if(std::begin(kSummarizers), std::end(kSummarizers),
                                   [real](const Summarizer& row) { return row.dtype == real; });
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
