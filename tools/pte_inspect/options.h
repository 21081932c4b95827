// The command line of pte_inspect.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/profile_report.h"

namespace vitrine::tools {

enum class Task : uint8_t { kDescribe, kOperators, kGraphText, kGraphDot, kVerify, kCompare };

struct InspectOptions {
  std::vector<std::filesystem::path> files;
  Task task = Task::kDescribe;
  bool json = false;
  bool all = false;
  std::vector<std::filesystem::path> data;       // .ptd, for kVerify
  std::vector<std::filesystem::path> etrecords;  // one, or one for each trace
  std::string method = "forward";
  ReportOptions report;
  bool has_format = false;                           // prints only the profile, in report.format
  std::vector<std::filesystem::path> debug_buffers;  // of both traces; empty: the files beside them
  std::optional<double> fail_above;
  std::optional<double> min_sqnr;  // dB
};

// Empty if the program must end with *exit_code: after --help, or a wrong command line (reported on
// stderr).
std::optional<InspectOptions> parse_inspect_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
