// Runs programs on calibration data, and measures their error and time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "aot/quantize/int8.h"
#include "inspector/compare/tensor_difference.h"
#include "tools/common/session.h"

namespace vitrine::tools {

using ProgramBytes = std::vector<std::byte>;

struct Times {
  double ms = 0;
  // The time saved compared with the float program; 0 if the difference is within the noise.
  double saved_ms = 0;
};

// Compares programs with a reference program, which is the model in float.
class Comparison {
 public:
  // Uses the first `count` samples. Throws ToolErrors, also if the model returns no floats.
  Comparison(const aot::CalibrationData& data, size_t count, std::string method,
             ProgramBytes reference);

  // The power of the error of all float outputs of all samples, relative to the power of the
  // reference's outputs. Infinite if a value is NaN or infinite in one program only.
  double noise(const ProgramBytes& program) const;
  // Runs both programs in pairs on the first sample, for about `budget_ms`. The result is the
  // median ratio of a pair times the time of the reference, which was measured once. Other work on
  // the machine slows both runs of a pair, so it hardly changes the ratio.
  Times times(const ProgramBytes& program, double budget_ms);
  // Median time of the reference, measured on first use.
  double reference_ms();

 private:
  using Outputs = std::vector<std::vector<std::byte>>;  // one for each tensor output
  struct Loaded;

  Outputs run(Loaded& loaded, size_t sample) const;

  const aot::CalibrationData& data_;
  size_t count_;
  std::string method_;
  ProgramBytes reference_;
  std::vector<ScalarType> dtypes_;  // of the outputs
  std::vector<Outputs> expected_;   // indexed by sample
  double reference_ms_ = 0;         // 0 if it was not measured
};

// The median of the ratios, and whether it differs from 1: at least 95 % of all samples of this
// size have a median on the same side. Ratios are of independent pairs.
struct MedianRatio {
  double ratio = 1;
  bool is_significant = false;
};
MedianRatio median_ratio(std::vector<double> ratios);

// 10 log10(1 / noise): infinite without noise.
double decibels(double noise);

}  // namespace vitrine::tools
