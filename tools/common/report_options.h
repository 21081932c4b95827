// Adds the command-line options for the reports of profile_report.h.
#pragma once

#include <optional>
#include <string>

#include "tools/common/command_line.h"
#include "tools/common/profile_report.h"

namespace vitrine::tools {

// Adds --format, --output, --width, --group_by, --top, --filter, --costs and --ids.
void add_report_options(const OptionGroup& group, ReportOptions& options);

// Unless --format is given, the extension of the file determines the format. Call this after
// parsing. The file name "-" means standard output.
void choose_format(const CLI::App& app, ReportOptions& options);

// Adds --legend, which explains the terms of reports and works without other arguments.
void add_legend(const OptionGroup& group);

// Adds --fail_above, which sets `limit` for exceeds().
void add_fail_above(const OptionGroup& group, std::optional<double>& limit);

// Parses "30dB" or "30" for --fail_below. Throws ValidationError.
double parse_db(const std::string& text);

// Throws a ValidationError that begins with `what`: "with --verify, expected".
void check_is_table_or_json(const ReportOptions& options, const char* what);
// Throws ValidationError if the command line sets an option that comparisons would ignore.
void check_fits_comparison(const ReportOptions& options);

}  // namespace vitrine::tools
