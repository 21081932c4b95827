// Parses the command line of pte_inspect.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/profile_report.h"

namespace vitrine::tools {

enum class Task : uint8_t {
  kDescribe,
  kOperators,
  kGraphText,
  kGraphDot,
  kGraphModelExplorer,
  kExplain,
  kVerify,
  kCompare
};

struct InspectOptions {
  std::vector<std::filesystem::path> files;
  Task task = Task::kDescribe;
  bool json = false;
  bool all = false;
  std::vector<std::filesystem::path> data;       // external weights (.ptd)
  std::vector<std::filesystem::path> etrecords;  // one for all traces, or one per trace
  std::vector<std::filesystem::path> programs;   // traced programs: one for all, or one per trace
  std::filesystem::path trace;                   // trace for the colors of a page; may be empty
  std::filesystem::path source;                  // exported model of a drawn program; may be empty
  std::string method = "forward";
  ReportOptions report;
  bool has_format = false;                           // print only the profile, in report.format
  std::vector<std::filesystem::path> debug_buffers;  // one per trace, or empty
  std::optional<double> fail_above;
  std::optional<double> min_sqnr;  // dB
};

// Returns nullopt if the tool must exit with *exit_code: after --help, or after an invalid command
// line, which is reported on stderr.
std::optional<InspectOptions> parse_inspect_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
