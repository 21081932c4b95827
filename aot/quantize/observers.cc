// This file is compiled with -ffp-contract=off, because PyTorch rounds each product and each sum.
#include "aot/quantize/observers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "aot/passes/weight_quantization.h"

namespace vitrine::aot {
namespace {

constexpr double kSearchStep = 1e-5;   // share of the values that a step of the search drops
constexpr double kTargetLevels = 256;  // levels of int8, for every range
constexpr size_t kParts = 16;          // parts of a bin in rescaled()
constexpr auto kBins = HistogramObserver::kBins;

struct Extent {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  bool has_nan = false;
};

Extent extent_of(std::span<const float> values) {
  // Uses several independent lanes, so that compilers vectorize the loop.
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> low;
  std::array<float, kLanes> high;
  std::array<int32_t, kLanes> nan{};
  low.fill(Extent().low);
  high.fill(Extent().high);
  const size_t whole = values.size() / kLanes * kLanes;
  const auto visit = [&](size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    nan[lane] |= value != value ? 1 : 0;
  };
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) visit(lane, values[i + lane]);
  }
  for (size_t i = whole; i < values.size(); ++i) visit(0, values[i]);
  return {std::ranges::min(low), std::ranges::max(high), std::ranges::max(nan) != 0};
}

void require_narrow(float low, float high) {
  if (std::isfinite((high - low) * static_cast<float>(kBins))) return;
  throw AotError(
      fmt::format("values from {:g} to {:g} are too far apart for a histogram in f32", low, high));
}

// Returns torch.linspace(first, last, count)[i].
class Linspace {
 public:
  Linspace(float first, float last, size_t count)
      : first_(first),
        last_(last),
        count_(count),
        step_((last - first) / static_cast<float>(count - 1)) {}
  float operator[](size_t i) const {
    return i < count_ / 2 ? std::fma(step_, static_cast<float>(i), first_)
                          : std::fma(-step_, static_cast<float>(count_ - 1 - i), last_);
  }

 private:
  float first_;
  float last_;
  size_t count_;
  float step_;
};

// Divides like Python's operator //, which rounds down.
float floor_divide(float x, float y) {
  const float mod = std::fmod(x, y);
  float quotient = (x - mod) / y;
  if (mod != 0 && (mod < 0) != (y < 0)) quotient -= 1;
  if (quotient == 0) return 0;
  float floor = std::floor(quotient);
  if (quotient - floor > 0.5F) floor += 1;
  return floor;
}

// Returns the integral of density * x^2 over x from `begin` to `end`.
float squared_error(float density, float begin, float end) {
  return density * (((end * end) * end - (begin * begin) * begin) / 3.0F);
}

}  // namespace

AffineParameters affine_parameters(float low, float high, int64_t quant_min, int64_t quant_max) {
  const float min = std::min(low, 0.0F);
  const float max = std::max(high, 0.0F);
  AffineParameters made;
  made.scale = std::max((max - min) / static_cast<float>(quant_max - quant_min), kMinScale);
  if (!(low <= high) || !std::isfinite(made.scale)) {
    throw AotError(
        fmt::format("values from {:g} to {:g} are too far apart for a scale in f32", low, high));
  }
  const auto offset = static_cast<int64_t>(std::nearbyint(min / made.scale));
  made.zero_point = std::clamp(quant_min - offset, quant_min, quant_max);
  return made;
}

float symmetric_scale(float low, float high, int64_t quant_min, int64_t quant_max) {
  const float magnitude = std::max(-std::min(low, 0.0F), std::max(high, 0.0F));
  const float steps = static_cast<float>(static_cast<double>(quant_max - quant_min) / 2);
  return std::max(magnitude / steps, kMinScale);
}

MinMaxObserver::MinMaxObserver(size_t channels)
    : low_(channels, std::numeric_limits<float>::infinity()),
      high_(channels, -std::numeric_limits<float>::infinity()) {}

void MinMaxObserver::observe(std::span<const float> values, size_t inner) {
  for (size_t at = 0, channel = 0; at < values.size(); at += inner) {
    const Extent extent = extent_of(values.subspan(at, inner));
    if (extent.has_nan || std::isinf(extent.low) || std::isinf(extent.high)) {
      throw AotError("it contains NaN or infinity");
    }
    low_[channel] = std::min(low_[channel], extent.low);
    high_[channel] = std::max(high_[channel], extent.high);
    channel = channel + 1 == low_.size() ? 0 : channel + 1;
  }
}

std::vector<float> MinMaxObserver::scales(int64_t quant_min, int64_t quant_max) const {
  std::vector<float> scales(low_.size());
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = symmetric_scale(low_[i], high_[i], quant_min, quant_max);
  }
  return scales;
}

void HistogramObserver::observe(std::span<const float> values) {
  Extent extent = extent_of(values);
  if (extent.has_nan) throw AotError("it contains NaN");
  std::vector<float> finite;
  if (std::isinf(extent.low) || std::isinf(extent.high)) {
    has_infinite_ |= !values.empty();
    std::ranges::copy_if(values, std::back_inserter(finite),
                         [](float value) { return std::isfinite(value); });
    values = finite;
    extent = extent_of(values);
  }
  if (values.empty()) return;
  const float low = std::min(low_, extent.low);
  const float high = std::max(high_, extent.high);
  require_narrow(low, high);
  const bool is_first = is_empty();
  Counts counted = count(values, low, high);
  if (!is_first) {
    Counts before = counts_;
    if (low == low_ && high == high_) {
      // The range is unchanged, so the bins stay the same.
    } else if (low_ == high_) {
      before = count({&low_, 1}, low, high);
      const float total = torch_sum(counts_);
      for (float& each : before) each *= total;
    } else {
      before = rescaled(low, high);
    }
    for (size_t i = 0; i < kBins; ++i) counted[i] = before[i] + counted[i];
  }
  counts_ = counted;
  low_ = low;
  high_ = high;
}

HistogramObserver::Counts HistogramObserver::count(std::span<const float> values, float low,
                                                   float high) {
  Counts counts{};
  if (low == high) {
    counts[kBins / 2] = std::min(static_cast<float>(values.size()), 0x1p24F);
    return counts;
  }
  // Neighboring values often belong to the same bin, and repeated increments of one counter are
  // slow. Therefore neighbors are counted in different tables.
  constexpr size_t kBlock = 1024;
  constexpr size_t kTables = 4;
  constexpr int32_t kLastBin = kBins - 1;
  std::array<int32_t, kBlock> bins;
  std::array<std::array<uint32_t, kBins>, kTables> tables{};
  const float width = high - low;
  for (size_t start = 0; start < values.size(); start += kBlock) {
    const auto block = values.subspan(start, std::min(kBlock, values.size() - start));
    for (size_t i = 0; i < block.size(); ++i) {
      const auto bin = static_cast<int32_t>(((block[i] - low) * static_cast<float>(kBins)) / width);
      bins[i] = bin < kLastBin ? bin : kLastBin;
    }
    for (size_t i = 0; i < block.size(); ++i) {
      ++tables[i % kTables][static_cast<size_t>(bins[i])];
    }
  }
  for (size_t i = 0; i < kBins; ++i) {
    uint64_t sum = 0;
    for (const auto& table : tables) sum += table[i];
    // Counts saturate at 2^24, because PyTorch counts in f32, in which 2^24 + 1 rounds to 2^24.
    counts[i] = static_cast<float>(std::min<uint64_t>(sum, uint64_t{1} << 24));
  }
  return counts;
}

HistogramObserver::Counts HistogramObserver::rescaled(float low, float high) const {
  constexpr size_t kAll = kBins * kParts;
  const float half = 0.5F * ((high_ - low_) / static_cast<float>(kAll));
  const Linspace starts(low_, high_, kAll + 1);
  const Linspace new_edges(low, high, kBins + 1);
  std::array<float, kBins + 1> edges;
  for (size_t i = 0; i < edges.size(); ++i) edges[i] = new_edges[i];
  Counts made{};
  for (size_t i = 0; i < kAll; ++i) {
    const float middle = starts[i] + half;
    const auto above = std::ranges::upper_bound(edges, middle) - edges.begin();
    const auto bin = std::clamp<ptrdiff_t>(above - 1, 0, kBins - 1);
    made[static_cast<size_t>(bin)] += counts_[i / kParts] / static_cast<float>(kParts);
  }
  return made;
}

float HistogramObserver::error_of(size_t first_bin, size_t last_bin) const {
  const double exact_width =
      (static_cast<double>(high_) - static_cast<double>(low_)) / static_cast<double>(kBins);
  const double exact_step =
      exact_width * static_cast<double>(last_bin - first_bin + 1) / kTargetLevels;
  if (exact_step == 0) return 0;
  const auto width = static_cast<float>(exact_width);
  const auto step = static_cast<float>(exact_step);
  const auto half = static_cast<float>(exact_step / 2);
  std::array<float, kBins> errors;
  for (size_t i = 0; i < kBins; ++i) {
    const float begin = (static_cast<float>(i) - static_cast<float>(first_bin)) * width;
    const float end = begin + width;
    const float begin_level = std::clamp(floor_divide(begin, step), 0.0F, 255.0F);
    const float end_level = std::clamp(floor_divide(end, step), 0.0F, 255.0F);
    const float density = counts_[i] / width;
    const float begin_center = (begin_level + 0.5F) * step;
    const float end_center = end_level * step + half;
    float error = squared_error(density, begin - begin_center, half);
    error = error + ((end_level - begin_level) - 1.0F) * squared_error(density, -half, half);
    errors[i] = error + squared_error(density, -half, end - end_center);
  }
  return torch_sum(errors);
}

HistogramObserver::Range HistogramObserver::search() const {
  const float total = torch_sum(counts_);
  std::array<float, kBins> cumulative;
  double sum = 0;
  for (size_t i = 0; i < kBins; ++i) {
    sum += static_cast<double>(counts_[i]);
    cumulative[i] = static_cast<float>(sum);
  }
  double alpha = 0;
  double beta = 1;
  size_t first = 0;
  size_t last = kBins - 1;
  float best = std::numeric_limits<float>::infinity();
  while (alpha < beta) {
    const double next_alpha = alpha + kSearchStep;
    const double next_beta = beta - kSearchStep;
    const auto below = static_cast<float>(next_alpha * static_cast<double>(total));
    const auto above = static_cast<float>(next_beta * static_cast<double>(total));
    size_t left = first;
    while (left < last && cumulative[left] < below) ++left;
    size_t right = last;
    while (right > first && cumulative[right] > above) --right;
    size_t next_first = first;
    size_t next_last = last;
    if (left - first > last - right) {
      next_first = left;
      alpha = next_alpha;
    } else {
      next_last = right;
      beta = next_beta;
    }
    if (next_first == first && next_last == last) continue;
    const float error = error_of(next_first, next_last);
    if (error > best) break;
    best = error;
    first = next_first;
    last = next_last;
  }
  const float width = (high_ - low_) / static_cast<float>(kBins);
  return {low_ + width * static_cast<float>(first), low_ + width * static_cast<float>(last + 1),
          first, last};
}

}  // namespace vitrine::aot
