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

// Limits a measurement of pairs of runs. At least five pairs run, even beyond a limit.
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

  // Returns the sum of squared errors divided by the sum of squared reference values. The sums
  // include all float outputs of all samples. The result is infinite if a value is finite in only
  // one program.
  double noise(const ProgramBytes& program) const;
  // Runs `program` and the reference in pairs on the first sample. Other work on the machine slows
  // both runs of a pair, so the median ratio hardly changes.
  TimeRatio time_ratio(const ProgramBytes& program, const TimeBudget& budget);
  // Runs the program once on the first sample.
  inspector::Profile profile(const ProgramBytes& program) const;
  // Returns the reference's median time over all calls of time_ratio(). Precondition: at least one
  // call.
  Milliseconds reference_time() const;

 private:
  using Outputs = std::vector<std::vector<std::byte>>;  // one element per tensor output
  struct Loaded;

  Outputs run(Loaded& loaded, size_t sample) const;

  const aot::CalibrationData& data_;
  size_t count_;
  std::string method_;
  ProgramBytes reference_;
  std::vector<ScalarType> dtypes_;    // dtypes of the outputs
  std::vector<Outputs> expected_;     // indexed by sample
  std::vector<double> reference_ms_;  // the median in each call of time_ratio()
};

// `ratios` has the ratio of each pair of runs, in order. TimeRatio::ratio is the median.
// Neighboring pairs are not independent, so other members use the medians of up to 40 blocks of
// consecutive pairs. `is_significant` is true if these medians differ from 1 in a sign test at
// 95 %. Precondition: `ratios` is not empty, and its elements are positive.
TimeRatio time_ratio_of(const std::vector<double>& ratios);

// Multiplies a ratio by the reference's time. Assumes independent errors of the factors.
Milliseconds time_of(const TimeRatio& ratio, const Milliseconds& reference);

// Returns 10 log10(1 / noise). Infinite if the noise is 0.
double decibels(double noise);

}  // namespace vitrine::tools
