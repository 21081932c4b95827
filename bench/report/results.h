// The results of a run of the suite, and their file: docs/benchmarks.md.
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

// One figure: a subject, run in one way.
struct Result {
  std::string section;  // "models", "operators", "runtime"
  std::string name;     // "mobilenet_v2", "add", "step"
  std::string variant;  // "portable", "optimized", "optimized-graph", "xnnpack", ...
  size_t threads = 1;
  std::optional<double> work;  // operators: elements of the result, or multiply-adds
  Timing time;                 // all zero if `note` says why it was not measured
  // Of a new process: its first run, Program::load, Method::load, resident memory.
  std::optional<double> first_ns = {};
  std::optional<double> load_ns = {};
  std::optional<double> init_ns = {};
  std::optional<double> peak_bytes = {};
  std::optional<double> file_bytes = {};
  // What does not depend on the machine.
  std::optional<double> instructions = {};  // of the method
  std::optional<double> delegates = {};
  std::optional<double> planned_bytes = {};  // memory of activations
  std::optional<double> of_limit = {};       // share of the limit that `limit` names
  std::string limit = {};  // "multiply-adds", "i8 multiply-adds", "copy", "bare XNNPACK"
  std::optional<double> sqnr_db = {};  // of the outputs, from the portable kernels'
  std::string note = {};

  // What stands for the same in another file: "models/mobilenet_v2/xnnpack/2".
  std::string id() const;
  bool has_time() const { return time.runs > 0; }
};

// From which size on a delegate is faster than the kernel.
struct Crossing {
  std::string op;
  size_t threads = 1;
  std::string unit;            // "elements" of the result, or "multiply-adds"
  std::optional<double> work;  // 0: at all sizes measured; unset: at none of them
};

struct Results {
  std::map<std::string, std::string> facts;  // "machine", "compiler", "flags", "commit", ...
  // By number of threads.
  std::map<size_t, double> copy_bytes_per_s;     // read and written
  std::map<size_t, double> multiply_adds_per_s;  // f32, one for each multiplication and addition
  // The same of dtypes that the processor has instructions for: "f16", "bf16", "i8".
  std::map<std::string, std::map<size_t, double>> narrow_multiply_adds_per_s;
  std::vector<Result> results;

  // Null if there is none.
  const Result* find(std::string_view id) const;
};

// One for every operator and number of threads.
std::vector<Crossing> crossings_of(const Results& results);

std::string results_json(const Results& results);
// FormatError names the place in the text and what is wrong.
Results parse_results(std::string_view text, const std::string& place);
// As above; HostError if the file cannot be read.
Results read_results(const std::filesystem::path& file);

}  // namespace vitrine::bench
