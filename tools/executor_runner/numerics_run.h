// Measures operators' errors against a reference, for executor_runner --numerics and
// vitrine.numerics().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspector/compare/numerics.h"
#include "inspector/join/profile.h"
#include "tools/common/session.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "tools/executor_runner/traced_program.h"

namespace vitrine::tools {

struct NumericsResult {
  inspector::Numerics numerics;
  inspector::Profile program;
  inspector::Profile reference;
  std::optional<inspector::Profile> timed;  // runs of the program that kept no values
  uint64_t dropped_values = 0;
};

struct NumericsSample {
  std::string name;  // may be empty for a single sample
  std::function<InputSet(TracedProgram& program)> make_inputs;
};

// Returns the samples in the files of options.inputs if options.has_samples is set, else one sample
// from make_inputs(). `options` and `session` must outlive the result. `option` is the option's
// name in errors. Throws ToolError.
std::vector<NumericsSample> find_numerics_samples(const RunnerOptions& options,
                                                  const SessionOptions& session,
                                                  const char* option = "--inputs");

// Returns the lowered program, or an empty list if options.reference is a program already. Throws
// HostError.
std::vector<std::byte> lower_reference(const RunnerOptions& options);

// A program (options.model) and its reference (options.reference).
class NumericsRun {
 public:
  // Loads both programs. `lowered` is the result of lower_reference(). All arguments must outlive
  // the object. options.debug_outputs must be set.
  NumericsRun(const RunnerOptions& options, const SessionOptions& session,
              std::span<const std::byte> lowered)
      : options_(options), session_(session), lowered_(lowered) {}

  // Runs the program once and the reference twice. Stores the inputs of `sample` in `inputs` if
  // `inputs` is empty. Throws HostError.
  NumericsResult measure(const NumericsSample& sample, std::unique_ptr<InputSet>& inputs) const;
  // Profiles the program without capturing values.
  inspector::Profile measure_times(const InputSet& inputs) const;

 private:
  SessionOptions reference_session(std::shared_ptr<ThreadPool> pool) const;

  const RunnerOptions& options_;
  const SessionOptions& session_;
  std::span<const std::byte> lowered_;
};

// Runs all programs on the same inputs. Returns each program's result over all samples. If `times`
// is set, also profiles the programs on the last sample. Throws HostError.
std::vector<NumericsResult> measure_numerics(std::span<const NumericsRun> runs,
                                             std::span<const NumericsSample> samples, bool times);

}  // namespace vitrine::tools
