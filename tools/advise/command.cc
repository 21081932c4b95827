#include "tools/advise/command.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/advise/apply.h"
#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/options.h"
#include "tools/advise/report.h"
#include "tools/advise/stored_advice.h"
#include "tools/advise/unlowerable.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

std::string report(const Baseline& baseline, const Findings& findings, const std::string& json,
                   const ReportOptions& options) {
  if (options.format == ReportFormat::kJson) return json;
  if (options.format == ReportFormat::kHtml) return advice_html(baseline, findings);
  return advice_text(baseline, findings, table_options(options).width);
}

int run_advise(const AdviseOptions& options) {
  Baseline baseline(options);
  if (!baseline.disturbance().empty()) {
    if (!options.is_forced && options.has_trials) {
      throw ToolError(
          fmt::format("no advice: {} (--force gives advice anyway)", baseline.disturbance()));
    }
    if (options.has_trials) print_warning("the times are unreliable: the intervals may be wrong");
  }
  const std::filesystem::path file = advice_file(baseline.context());
  if (!options.apply.empty()) {
    if (const std::optional<StoredAdvice> stored = stored_advice(file)) {
      print_note(fmt::format(
          "using the advice stored on {}; without --apply, 'vitrine advise' makes new advice",
          stored->date));
      return apply_advice(baseline, stored->findings, options);
    }
  }
  const Findings findings = find_advice(baseline, options);
  const std::string json = advice_json(baseline, findings);
  store_advice(file, json);
  print_text(stdout, report(baseline, findings, json, options.report));
  if (!options.apply.empty()) return apply_advice(baseline, findings, options);
  if (options.is_auto) return apply_automatically(baseline, findings, options);
  return 0;
}

}  // namespace

int advise(int argc, char** argv) {
  return run_tool("vitrine advise", [&] {
    int exit_code = 0;
    const auto options = parse_advise_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    stop_on_interrupt();
    try {
      return run_advise(*options);
    } catch (const NotLowerable& model) {
      if (!options->apply.empty() || options->is_auto) throw;
      print_text(stdout, options->report.format == ReportFormat::kJson
                             ? blockers_json(model)
                             : blockers_text(model, table_options(options->report).width));
      return 0;
    }
  });
}

}  // namespace vitrine::tools
