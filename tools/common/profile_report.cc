#include "tools/common/profile_report.h"

#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/digest.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_csv.h"
#include "inspector/report/report_html.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_jsonl.h"
#include "inspector/report/report_svg.h"
#include "inspector/report/report_timeline.h"
#include "inspector/report/report_values.h"
#include "runtime/core/printable.h"
#include "tools/common/files.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"

namespace vitrine::tools {
namespace {

GraphDrawing g_graph_drawing = nullptr;

}  // namespace

void set_graph_drawing(GraphDrawing drawing) { g_graph_drawing = drawing; }

std::string graph_for(const ReportOptions& options, const std::filesystem::path& program,
                      const std::filesystem::path& etrecord, const inspector::Profile& profile,
                      const inspector::RowFigures& figures) {
  if (options.format != ReportFormat::kHtml || g_graph_drawing == nullptr) return "";
  return g_graph_drawing(program, etrecord, profile, figures);
}

inspector::TableOptions table_options(const ReportOptions& options) {
  inspector::TableOptions table;
  const bool terminal = options.file.empty() && isatty(STDOUT_FILENO) != 0;
  table.color = terminal && std::getenv("NO_COLOR") == nullptr;
  table.ids = options.ids;
  table.view = options.view;
  table.costs = options.costs;
  winsize window{};
  if (options.width != 0) {
    table.width = options.width;
  } else if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0) {
    table.width = window.ws_col;
  }
  return table;
}

std::string model_digest(const std::filesystem::path& file) {
  const std::unique_ptr<DataSource> source = check(map_file(file.c_str()));
  return digest_of(check(source->read(0, source->size())).bytes());
}

void add_default_labels(ReportOptions& options, const std::filesystem::path& model) {
  utsname system{};
  uname(&system);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  options.labels.try_emplace("device", system.nodename);
  options.labels.try_emplace("device_class", system.machine);
  options.labels.try_emplace("commit", "unknown");
  options.labels.try_emplace("run", fmt::format("{}-{}", now.count(), getpid()));
  options.labels.try_emplace("model_digest", model_digest(model));
}

inspector::MemoryInfo memory_info(const MemoryUsage& usage) {
  using Kind = DelegateMemory::Kind;
  return {.planned = usage.planned + usage.shared,
          .metadata = usage.metadata + usage.temporary,
          .workspace = usage.delegates.bytes(Kind::kWorkspace),
          .packed_weights = usage.delegates.bytes(Kind::kPackedWeights),
          .mapped_weights = usage.delegates.bytes(Kind::kMappedWeights),
          .constants = usage.delegates.bytes(Kind::kConstants)};
}

std::span<const ReportFormatRow> report_formats() {
  using inspector::Profile;
  using Options = ReportOptions;
  static constexpr std::array<ReportFormatRow, 7> kRows = {{
      {ReportFormat::kTable, "table", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_table(profile, table_options(options));
       }},
      {ReportFormat::kJson, "json", "",
       [](const Profile& profile, const Options&) { return inspector::report_json(profile); }},
      {ReportFormat::kJsonl, "jsonl", "one line per op",
       [](const Profile& profile, const Options& options) {
         return inspector::report_jsonl(profile, options.labels);
       }},
      {ReportFormat::kCsv, "csv", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_csv(profile, options.view);
       }},
      {ReportFormat::kHtml, "html", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_html(profile, nullptr, options.graph);
       }},
      {ReportFormat::kSvg, "svg", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_svg(profile, options.view);
       }},
      {ReportFormat::kTimeline, "timeline", "for ui.perfetto.dev",
       [](const Profile& profile, const Options&) { return inspector::report_timeline(profile); }},
  }};
  return kRows;
}

std::string make_report(const inspector::Profile& profile, const ReportOptions& options) {
  const inspector::View& view = options.view;
  if (!view.filter.empty() && inspector::group_rows(profile, view).groups.empty()) {
    print_warning(fmt::format("--filter {} matches no row", view.filter));
  }
  return std::ranges::find(report_formats(), options.format, &ReportFormatRow::format)
      ->make(profile, options);
}

std::string make_report(const inspector::Comparison& comparison, const inspector::Profile& a,
                        const inspector::Profile& b, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return inspector::report_comparison_json(comparison, a, b);
    case ReportFormat::kCsv:
      return inspector::report_comparison_csv(comparison, a, b);
    case ReportFormat::kHtml:
      return inspector::report_comparison_html(comparison, a, b, options.graph);
    default:  // check_fits_comparison() rejects other formats
      return inspector::report_comparison(comparison, a, b, table_options(options));
  }
}

std::string make_report(const inspector::ValueComparison& comparison, const inspector::Profile& a,
                        const inspector::Profile& b, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return inspector::report_values_json(comparison, a, b);
    case ReportFormat::kCsv:
      return inspector::report_values_csv(comparison, a, b);
    case ReportFormat::kHtml:
      return inspector::report_values_html(comparison, a, b);
    default:  // check_fits_comparison() rejects other formats
      return inspector::report_values(comparison, a, b, table_options(options));
  }
}

void write_report(std::string_view text, const ReportOptions& options) {
  if (options.file.empty()) {
    std::string clean(text);
    // Tables need control characters for colors. Names in tables are already printable.
    if (options.format != ReportFormat::kTable) make_printable(clean);
    for (size_t at = 0; (at = text.find("\r\n", at)) != std::string_view::npos; ++at) {
      clean[at] = '\r';  // keeps CSV's line ends
    }
    std::fwrite(clean.data(), 1, clean.size(), stdout);
  } else {
    write_file(options.file, text);
  }
}

std::pair<std::string, std::string> short_names(const std::filesystem::path& a,
                                                const std::filesystem::path& b) {
  if (a.filename() != b.filename() || a == b) return {a.filename().string(), b.filename().string()};
  const auto with_folder = [](const std::filesystem::path& path) {
    return (path.parent_path().filename() / path.filename()).string();
  };
  if (with_folder(a) != with_folder(b)) return {with_folder(a), with_folder(b)};
  return {a.string(), b.string()};
}

bool exceeds(const inspector::Comparison& comparison, std::optional<double> limit) {
  if (!limit) return false;
  const inspector::Ratio ratio = comparison.wall.ratio.value_or(inspector::Ratio{});
  if (!ratio.is_decided()) {
    const std::string minimum = fmt::format("{} or more", inspector::kMinRunsToDecide);
    print_note(fmt::format("{}; {}", inspector::too_few_runs_text(comparison),
                           comparison.is_paired
                               ? "use --num_executions " + minimum
                               : fmt::format("record {} {}s of each", minimum, comparison.sample)));
    return false;
  }
  // A limit of 1 or more is exceeded only if the report also calls B slower.
  const bool is_slower = ratio.verdict == inspector::Verdict::kSlower || *limit < 1;
  if (is_slower && ratio.is_above(*limit)) {
    print_note(fmt::format("B takes {:.3f} times as long as A ({:.3f} to {:.3f}); the limit is {}",
                           ratio.p50, ratio.decision_low(), ratio.decision_high(), *limit));
    return true;
  }
  if (ratio.p50 > *limit) {
    print_note(fmt::format(
        "B/A {:.3f} ({:.3f} to {:.3f}) is above the limit of {}, but {}", ratio.p50,
        ratio.decision_low(), ratio.decision_high(), *limit,
        ratio.is_above(*limit) ? inspector::kSmallChange : "within the noise of the runs"));
  }
  return false;
}

}  // namespace vitrine::tools
