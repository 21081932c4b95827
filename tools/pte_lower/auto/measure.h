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

// Limits a time measurement, which runs a program and the reference in pairs. At least five pairs
// run, even if they exceed a limit.
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

  // Returns the sum of the squared errors, divided by the sum of the squared reference values. Both
  // sums include all float outputs of all samples. The result is infinite if a value is finite in
  // one program, but NaN or infinite in the other.
  double noise(const ProgramBytes& program) const;
  // Runs `program` and the reference in pairs on the first sample, within the budget. Other work on
  // the machine slows both runs of a pair, so the median ratio of the pairs hardly changes.
  TimeRatio time_ratio(const ProgramBytes& program, const TimeBudget& budget);
  // Runs the program once on the first sample, and returns the profile of this run.
  inspector::Profile profile(const ProgramBytes& program) const;
  // Returns the median time of the reference over all calls of time_ratio(). Precondition: at least
  // one call.
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
  std::vector<double> reference_ms_;  // the median in each call of time_ratio()
};

// Computes a time ratio from `ratios`, which has the ratio of each pair of runs, in the order of
// the runs. TimeRatio::ratio is the median. Neighboring pairs are not independent, so the other
// members use the medians of up to 40 blocks of consecutive pairs. `is_significant` is true if
// these medians differ from 1 in a sign test at 95 %. Precondition: `ratios` is not empty, and its
// elements are positive.
TimeRatio time_ratio_of(const std::vector<double>& ratios);

// Multiplies a ratio by the time of the reference. The interval of the product assumes that the
// errors of the two factors are independent.
Milliseconds time_of(const TimeRatio& ratio, const Milliseconds& reference);

// Returns 10 log10(1 / noise), which is infinite if the noise is 0.
double decibels(double noise);

}  // namespace vitrine::tools
