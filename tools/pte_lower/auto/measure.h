// Runs programs on calibration data, and measures their error and time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "aot/quantize/int8.h"
#include "inspector/compare/tensor_difference.h"
#include "inspector/join/profile.h"
#include "tools/common/interval.h"
#include "tools/common/session.h"

namespace vitrine::tools {

using ProgramBytes = std::vector<std::byte>;

// The limits of a time measurement. Every measurement makes at least five pairs of runs.
struct TimeBudget {
  double ms = 0;
  size_t max_pairs = 0;
};

// The time of a program divided by the time of the reference.
struct TimeRatio {
  double ratio = 1;
  Interval repeated{1, 1};  // expected in another measurement
  bool is_significant = false;
};

struct Milliseconds {
  double median = 0;
  Interval repeated;  // expected in another measurement
};

// Compares programs with a reference program, which is the model in float.
class Comparison {
 public:
  // Uses the first `count` samples. Throws ToolErrors, for example if the model does not return
  // floats.
  Comparison(const aot::CalibrationData& data, size_t count, std::string method,
             ProgramBytes reference);

  // The power of the error of all float outputs of all samples, relative to the power of the
  // reference's outputs. Infinite if a value is NaN or infinite in only one of the two programs.
  double noise(const ProgramBytes& program) const;
  // Runs both programs in pairs on the first sample, within the budget. Other work on the machine
  // slows both runs of a pair, so it hardly changes the median ratio of the pairs. Each call also
  // adds one block to the times from which reference_time() is computed.
  TimeRatio time_ratio(const ProgramBytes& program, const TimeBudget& budget);
  // Runs the program once on the first sample, and returns the profile of this run.
  inspector::Profile profile(const ProgramBytes& program) const;
  // Median time of the reference over all blocks. Precondition: time_ratio() was called.
  Milliseconds reference_time() const;

 private:
  using Outputs = std::vector<std::vector<std::byte>>;  // one for each tensor output
  struct Loaded;

  Outputs run(Loaded& loaded, size_t sample) const;

  const aot::CalibrationData& data_;
  size_t count_;
  std::string method_;
  ProgramBytes reference_;
  std::vector<ScalarType> dtypes_;    // of the outputs
  std::vector<Outputs> expected_;     // indexed by sample
  std::vector<double> reference_ms_;  // the median of each block of runs
};

// Computes a time ratio from the ratios of pairs of runs, in the order of the runs. The result's
// ratio is their median. The interval and `is_significant` use the medians of up to 40 blocks of
// consecutive pairs, because neighboring pairs are not independent. `is_significant` is true if the
// medians of the blocks differ from 1 in a sign test at 95 %. Precondition: `ratios` is not empty,
// and its elements are positive.
TimeRatio time_ratio_of(const std::vector<double>& ratios);

// Multiplies a ratio by the time of the reference. The errors of both factors are independent.
Milliseconds time_of(const TimeRatio& ratio, const Milliseconds& reference);

// Returns 10 log10(1 / noise), which is infinite if the noise is 0.
double decibels(double noise);

}  // namespace vitrine::tools
