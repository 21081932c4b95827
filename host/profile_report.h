// Where and how the tools print what the inspector makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "inspector/compare/comparison.h"
#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"
#include "inspector/report/report_table.h"

namespace vitrine::tools {

enum class ReportFormat : uint8_t { kTable, kJson, kCsv, kTimeline, kHtml };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTable;
  std::filesystem::path file;  // empty: standard output
  size_t width = 0;            // of tables; 0: the terminal's, or 100
  bool ids = false;
  inspector::View view;  // of tables and CSV
  bool costs = false;    // columns of tables
};

// Colour and width as the output allows: a terminal, NO_COLOR, its columns.
inspector::TableOptions table_options(const ReportOptions& options);

std::string make_report(const inspector::Profile& profile, const ReportOptions& options);

// To options.file or standard output. Throws ToolError.
void write_report(std::string_view text, const ReportOptions& options);

// What two compared files are called: as little of their paths as tells them apart.
std::pair<std::string, std::string> short_names(const std::filesystem::path& a,
                                                const std::filesystem::path& b);

// Whether B's wall time is more than `limit` times A's (median); says so on standard error.
bool exceeds(const inspector::Comparison& comparison, std::optional<double> limit);

}  // namespace vitrine::tools
