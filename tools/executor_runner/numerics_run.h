// Measures the errors of a program's operators against a reference, for executor_runner --numerics
// and for vitrine.numerics() in Python.
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

// A sample: one set of inputs.
struct NumericsSample {
  std::string name;  // empty if it is the only one and has no name
  std::function<InputSet(TracedProgram& program)> make_inputs;
};

// If options.has_samples is set, returns the samples in the files of options.inputs. Otherwise,
// returns one sample with the inputs that make_inputs() chooses. `options` and `session` must
// outlive the result. Throws ToolError. `option` is the name of the option in error texts.
std::vector<NumericsSample> find_numerics_samples(const RunnerOptions& options,
                                                  const SessionOptions& session,
                                                  const char* option = "--inputs");

// If options.reference is an exported model, lowers it and returns the bytes of the program. If it
// is a program, returns an empty list. Throws HostError.
std::vector<std::byte> lower_reference(const RunnerOptions& options);

// A program (options.model) and its reference (options.reference).
class NumericsRun {
 public:
  // Loads both programs. `lowered` is the result of lower_reference(). All arguments must outlive
  // the object. options.debug_outputs must be set.
  NumericsRun(const RunnerOptions& options, const SessionOptions& session,
              std::span<const std::byte> lowered)
      : options_(options), session_(session), lowered_(lowered) {}

  // Runs the program once and the reference twice. If `inputs` is empty, sets it to the inputs that
  // `sample` makes. Throws HostError.
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
