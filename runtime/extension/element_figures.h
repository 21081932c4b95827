// Computes statistics of blocks of finite real numbers.
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

// If any element is NaN or infinite, the sum is not finite, and the bounds are meaningless.
Bounds bounds_of(std::span<const float> elements);
Bounds bounds_of(std::span<const double> elements);

// Number of unused counts at the end of a table. Without this gap, the same count of two tables
// could be a multiple of 4096 bytes apart. The processor would then confuse the two addresses and
// wait.
template <class Count>
inline constexpr size_t kTableGap = 64 / sizeof(Count);

// Bins are equal parts of a range.
struct Bins {
  static constexpr double kLast = ValueSummary::kBins - 1.0;

  Bins(double min, double max);

  size_t bin_of(double x) const {
    return static_cast<size_t>(std::min((x - low) * per_unit, kLast));
  }

  double low;
  double per_unit = 0;
};

// Counts elements by bin, and sums their squared distances from the mean.
class Distribution {
 public:
  static constexpr size_t kMaxElements = 1024;

  Distribution(const Bounds& bounds, double mean) : bins_(bounds.low, bounds.high), mean_(mean) {}

  // Adds at most kMaxElements elements.
  void add(std::span<const float> elements);
  void add(std::span<const double> elements);

  double squares() const { return squares_; }
  std::array<uint64_t, ValueSummary::kBins> histogram();

 private:
  // A table counts pairs of elements: one count for each combination of two bins. Pairs go to two
  // tables in turn, because a processor waits if it adds to the same count twice in a row.
  static constexpr size_t kPairs = ValueSummary::kBins * ValueSummary::kBins;
  static constexpr size_t kTables = 2;
  static constexpr size_t kPairsOfBlock = kMaxElements / 2;
  // Maximum number of blocks before clear_tables(), so that the 16-bit counts do not overflow.
  static constexpr size_t kMaxBlocks = UINT16_MAX / (kPairsOfBlock / kTables);

  template <class T, class PairsOf>
  void add_block(std::span<const T> elements, PairsOf pairs_of);
  // Adds the tables to the histogram and clears the tables.
  void clear_tables();

  Bins bins_;
  double mean_;
  double squares_ = 0;
  size_t blocks_ = 0;
  std::array<uint64_t, ValueSummary::kBins> histogram_ = {};
  std::array<std::array<uint16_t, kPairs + kTableGap<uint16_t>>, kTables> tables_ = {};
};

}  // namespace vitrine
