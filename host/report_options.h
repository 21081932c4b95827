// Options that tools share, for the reports of host/profile_report.h.
#pragma once

#include <optional>

#include "host/command_line.h"
#include "host/profile_report.h"

namespace vitrine::tools {

// --format, --output, --width, --group_by, --top, --filter, --costs, --ids.
void add_report_options(const OptionGroup& group, ReportOptions& options);

// The limit for exceeds().
void add_fail_above(const OptionGroup& group, std::optional<double>& limit);

// ValidationError if only profiles have a report of that format.
void check_is_table_or_json(const ReportOptions& options, const char* what);
// ValidationError if an option is one that comparisons would ignore.
void check_fits_comparison(const ReportOptions& options);

}  // namespace vitrine::tools
