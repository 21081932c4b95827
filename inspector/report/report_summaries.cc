#include "inspector/report/report_summaries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

std::string stored_name(const SummarizedValue& value) {
  if (!value.stored_as) return "";
  return value.stored_as->dtype == ScalarType::kByte ? "uint8" : "int8";
}

std::string scale_text(const SummarizedValue& value) {
  if (!value.stored_as) return "";
  if (value.stored_as->rows != 1) return "by row";
  return fmt::format("{:.3g}", value.stored_as->scale);
}

std::string share_text(uint64_t count, uint64_t all) {
  if (count == 0 || all == 0) return "";
  return fmt::format("{:.2g}", 100 * static_cast<double>(count) / static_cast<double>(all));
}

std::string count_text(uint64_t count) { return count == 0 ? "" : std::to_string(count); }

// Draws the histogram as eight block characters. The height of a block is its count divided by the
// largest count.
std::string drawn(const ValueSummary& summary) {
  constexpr size_t kBlocks = 8;
  constexpr std::string_view kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::array<uint64_t, kBlocks> sums{};
  for (size_t i = 0; i < ValueSummary::kBins; ++i) {
    sums[i * kBlocks / ValueSummary::kBins] += summary.histogram[i];
  }
  const uint64_t largest = *std::ranges::max_element(sums);
  if (largest == 0) return "";
  std::string text;
  for (const uint64_t sum : sums) {
    // Rounds up, so that a block with few elements differs from an empty block.
    const double height = 8 * static_cast<double>(sum) / static_cast<double>(largest);
    text += kHeights[static_cast<size_t>(std::ceil(height))];
  }
  return text;
}

}  // namespace

std::string report_summaries(const SummarizedValues& values, const Profile& profile,
                             const TableOptions& options) {
  using Kind = TextTable::Kind;
  const size_t width = std::max(options.width, kMinWidth);
  std::string out = warning_lines("", profile.run, width);
  out += side_line("", profile, {counted(values.size(), "value")}, width);
  out += origin_lines(profile.run, false, width);
  out += '\n';
  TextTable table;
  table.add_column("#", Kind::kFigure);
  table.add_column("source op", Kind::kName);
  table.add_column("module", Kind::kTail);
  table.add_column("value", Kind::kName, true);
  table.add_column("as", Kind::kName);
  for (const char* title :
       {"scale", "min", "max", "mean", "deviation", "zeros %", "saturated %", "NaN", "inf"}) {
    table.add_column(title, Kind::kFigure);
  }
  table.add_column("min to max", Kind::kBar);
  for (const SummarizedValue& value : values) {
    const RowTexts texts = row_texts(profile.rows[value.row]);
    const ValueSummary& summary = value.summary;
    const std::string op = display_width(texts.op) > kLongOp ? texts.short_op : texts.op;
    const std::string result = value.result == 0 ? "" : fmt::format(" [{}]", value.result);
    table.add_row({std::to_string(value.row + 1),
                   {op + result, texts.short_op + result},
                   texts.module,
                   value.type,
                   stored_name(value),
                   scale_text(value),
                   fmt::format("{:.3g}", summary.min),
                   fmt::format("{:.3g}", summary.max),
                   fmt::format("{:.3g}", summary.mean),
                   fmt::format("{:.3g}", summary.deviation),
                   share_text(summary.zeros, summary.count),
                   share_text(summary.saturated, summary.count),
                   count_text(summary.nan),
                   count_text(summary.infinite),
                   drawn(summary)},
                  summary.nan + summary.infinite != 0);
  }
  out += table.text(width, options.color);
  std::set<size_t> with_values;
  for (const SummarizedValue& value : values) with_values.insert(value.row);
  const auto without = std::ranges::count_if(profile.rows, [&](const ProfileRow& row) {
    const auto index = static_cast<size_t>(&row - profile.rows.data());
    return row.where != Where::kControl && !row.is_inserted && !with_values.contains(index);
  });
  if (without != 0) {
    out += wrap_notes({fmt::format("{} did not report a value",
                                   counted(static_cast<size_t>(without), "operator"))},
                      width);
  }
  return out;
}

std::string report_summaries_csv(const SummarizedValues& values, const Profile& profile) {
  std::string csv =
      "row,result,op,module,ran_in,type,stored_as,scale,zero_point,count,nan,infinite,zeros,"
      "saturated,min,max,mean,deviation,histogram\r\n";
  for (const SummarizedValue& value : values) {
    const RowTexts texts = row_texts(profile.rows[value.row]);
    const ValueSummary& summary = value.summary;
    const bool has_parameters = value.stored_as && value.stored_as->rows == 1;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},", value.row + 1, value.result,
                       csv_cell(texts.op), csv_cell(texts.module), csv_cell(texts.place),
                       csv_cell(value.type), stored_name(value),
                       has_parameters ? fmt::format("{:.9g}", value.stored_as->scale) : "",
                       has_parameters ? std::to_string(value.stored_as->zero_point) : "");
    csv +=
        fmt::format("{},{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{}\r\n", summary.count, summary.nan,
                    summary.infinite, summary.zeros, summary.saturated, summary.min, summary.max,
                    summary.mean, summary.deviation, fmt::join(summary.histogram, ";"));
  }
  return csv;
}

std::string report_summaries_json(const SummarizedValues& values, const Profile& profile) {
  Json rows = Json::array();
  for (const SummarizedValue& value : values) {
    const RowTexts texts = row_texts(profile.rows[value.row]);
    const ValueSummary& summary = value.summary;
    Json stored;
    if (value.stored_as) {
      stored = {{"dtype", stored_name(value)},
                {"rows", value.stored_as->rows},
                {"scale", value.stored_as->scale},
                {"zero_point", value.stored_as->zero_point}};
    }
    rows.push_back({{"row", value.row},
                    {"result", value.result},
                    {"op", texts.op},
                    {"module", texts.module},
                    {"ran_in", texts.place},
                    {"type", value.type},
                    {"stored_as", stored},
                    {"count", summary.count},
                    {"nan", summary.nan},
                    {"infinite", summary.infinite},
                    {"zeros", summary.zeros},
                    {"saturated", summary.saturated},
                    {"min", summary.min},
                    {"max", summary.max},
                    {"mean", summary.mean},
                    {"deviation", summary.deviation},
                    {"histogram", summary.histogram}});
  }
  const Json json = {{"schema_version", kSummariesJsonVersion},
                     {"model", profile.run.model},
                     {"method", profile.method},
                     {"origin", origin_json(profile.run)},
                     {"warnings", profile.run.warnings},
                     {"values", rows}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
