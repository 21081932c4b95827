// Implements vitrine.numerics(): the errors of a program's operators relative to a reference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "tools/common/session.h"
#include "tools/executor_runner/numerics_run.h"
#include "tools/executor_runner/options.h"

namespace vitrine::python {

struct NumericsSettings {
  std::string method = "forward";
  std::filesystem::path reference;  // ignored if reference_bytes is set
  std::string reference_bytes;      // a program
  std::filesystem::path record;     // if empty, the program's own record
  std::filesystem::path reference_record;
  std::vector<std::string> samples;  // files, folders and lists; if empty, inputs are arrays
  bool has_one_input = false;        // the arrays are one set of inputs, not samples
  bool times = false;                // true: also profiles the program
  std::optional<double> limit;       // dB
  uint64_t max_bytes = 0;            // limit on the values of each program
};

class PythonNumerics {
 public:
  // `inputs` has one test set per sample. If `inputs` and settings.samples are empty, the program
  // gets random inputs. Throws HostError.
  PythonNumerics(const tools::SessionOptions& session, const tools::RunnerOptions& options,
                 const NumericsSettings& settings, const std::vector<bundled::TestSet>& inputs);

  std::string json() const;
  std::string table(size_t width) const;
  std::string html() const;

 private:
  tools::NumericsResult result_;
};

}  // namespace vitrine::python
