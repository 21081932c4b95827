// Options and functions by which tools print the inspector's reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "inspector/compare/comparison.h"
#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"
#include "inspector/report/report_table.h"
#include "vitrine/method.h"

namespace vitrine::tools {

enum class ReportFormat : uint8_t { kTable, kJson, kJsonl, kCsv, kHtml, kTimeline };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTable;
  std::filesystem::path file;  // empty: standard output
  size_t width = 0;            // of tables; 0: the terminal's, or 100
  bool ids = false;
  inspector::View view;  // of tables and CSV
  bool costs = false;    // columns of tables
  // For lines of JSON: "device", "device_class", "commit", "run", ... See add_default_labels().
  std::map<std::string, std::string> labels = {};
};

struct ReportFormatRow {
  ReportFormat format;
  std::string_view name;  // of --format
  std::string_view about;
  std::string (*make)(const inspector::Profile& profile, const ReportOptions& options);
};
std::span<const ReportFormatRow> report_formats();

// Chooses colour and width by the output: a terminal, NO_COLOR, its columns.
inspector::TableOptions table_options(const ReportOptions& options);

// Sets the labels that are missing: "device" (host name), "device_class" (architecture), "commit"
// ("unknown"), "run" (a new one), and "model_digest", FNV-1a of the file's bytes.
void add_default_labels(ReportOptions& options, const std::filesystem::path& model);

std::string make_report(const inspector::Profile& profile, const ReportOptions& options);

// For RunInfo::memory; state that methods share counts as planned.
inspector::MemoryInfo memory_info(const MemoryUsage& usage);

// Writes to options.file or standard output. Throws ToolError.
void write_report(std::string_view text, const ReportOptions& options);

// Names for two compared files: the shortest parts of their paths that distinguish them.
std::pair<std::string, std::string> short_names(const std::filesystem::path& a,
                                                const std::filesystem::path& b);

// Whether B's wall time is more than `limit` times A's (median); says so on standard error.
bool exceeds(const inspector::Comparison& comparison, std::optional<double> limit);

}  // namespace vitrine::tools
