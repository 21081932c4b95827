// vitrine.Program: a program and its methods.
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
#include "vitrine/data_source.h"
#include "vitrine/module.h"

namespace vitrine::python {

// What profile() runs.
struct ProfileSettings {
  std::string method;
  std::optional<size_t> runs;    // unset: as many as fit into two seconds, 5 to 50
  std::optional<size_t> warmup;  // unset: 1 to 32
  std::filesystem::path record;  // empty: the program's own
};

struct ProgramSettings {
  size_t threads = 0;  // 0: as many as performing cores
  bool optimized_kernels = true;
  std::vector<std::filesystem::path> data;  // .ptd files
  // As --backend_option of executor_runner has it: "key" or "Backend:key", and the value.
  std::vector<std::pair<std::string, std::variant<bool, int64_t, std::string>>> backend_options;
  MethodLimits limits = {};
};

class PythonProgram {
 public:
  PythonProgram(const std::filesystem::path& path, ProgramSettings settings);
  // From memory, which is copied: a program must be aligned.
  PythonProgram(std::span<const std::byte> program, ProgramSettings settings);

  // Empty if the program came from memory.
  std::string path() const { return path_.string(); }
  std::vector<std::string> methods() const;
  // Lists of (kind, dtype, shape, is dynamic); the last three are None for what is not an array.
  py::list inputs(const std::string& method) const;
  py::list outputs(const std::string& method) const;

  // Other Python threads run meanwhile; those that call the same program wait.
  py::tuple call(const std::string& method, const py::args& arguments);
  // Without arguments, random inputs. Loads the program once more, with a tracer.
  inspector::Profile profile(const ProfileSettings& settings, const py::args& arguments);

 private:
  PythonProgram(std::optional<DataBuffer> memory, const std::filesystem::path& path,
                ProgramSettings settings);
  MethodMeta meta(const std::string& method) const;
  std::vector<BackendOption> backend_options() const;
  ModuleOptions module_options() const;
  Module load() const;

  std::filesystem::path path_;  // as it was given
  std::filesystem::path file_;  // the same, wherever the process works later
  ProgramSettings settings_;
  std::optional<DataBuffer> memory_;  // the program, if it has no file
  Module module_;
  std::mutex mutex_;  // one thread at a time uses a module
};

}  // namespace vitrine::python
