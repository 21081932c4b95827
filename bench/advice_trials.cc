// Measures the changes that `vitrine advise` predicts, for bench/advice.py:
//
//   advice_trials ADVICE.json SECONDS MODEL [options of vitrine advise]
//
// ADVICE.json is the output of `vitrine advise MODEL --format json`. The tool measures the changes
// in ADVICE.json that have a predicted ratio and need only options. It also measures other
// time-saving changes that need only the model file. The changed program and the baseline run
// alternately for SECONDS per change. Prints one JSON object per change. Its "ratio" is the time
// of the changed program divided by the time of the baseline (median over blocks of runs).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/options.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/median.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using Json = nlohmann::json;

struct Change {
  std::string name;
  Variant variant;  // this change alone, without other changes
};

Settings settings_of(const Json& words) {
  return parse_settings(fmt::format("{}", fmt::join(words.get<std::vector<std::string>>(), " ")));
}

void add_predicted(const Json& line, const std::string& name, std::vector<Change>& changes) {
  if (line.at("ratio").is_null() || line.at("lower").is_null()) return;
  changes.push_back({name, {settings_of(line.at("lower")), settings_of(line.at("run"))}});
}

std::vector<Change> read_predicted(const char* file) {
  std::ifstream stream(file);
  const Json json = Json::parse(stream, nullptr, false);
  if (json.is_discarded() || !json.contains("advice")) {
    throw ToolError(fmt::format("{}: expected the output of 'vitrine advise --format json'", file));
  }
  std::vector<Change> changes;
  for (const Json& line : json["advice"]) add_predicted(line, line.at("name"), changes);
  if (json.contains("together")) add_predicted(json["together"], "together", changes);
  return changes;
}

// Adds other time-saving changes that need only the model file.
void add_known(const Context& context, std::vector<Change>& changes) {
  for (const Advice& advice : collect_advice(context)) {
    if (!advice.change || !advice.needs.empty() || advice.gain != Gain::kTime) continue;
    const bool is_listed = std::ranges::any_of(
        changes, [&](const Change& change) { return change.variant == *advice.change; });
    if (!is_listed) changes.push_back({advice.name, *advice.change});
  }
}

Json measure(Baseline& baseline, const Change& change, double seconds) {
  Json result = {{"name", change.name}};
  try {
    const Variant variant = merged(baseline.context().baseline, change.variant);
    std::optional<LoweredProgram> lowered;
    if (!change.variant.lowering.empty()) lowered = baseline.lower(variant);
    const TrialResult trial = baseline.compare(variant, lowered ? &*lowered : nullptr, seconds);
    result["ratio"] = median_of(trial.blocks);
    result["outputs_are_safe"] = trial.outputs.is_safe;
  } catch (const HostError& error) {
    result["error"] = error.what();
  }
  return result;
}

int run(int argc, char** argv) {
  if (argc < 4) throw ToolError("expected ADVICE.json SECONDS MODEL [options of vitrine advise]");
  const double seconds = std::strtod(argv[2], nullptr);
  int exit_code = 0;
  const auto options = parse_advise_options(argc - 2, argv + 2, &exit_code);
  if (!options) return exit_code;
  std::vector<Change> changes = read_predicted(argv[1]);
  Baseline baseline(*options);
  add_known(baseline.context(), changes);
  for (const Change& change : changes) {
    print_text(stdout, measure(baseline, change, seconds).dump() + "\n");
  }
  return 0;
}

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  return vitrine::tools::run_tool("advice_trials", [&] { return vitrine::tools::run(argc, argv); });
}
