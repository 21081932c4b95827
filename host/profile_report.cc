#include "host/profile_report.h"

#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "host/files.h"
#include "inspector/report/report_csv.h"
#include "inspector/report/report_html.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_jsonl.h"
#include "inspector/report/report_timeline.h"

namespace vitrine::tools {

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

namespace {

std::string digest_of(const std::filesystem::path& file) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::byte byte : read_file(file)) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3;
  }
  return fmt::format("fnv1a64:{:016x}", hash);
}

}  // namespace

void add_default_labels(ReportOptions& options, const std::filesystem::path& model) {
  utsname system{};
  uname(&system);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  // try_emplace keeps what is there.
  options.labels.try_emplace("device", system.nodename);
  options.labels.try_emplace("device_class", system.machine);
  options.labels.try_emplace("commit", "unknown");
  options.labels.try_emplace("run", fmt::format("{}-{}", now.count(), getpid()));
  options.labels.try_emplace("model_digest", digest_of(model));
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
  static constexpr std::array<ReportFormatRow, 6> kRows = {{
      {ReportFormat::kTable, "table", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_table(profile, table_options(options));
       }},
      {ReportFormat::kJson, "json", "",
       [](const Profile& profile, const Options&) { return inspector::report_json(profile); }},
      {ReportFormat::kJsonl, "jsonl", "a line an op",
       [](const Profile& profile, const Options& options) {
         return inspector::report_jsonl(profile, options.labels);
       }},
      {ReportFormat::kCsv, "csv", "",
       [](const Profile& profile, const Options& options) {
         return inspector::report_csv(profile, options.view);
       }},
      {ReportFormat::kHtml, "html", "",
       [](const Profile& profile, const Options&) { return inspector::report_html(profile); }},
      {ReportFormat::kTimeline, "timeline", "ui.perfetto.dev",
       [](const Profile& profile, const Options&) { return inspector::report_timeline(profile); }},
  }};
  return kRows;
}

std::string make_report(const inspector::Profile& profile, const ReportOptions& options) {
  return std::ranges::find(report_formats(), options.format, &ReportFormatRow::format)
      ->make(profile, options);
}

void write_report(std::string_view text, const ReportOptions& options) {
  if (options.file.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
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
  if (!limit || !comparison.wall.ratio || comparison.wall.ratio->p50 <= *limit) return false;
  fmt::print(stderr, "B takes {:.3f} times as long as A; {} was allowed\n",
             comparison.wall.ratio->p50, *limit);
  return true;
}

}  // namespace vitrine::tools
