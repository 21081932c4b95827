// Observers of PyTorch's PT2E quantization choose scales and zero points.
//
// The results equal torchao's bit for bit: all arithmetic is in f32, in the order of PyTorch on x86
// with AVX2.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace vitrine::aot {

// The smallest scale that an observer chooses.
inline constexpr float kMinScale = 0x1p-12F;

struct AffineParameters {
  float scale = 1;
  int64_t zero_point = 0;
};

// Returns quantization parameters for the range [low, high] that represent zero exactly. Throws
// AotError if the range is too large for f32.
AffineParameters affine_parameters(float low, float high, int64_t quant_min, int64_t quant_max);
// Returns the scale for the range [low, high] with the zero point 0.
float symmetric_scale(float low, float high, int64_t quant_min, int64_t quant_max);

// Records the minimum and maximum of each channel. With one channel, observes the whole tensor.
class MinMaxObserver {
 public:
  explicit MinMaxObserver(size_t channels);
  // `values` has shape [outer, channels, inner]. Throws AotError for NaN and infinite values.
  void observe(std::span<const float> values, size_t inner);
  std::vector<float> scales(int64_t quant_min, int64_t quant_max) const;

 private:
  std::vector<float> low_;
  std::vector<float> high_;
};

// Counts values in a histogram. Then searches for the range with the smallest squared error of
// quantization to 256 levels.
class HistogramObserver {
 public:
  static constexpr size_t kBins = 2048;
  struct Range {
    float low = 0;
    float high = 0;
    size_t first_bin = 0;
    size_t last_bin = 0;
  };

  // Adds values to the histogram. Ignores infinite values. Throws AotError for NaN, and if the
  // range of values is too large for f32.
  void observe(std::span<const float> values);
  // True if no finite value was observed.
  bool is_empty() const { return high_ < low_; }
  bool has_infinite() const { return has_infinite_; }
  float low() const { return low_; }
  float high() const { return high_; }
  const std::array<float, kBins>& counts() const { return counts_; }

  // Precondition: !is_empty().
  Range search() const;

 private:
  using Counts = std::array<float, kBins>;
  static Counts count(std::span<const float> values, float low, float high);
  // Splits each bin into 16 parts, and adds the parts to the bins of the new range [low, high].
  Counts rescaled(float low, float high) const;
  float error_of(size_t first_bin, size_t last_bin) const;

  Counts counts_{};
  float low_ = std::numeric_limits<float>::infinity();
  float high_ = -std::numeric_limits<float>::infinity();
  bool has_infinite_ = false;
};

}  // namespace vitrine::aot
