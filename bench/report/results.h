// The results of a run of the suite, and their file format (docs/benchmarks.md).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/statistics.h"

namespace vitrine::bench {

inline constexpr int kResultsVersion = 1;

// Figures of one variant of a model, operator or step with one number of threads.
struct Result {
  std::string section;  // "models", "operators", "runtime"
  std::string name;     // "mobilenet_v2", "add", "a step"
  std::string variant;  // "portable", "optimized", "optimized-graph", "xnnpack", ...
  size_t threads = 1;
  std::optional<double> work;  // operators: elements of the result, or multiply-adds
  Timing time;                 // all zero if not measured; `note` then gives the reason
  // Figures of a new process: times in ns of the first run, Program::load and Method::load, and the
  // peak resident memory.
  std::optional<double> first_ns = {};
  std::optional<double> load_ns = {};
  std::optional<double> init_ns = {};
  std::optional<double> peak_bytes = {};
  std::optional<double> file_bytes = {};
  // Counts and sizes that do not depend on the machine.
  std::optional<double> instructions = {};
  std::optional<double> delegates = {};
  std::optional<double> planned_bytes = {};  // memory of activations
  std::optional<double> of_limit = {};  // share of the limit that `limit` names; 1 is the limit
  std::string limit = {};  // "multiply-adds", "i8 multiply-adds", "copy", "bare XNNPACK"
  std::optional<double> sqnr_db = {};  // relative to the portable kernels
  std::string note = {};

  // Returns an id such as "models/mobilenet_v2/xnnpack/2". Equal ids in two files are comparable.
  std::string id() const;
  bool has_time() const { return time.runs > 0; }
};

// The size from which a delegate is faster than the optimized kernel.
struct Crossing {
  std::string op;
  size_t threads = 1;
  std::string unit;            // "elements" of the result, or "multiply-adds"
  std::optional<double> work;  // 0: slower at no measured size; unset: no crossing
};

struct Results {
  std::map<std::string, std::string> facts;  // "machine", "compiler", "flags", "commit", ...
  // Limits of the machine for each number of threads.
  std::map<size_t, double> copy_bytes_per_s;     // bytes read plus bytes written
  std::map<size_t, double> multiply_adds_per_s;  // f32 operations; a multiply-add counts as two
  // Operations per second, by dtype ("f16", "bf16", "i8") and number of threads. A multiply-add
  // counts as two operations. Dtypes without vector instructions are absent.
  std::map<std::string, std::map<size_t, double>> narrow_multiply_adds_per_s;
  std::vector<Result> results;

  // Returns the result with this id, or null.
  const Result* find(std::string_view id) const;
};

// Returns a crossing for each operator and number of threads.
std::vector<Crossing> crossings_of(const Results& results);

std::string results_json(const Results& results);
// Parses a results file. Throws a FormatError that names the invalid member. `name` is the file's
// name in the error.
Results parse_results(std::string_view text, const std::string& name);
// Reads a results file. Throws a FormatError, or a HostError if the file cannot be read.
Results read_results(const std::filesystem::path& file);

}  // namespace vitrine::bench
