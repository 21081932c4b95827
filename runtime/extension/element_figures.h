// Figures over blocks of finite real numbers, as fast as the processor reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "runtime/extension/value_summary.h"

namespace vitrine {

struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double sum = 0;
  uint64_t zeros = 0;

  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
    zeros += x == 0 ? 1 : 0;
  }
  void add(const Bounds& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    sum += other.sum;
    zeros += other.zeros;
  }
};

// If elements are NaN or infinite, the sum is not finite, and the bounds have no meaning.
Bounds bounds_of(std::span<const double> elements);

// The sum of (x - mean)^2.
double squares_of(std::span<const double> elements, double mean);

// Counts elements in equal parts of a range.
class Histogram {
 public:
  static constexpr size_t kMaxElements = 1024;

  Histogram(double low, double high) : low_(low) {
    // Halves the bounds first, because the difference of two large numbers may overflow.
    const double half_width = high / 2 - low / 2;
    if (half_width > 0) {
      bins_per_unit_ =
          std::min(ValueSummary::kBins / 2.0 / half_width, std::numeric_limits<double>::max());
    }
  }

  // Adds at most kMaxElements.
  void add(std::span<const double> elements);
  // Adds `count` equal elements.
  void add(double x, uint64_t count) {
    counts_[0][static_cast<size_t>(std::min((x - low_) * bins_per_unit_, kLastBin))] += count;
  }

  std::array<uint64_t, ValueSummary::kBins> counts() const;

 private:
  static constexpr double kLastBin = ValueSummary::kBins - 1.0;
  static constexpr size_t kParts = 4;

  double low_;
  double bins_per_unit_ = 0;
  std::array<std::array<uint64_t, ValueSummary::kBins>, kParts> counts_ = {};
};

}  // namespace vitrine
