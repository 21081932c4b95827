// Prints the inspector's reports in the selected format.
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
#include "inspector/compare/value_comparison.h"
#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"
#include "inspector/report/report_table.h"
#include "inspector/report/row_figures.h"
#include "vitrine/method.h"

namespace vitrine::tools {

enum class ReportFormat : uint8_t { kTable, kJson, kJsonl, kCsv, kHtml, kSvg, kTimeline };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTable;
  std::filesystem::path file;  // an empty path means standard output
  size_t width = 0;            // columns of tables; 0: the terminal's width, or 100
  bool ids = false;            // tables show identifiers
  inspector::View view;        // rows of tables and CSV
  bool costs = false;          // tables show costs
  // Labels for kJsonl: "device", "device_class", "commit", "run", ... See add_default_labels().
  std::map<std::string, std::string> labels = {};
  std::string graph = {};  // inspector::graph_tab_data() for kHtml; may be empty
};

// `etrecord` may be empty.
using GraphDrawing = std::string (*)(const std::filesystem::path& program,
                                     const std::filesystem::path& etrecord,
                                     const inspector::Profile& profile,
                                     const inspector::RowFigures& figures);
// Sets the function that draws graphs in HTML reports. Small tools do not call set_graph_drawing(),
// so their reports lack graphs. Not thread-safe.
void set_graph_drawing(GraphDrawing drawing);
// Returns ReportOptions::graph: empty if the format is not kHtml or if this tool cannot draw
// graphs.
std::string graph_for(const ReportOptions& options, const std::filesystem::path& program,
                      const std::filesystem::path& etrecord, const inspector::Profile& profile,
                      const inspector::RowFigures& figures = {});

struct ReportFormatRow {
  ReportFormat format;
  std::string_view name;   // value of --format
  std::string_view about;  // text for the help; may be empty
  std::string (*make)(const inspector::Profile& profile, const ReportOptions& options);
};
std::span<const ReportFormatRow> report_formats();

// On a terminal, tables fill the terminal's width unless `options` sets a width, and have colors
// unless NO_COLOR is set.
inspector::TableOptions table_options(const ReportOptions& options);

// Returns the digest of the file's bytes (digest_of()). Throws ToolError.
std::string model_digest(const std::filesystem::path& file);

// Sets missing labels: "device" (host name), "device_class" (architecture), "commit" ("unknown"),
// "run" (a new id), and "model_digest" (FNV-1a of the file's bytes).
void add_default_labels(ReportOptions& options, const std::filesystem::path& model);

// Prints a warning if View::filter matches no row.
std::string make_report(const inspector::Profile& profile, const ReportOptions& options);

// Formats as a table, JSON, CSV or HTML. ReportOptions::graph is the graph of B's program.
std::string make_report(const inspector::Comparison& comparison, const inspector::Profile& a,
                        const inspector::Profile& b, const ReportOptions& options);

// Formats as a table, JSON, CSV or HTML.
std::string make_report(const inspector::ValueComparison& comparison, const inspector::Profile& a,
                        const inspector::Profile& b, const ReportOptions& options);

// The planned memory includes the state that the program's methods share.
inspector::MemoryInfo memory_info(const MemoryUsage& usage);

// Writes a report to options.file or, if options.file is empty, to standard output. Throws
// ToolError.
void write_report(std::string_view text, const ReportOptions& options);

// Returns the file names or, if these are equal, longer parts of the paths.
std::pair<std::string, std::string> short_names(const std::filesystem::path& a,
                                                const std::filesystem::path& b);

// Returns true if the whole interval of the wall times' ratio B / A is above `limit`. For a limit
// of 1 or more, the report must also call B slower. Prints a note to stderr if the median ratio is
// above the limit, or if there are too few runs to decide.
bool exceeds(const inspector::Comparison& comparison, std::optional<double> limit);

}  // namespace vitrine::tools
