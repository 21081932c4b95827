#include "tools/common/report_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/report/legend.h"

namespace vitrine::tools {

void add_report_options(const OptionGroup& group, ReportOptions& options) {
  std::map<std::string, ReportFormat> formats;
  std::vector<std::string> described;
  for (const ReportFormatRow& row : report_formats()) {
    formats.emplace(row.name, row.format);
    if (!row.about.empty()) described.push_back(fmt::format("{}: {}", row.name, row.about));
  }
  using inspector::GroupBy;
  const std::map<std::string, GroupBy> groupings = {{"none", GroupBy::kNone},
                                                    {"op", GroupBy::kOp},
                                                    {"delegate", GroupBy::kDelegate},
                                                    {"module", GroupBy::kModule},
                                                    {"line", GroupBy::kLine}};
  as_choice(group.add_option("--format", options.format,
                             fmt::format("format of the report ({})", fmt::join(described, "; "))),
            formats);
  group
      .add_option("-o,--output", options.file,
                  "file for the report; its extension chooses the format (-: standard output)")
      ->type_name("FILE");
  group.add_option("--width", options.width, "width of tables (default: the terminal's, or 100)")
      ->type_name("N");
  as_choice(group.add_option("--group_by", options.view.by, "sum the rows of each group"),
            groupings);
  group
      .add_option("--top", options.view.top,
                  "show only the N slowest rows, or with --compare those that differ most")
      ->check(at_least(1))
      ->type_name("N");
  group
      .add_option("--filter", options.view.filter,
                  "show only rows with TEXT in op, module, kernel, delegate or line")
      ->type_name("TEXT");
  group.add_flag("--costs", options.costs,
                 "show FLOPs, GFLOP/s and GB/s in the table (needs the program's record)");
  group.add_flag("--ids", options.ids, "show instruction and debug identifiers");
  add_legend(group);
}

void choose_format(const CLI::App& app, ReportOptions& options) {
  if (app.count("--format") == 0) {
    const std::string extension = options.file.extension().string();
    for (const ReportFormatRow& row : report_formats()) {
      if (extension == fmt::format(".{}", row.name)) options.format = row.format;
    }
  }
  if (options.file == "-") options.file.clear();
}

void add_legend(const OptionGroup& group) {
  group.add_flag("--legend")
      ->description("explain the terms of all reports and exit")
      ->each([](const std::string&) {
        const std::string text = inspector::legend_text(table_options({}).width);
        std::fwrite(text.data(), 1, text.size(), stdout);
        throw CLI::Success();
      });
}

void add_fail_above(const OptionGroup& group, std::optional<double>& limit) {
  group
      .add_option("--fail_above,--fail-above", limit,
                  "exit code 2 if B certainly takes more than RATIO times as long as A")
      ->check(positive())
      ->type_name("RATIO");
}

double parse_db(const std::string& text) {
  const std::string_view digits =
      text.ends_with("dB") ? std::string_view(text).substr(0, text.size() - 2) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    throw CLI::ValidationError("--fail_below",
                               fmt::format("{}: expected a number of dB, as in 30dB", text));
  }
  return value;
}

void check_is_table_or_json(const ReportOptions& options, const char* what) {
  if (options.format == ReportFormat::kTable || options.format == ReportFormat::kJson) return;
  throw CLI::ValidationError("--format", fmt::format("{} table or json", what));
}

void check_fits_comparison(const ReportOptions& options) {
  if (options.format != ReportFormat::kCsv && options.format != ReportFormat::kHtml) {
    check_is_table_or_json(options, "with --compare, expected csv, html,");
  }
  if (options.view.by == inspector::GroupBy::kNone && options.view.filter.empty() &&
      !options.costs) {
    return;
  }
  throw CLI::ValidationError("--group_by, --filter and --costs", "cannot be used with --compare");
}

}  // namespace vitrine::tools
