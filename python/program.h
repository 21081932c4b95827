// Implements vitrine.Program, which runs the methods of a program.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "inspector/join/profile.h"
#include "python/arrays.h"
#include "python/numerics.h"
#include "python/recorded_run.h"
#include "tools/executor_runner/options.h"
#include "tools/executor_runner/verification.h"
#include "vitrine/data_source.h"
#include "vitrine/module.h"

namespace vitrine::python {

struct ProfileSettings {
  std::string method;
  std::optional<size_t> runs;    // if unset, as many as fit into two seconds, 5 to 50
  std::optional<size_t> warmup;  // if unset, 1 to 5 runs
  std::filesystem::path record;  // if empty, the program's own record
};

struct VerifySettings {
  std::string method;
  std::optional<double> rtol;
  std::optional<double> atol;
  std::optional<double> min_sqnr;  // dB
};

struct ProgramSettings {
  size_t threads = 0;  // 0: the number of performance cores
  bool optimized_kernels = true;
  bool accept_unwritten_outputs = false;
  std::vector<std::filesystem::path> data;  // .ptd files
  // Pairs of an option's name and value, as in `executor_runner --backend_option`. A name may start
  // with a backend: "SomeBackend:name".
  std::vector<std::pair<std::string, std::variant<bool, int64_t, std::string>>> backend_options;
  MethodLimits limits = {};
};

class PythonProgram {
 public:
  PythonProgram(const std::filesystem::path& path, ProgramSettings settings);
  // Copies the program's bytes into aligned memory.
  PythonProgram(std::span<const std::byte> program, ProgramSettings settings);

  // The path of the program. Empty if the program was given as bytes.
  std::string path() const { return path_.string(); }
  py::list methods() const;
  // inputs() and outputs() return lists of (kind, dtype, shape, is dynamic, name). Dtype, shape and
  // "is dynamic" are None for a value that is not an array. Values may lack names (None).
  py::list inputs(const std::string& method) const;
  py::list outputs(const std::string& method) const;

  // Calls a method. Releases the GIL during the call. Other threads that call the same program
  // wait.
  py::tuple call(const std::string& method, const py::args& arguments);
  // Ends the call in progress. Thread-safe.
  void cancel() { module_.cancel(); }
  // Profiles another copy of the program with a tracer. If `arguments` is empty, the inputs come
  // from the method's first test set, or are random if the file has no test set for the method.
  inspector::Profile profile(const ProfileSettings& settings, const py::args& arguments);
  // Loads the program once more, runs it once, and records the results of its instructions.
  std::unique_ptr<RecordedRun> record_values(const std::string& method,
                                             const std::filesystem::path& record,
                                             uint64_t max_bytes, const py::args& arguments);
  // Loads the program once more for each sample (a tuple of inputs), and measures the errors of the
  // program's operators.
  std::unique_ptr<PythonNumerics> numerics(const NumericsSettings& settings,
                                           const py::list& samples);
  // Loads the program once more, runs it once, and compares its outputs with `expected`.
  tools::VerificationReport verify(const VerifySettings& settings, const py::list& expected,
                                   const py::args& arguments);

 private:
  PythonProgram(std::optional<DataBuffer> memory, const std::filesystem::path& path,
                ProgramSettings settings);
  MethodMeta meta(const std::string& method) const;
  std::vector<BackendOption> backend_options() const;
  ModuleOptions module_options() const;
  tools::SessionOptions session_options() const;
  tools::RunnerOptions runner_options(const std::string& method,
                                      const std::filesystem::path& record) const;
  Module load() const;

  std::filesystem::path path_;
  std::filesystem::path file_;  // absolute, so that it stays valid if the current folder changes
  ProgramSettings settings_;
  std::optional<DataBuffer> memory_;  // the program, if it has no file
  Module module_;
  std::mutex mutex_;  // a module is not thread-safe
};

}  // namespace vitrine::python
