// Options that tools share, for the reports of host/profile_report.h.
#pragma once

#include <CLI/CLI.hpp>
#include <utility>

#include "host/profile_report.h"

namespace vitrine::tools {

// Options under a heading of the help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, const char* heading) : app_(app), heading_(heading) {}

  template <class... Arguments>
  CLI::Option* add_option(Arguments&&... arguments) const {
    return app_.add_option(std::forward<Arguments>(arguments)...)->group(heading_);
  }
  template <class... Arguments>
  CLI::Option* add_flag(Arguments&&... arguments) const {
    return app_.add_flag(std::forward<Arguments>(arguments)...)->group(heading_);
  }

 private:
  CLI::App& app_;
  const char* heading_;
};

// --format, --output, --width, --group_by, --top, --filter, --costs, --ids.
void add_report_options(const OptionGroup& group, ReportOptions& options);

// The limit for exceeds().
void add_fail_above(const OptionGroup& group, std::optional<double>& limit);

// ValidationError if only profiles have a report of that format.
void check_is_table_or_json(const ReportOptions& options, const char* what);
// ValidationError if an option is one that comparisons would ignore.
void check_fits_comparison(const ReportOptions& options);

}  // namespace vitrine::tools
