#include "tools/common/provenance.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "tools/common/machine_limits.h"
#include "tools/common/profile_report.h"
#include "vitrine/version.h"

namespace vitrine::tools {

std::string tool_version() {
  const std::string commit = VITRINE_COMMIT;
  return commit.empty() ? "vitrine " VITRINE_VERSION
                        : fmt::format("vitrine {} (commit {})", VITRINE_VERSION, commit);
}

std::string version_text() {
  std::string text = "vitrine " VITRINE_VERSION;
  const std::string commit = VITRINE_COMMIT;
  const std::string date = VITRINE_COMMIT_DATE;
  if (!commit.empty()) text += fmt::format("\ncommit {}", commit);
  if (!date.empty()) text += fmt::format(" of {}", date);
  return text + "\nXNNPACK " VITRINE_XNNPACK_COMMIT;
}

void add_provenance(inspector::RunInfo& run, const std::filesystem::path& model,
                    const std::string& input_values) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
  run.tool = tool_version();
  run.date = date;
  run.machine = machine_name();
  run.input_values = input_values;
  std::error_code error;
  if (std::filesystem::is_regular_file(model, error)) run.model_digest = model_digest(model);
}

void add_cpu_shortage(inspector::RunInfo& run, const CpuUse& use) {
  std::string text = cpu_shortage(use, *run.threads, allowed_processors());
  if (!text.empty()) run.warnings.push_back(std::move(text));
}

}  // namespace vitrine::tools
