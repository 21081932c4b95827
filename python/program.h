// vitrine.Program: a program file and its methods.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "python/arrays.h"
#include "vitrine/module.h"

namespace vitrine::python {

// What profile() runs.
struct ProfileSettings {
  std::string method;
  std::optional<size_t> runs;    // unset: as many as fit into two seconds, 5 to 50
  std::optional<size_t> warmup;  // unset: 1 to 5
  std::filesystem::path record;  // empty: the program's own
};

class PythonProgram {
 public:
  PythonProgram(const std::filesystem::path& path, size_t threads, bool optimized_kernels,
                const std::vector<std::filesystem::path>& data);

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
  MethodMeta meta(const std::string& method) const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> data_;
  size_t threads_;
  bool optimized_kernels_;
  Module module_;
  std::mutex mutex_;  // one thread at a time uses a module
};

}  // namespace vitrine::python
