#include "runtime/extension/value_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "vitrine/half.h"

namespace vitrine {
namespace {

// Elements are read in blocks that fit into the fastest cache. The loops over a block have no
// branches, and as many independent sums as vector registers hold, so that compilers vectorize
// them.
constexpr size_t kBlock = 1024;
constexpr size_t kLanes = 8;
using Block = std::array<double, kBlock>;
using Lanes = std::array<double, kLanes>;

double total(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// Calls visit(lane, element) for each element. Neighbors have different lanes.
template <class Visit>
void for_each_lane(std::span<const double> elements, const Visit& visit) {
  const size_t whole = elements.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) visit(lane, elements[i + lane]);
  }
  for (size_t i = whole; i < elements.size(); ++i) visit(i - whole, elements[i]);
}

struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double sum = 0;
  uint64_t zeros = 0;
};

Bounds bounds_of(std::span<const double> elements) {
  Bounds result;
  Lanes low;
  Lanes high;
  Lanes sum = {};
  std::array<int64_t, kLanes> zeros = {};
  low.fill(result.low);
  high.fill(result.high);
  for_each_lane(elements, [&](size_t lane, double x) {
    low[lane] = x < low[lane] ? x : low[lane];
    high[lane] = x > high[lane] ? x : high[lane];
    sum[lane] += x;
    zeros[lane] += x == 0 ? 1 : 0;
  });
  result.low = *std::min_element(low.begin(), low.end());
  result.high = *std::max_element(high.begin(), high.end());
  result.sum = total(sum);
  for (const int64_t count : zeros) result.zeros += static_cast<uint64_t>(count);
  return result;
}

// Counts elements in equal parts of a range.
class Histogram {
 public:
  Histogram(double low, double high) : low_(low) {
    // Halves the bounds first, because the difference of two large numbers may overflow.
    const double half_width = high / 2 - low / 2;
    if (half_width > 0) {
      bins_per_unit_ =
          std::min(ValueSummary::kBins / 2.0 / half_width, std::numeric_limits<double>::max());
    }
  }

  void add(std::span<const double> elements) {
    constexpr double kLast = ValueSummary::kBins - 1.0;
    std::array<int32_t, kBlock> bins;
    for (size_t i = 0; i < elements.size(); ++i) {
      const double bin = (elements[i] - low_) * bins_per_unit_;
      bins[i] = static_cast<int32_t>(bin < kLast ? bin : kLast);
    }
    // Neighbors are often in the same bin. A processor waits if it adds to a count twice in a row.
    size_t i = 0;
    for (; i + kParts <= elements.size(); i += kParts) {
      for (size_t part = 0; part < kParts; ++part) {
        ++counts_[part][static_cast<size_t>(bins[i + part])];
      }
    }
    for (; i < elements.size(); ++i) ++counts_[0][static_cast<size_t>(bins[i])];
  }

  std::array<uint64_t, ValueSummary::kBins> counts() const {
    std::array<uint64_t, ValueSummary::kBins> sums = {};
    for (const auto& part : counts_) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    }
    return sums;
  }

 private:
  static constexpr size_t kParts = 4;

  double low_;
  double bins_per_unit_ = 0;
  std::array<std::array<uint64_t, ValueSummary::kBins>, kParts> counts_ = {};
};

// Moves the finite elements to the front and returns their number.
size_t move_finite(std::span<double> elements) {
  const auto end =
      std::remove_if(elements.begin(), elements.end(), [](double x) { return !std::isfinite(x); });
  return static_cast<size_t>(end - elements.begin());
}

// Sets all figures but `saturated`. `load(begin, elements)` writes elements from index `begin` on
// as real numbers.
template <class Load>
void measure(size_t count, const Load& load, ValueSummary& summary) {
  Block block;
  const auto load_block = [&](size_t begin) {
    const std::span<double> elements(block.data(), std::min(kBlock, count - begin));
    load(begin, elements);
    return elements;
  };
  summary.count = count;
  Bounds all;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    std::span<double> elements = load_block(begin);
    Bounds bounds = bounds_of(elements);
    // A block with NaN or an infinity has no finite sum. Others may overflow.
    if (!std::isfinite(bounds.sum)) {
      for (const double x : elements) {
        summary.nan += std::isnan(x) ? 1 : 0;
        summary.infinite += std::isinf(x) ? 1 : 0;
      }
      elements = elements.first(move_finite(elements));
      bounds = bounds_of(elements);
    }
    all.low = std::min(all.low, bounds.low);
    all.high = std::max(all.high, bounds.high);
    all.sum += bounds.sum;
    all.zeros += bounds.zeros;
  }
  summary.zeros = all.zeros;
  const uint64_t finite = summary.finite();
  if (finite == 0) return;
  summary.min = all.low;
  summary.max = all.high;
  summary.mean = all.sum / static_cast<double>(finite);
  Histogram histogram(all.low, all.high);
  double squares = 0;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    std::span<double> elements = load_block(begin);
    if (finite != count) elements = elements.first(move_finite(elements));
    Lanes lanes = {};
    for_each_lane(elements, [&lanes, mean = summary.mean](size_t lane, double x) {
      lanes[lane] += (x - mean) * (x - mean);
    });
    squares += total(lanes);
    histogram.add(elements);
  }
  summary.histogram = histogram.counts();
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
  measure(
      count,
      [&](size_t begin, std::span<double> reals) {
        for (size_t i = 0; i < reals.size();) {
          const size_t row = std::min((begin + i) / width, quantization.rows - 1);
          const bool is_last = row == quantization.rows - 1;
          const size_t end =
              is_last ? reals.size() : std::min(reals.size(), (row + 1) * width - begin);
          const double scale{quantization.scale(row)};
          const int32_t zero_point = quantization.zero_point(row);
          for (; i < end; ++i) reals[i] = scale * (int32_t{elements[begin + i]} - zero_point);
        }
      },
      summary);
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
      [elements](size_t begin, std::span<double> reals) {
        for (size_t i = 0; i < reals.size(); ++i) {
          reals[i] = static_cast<double>(elements[begin + i]);
        }
      },
      summary);
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
