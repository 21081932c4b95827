// Parses the command line of `vitrine advise`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/advise/variant.h"
#include "tools/common/profile_report.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

struct AdviseOptions {
  RunnerOptions run;             // model, method, inputs, threads
  std::filesystem::path source;  // --source, the exported model of a .pte
  std::optional<Settings> baseline;
  std::vector<std::string> calibrate;
  std::filesystem::path profile;  // --profile, recorded on a device; may be empty
  double seconds = 15;            // time limit for all trials together
  bool has_trials = true;
  bool is_forced = false;  // advise on a busy machine
  std::vector<std::string> apply;
  bool verify = false;
  bool is_auto = false;
  std::filesystem::path output;  // the program of --apply or --auto; may be empty
  ReportOptions report;
};

// Returns nullopt if the tool must exit with *exit_code: after --help, or after an invalid command
// line, which is reported on stderr.
std::optional<AdviseOptions> parse_advise_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
