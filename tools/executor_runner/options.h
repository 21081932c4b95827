// Parses the command line of executor_runner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/backend_flags.h"
#include "tools/common/input_file.h"
#include "tools/common/profile_report.h"
#include "vitrine/backend.h"

namespace vitrine::tools {

enum class PrintOutput : uint8_t { kNone, kSummary, kAll };

struct RunnerOptions {
  std::filesystem::path model;
  std::string method = "forward";
  std::vector<InputSpec> inputs;
  bool has_samples = false;        // the inputs are folders, lists or archives of samples
  std::optional<size_t> test_set;  // index of the test set of a bundled program
  std::vector<std::filesystem::path> data;
  std::string output_base;  // an empty text means that outputs are not written
  std::optional<size_t> executions;
  std::optional<size_t> warmup;
  size_t threads = 0;
  std::vector<size_t> sweep;  // two or more numbers of threads to profile with, or empty
  bool fixed_threads = false;
  std::optional<double> timeout;  // limit of one execution in seconds
  BackendFlags backend;
  bool portable = false;  // run without optimized kernels
  bool accept_unwritten_outputs = false;
  // The program that `model` replaces. Empty without --replace_delegates.
  std::filesystem::path replaced;
  bool method_is_given = false;
  std::optional<PrintOutput> print_output;
  bool profile = false;
  bool roofline = false;  // shows the share of the machine's limits
  bool verify = false;
  bool debug_outputs = false;
  bool numerics = false;
  bool value_summaries = false;
  std::filesystem::path reference;  // reference of --numerics
  std::filesystem::path reference_etrecord;
  std::vector<std::filesystem::path> reference_data;
  std::optional<double> fail_below;  // dB
  uint64_t seed = 0;
  std::filesystem::path etdump;
  std::filesystem::path etrecord;
  ReportOptions report;
  std::filesystem::path compare;  // the second program; empty without --compare
  std::filesystem::path compare_etrecord;
  std::vector<std::filesystem::path> compare_data;
  std::optional<double> fail_above;
  std::vector<std::filesystem::path> expected;  // files of expected outputs
  std::optional<double> rtol;
  std::optional<double> atol;
  std::optional<double> min_sqnr;      // dB
  std::filesystem::path debug_buffer;  // an empty path means the trace's name plus .data
  size_t debug_buffer_bytes;
  size_t trace_records;
};

// Returns nullopt if the tool must exit with *exit_code: after --help, or after an invalid command
// line, which is reported on stderr.
std::optional<RunnerOptions> parse_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
