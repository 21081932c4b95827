#include "inspector/report/report_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/run_texts.h"
#include "inspector/report/top_rows.h"
#include "inspector/report/value_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

class ValueTable {
 public:
  ValueTable(const ValueComparison& comparison, const Profile& a, const Profile& b,
             const TableOptions& options)
      : comparison_(comparison),
        a_(a),
        b_(b),
        options_(options),
        width_(std::max(options.width, kMinWidth)) {
    for (const ComparedValue& value : comparison.values) texts_.push_back(value_texts(value, a, b));
  }

  std::string report() {
    out_ += warning_lines("A: ", a_.run, width_) + warning_lines("B: ", b_.run, width_);
    write_side("A  ", a_, comparison_.recorded_a);
    write_side("B  ", b_, comparison_.recorded_b);
    out_ += origin_lines(a_.run, false, width_);
    out_ += wrap("",
                 {fmt::format("aligned by {}", alignment_name(comparison_.alignment)),
                  fmt::format("compared {} and {}; A is the reference",
                              counted(comparison_.values.size(), "op output"),
                              counted(compared_outputs(), "program output"))},
                 kDot, width_);
    out_ += '\n';
    write_rows();
    write_verdict();
    write_not_compared();
    out_ += output_lines(comparison_.outputs, width_);
    out_ += wrap_notes(comparison_.notes, width_);
    if (!comparison_.advice.empty()) out_ += wrap_notes({comparison_.advice}, width_);
    return std::move(out_);
  }

 private:
  size_t compared_outputs() const {
    return static_cast<size_t>(std::ranges::count_if(
        comparison_.outputs, [](const auto& output) { return output.why_not.empty(); }));
  }

  // Lists the ops that were not compared, grouped by reason. Reasons are in the order of their
  // first ops.
  void write_not_compared() {
    constexpr size_t kMaxNames = 8;
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for (const UncomparedValue& value : comparison_.not_compared) {
      const ComparedTexts texts = value_texts(value, a_, b_);
      auto reason =
          std::ranges::find(by_reason, value.reason, &decltype(by_reason)::value_type::first);
      if (reason == by_reason.end()) reason = by_reason.insert(reason, {value.reason, {}});
      reason->second.push_back(texts.op + (texts.module.empty() ? "" : " " + texts.module));
    }
    for (auto& [reason, names] : by_reason) {
      names = first_names(std::move(names), kMaxNames);
      names.insert(names.begin(), printable(reason));
      out_ += wrap("not compared  ", names, kDot, width_);
    }
    if (comparison_.unpaired_a + comparison_.unpaired_b == 0) return;
    out_ += fmt::format("without a counterpart  {} of A, {} of B\n",
                        counted(comparison_.unpaired_a, "op output"), comparison_.unpaired_b);
  }

  void write_side(std::string_view label, const Profile& profile, size_t recorded) {
    out_ += side_line(label, profile, {"recorded " + counted(recorded, "output")}, width_);
  }

  void write_rows() {
    using Kind = TextTable::Kind;
    if (comparison_.values.empty()) return;
    TextTable table;
    table.add_column("#", Kind::kFigure);
    table.add_column("source op", Kind::kName);
    table.add_column("module", Kind::kPath);
    table.add_column("A ran in", Kind::kName, 3);
    table.add_column("B ran in", Kind::kName, 4);
    table.add_column("output", Kind::kName, 2);
    if (options_.ids) table.add_column("rows A : B", Kind::kName);
    table.add_column("max diff", Kind::kFigure);
    table.add_column("mean diff", Kind::kFigure, 5);
    table.add_column("cosine", Kind::kFigure, 1);
    table.add_column("SQNR dB", Kind::kFigure);
    const std::vector<size_t> shown = shown_values();
    for (const size_t i : shown) add_row(table, i);
    out_ += table.text(width_, options_.color);
    const size_t others = comparison_.values.size() - shown.size();
    if (others != 0) out_ += fmt::format("{} not shown\n", counted(others, "output"));
    out_ += '\n';
  }

  // Returns the indices of all values or, with --top, of the values with the lowest SQNR.
  std::vector<size_t> shown_values() const {
    return top_rows(comparison_.values.size(), options_.view.top, [&](size_t i) {
      const double db = comparison_.values[i].difference.figures.sqnr_db;
      return std::isnan(db) ? -std::numeric_limits<double>::infinity() : db;
    });
  }

  void add_row(TextTable& table, size_t i) const {
    const ComparedValue& value = comparison_.values[i];
    const ComparedTexts& texts = texts_[i];
    const OutputDifference& difference = value.difference;
    const std::string op = display_width(texts.op) > kLongOp ? texts.short_op : texts.op;
    const std::string result = result_text(value);
    std::vector<TextTable::Cell> cells = {
        std::to_string(i + 1), {op + result, texts.short_op + result},
        texts.module,          texts.place_a,
        texts.place_b,         printable(difference.a)};
    if (options_.ids) cells.emplace_back(row_of(value.op.rows_a) + " : " + row_of(value.op.rows_b));
    for (std::string& figure : value_figures(difference.figures)) {
      cells.emplace_back(std::move(figure));
    }
    table.add_row(std::move(cells), comparison_.first_below == i);
  }

  static std::string row_of(const std::vector<size_t>& rows) {
    return rows.empty() ? "-" : std::to_string(rows[0] + 1);
  }

  void write_verdict() {
    if (const auto first = first_below(comparison_, a_, b_); !first.empty()) {
      out_ += wrap(fmt::format("first below {:.4g} dB  ", comparison_.min_sqnr_db), first, kDot,
                   width_);
    } else if (!comparison_.values.empty()) {
      out_ += fmt::format("no op is below {:.4g} dB\n", comparison_.min_sqnr_db);
    }
  }

  const ValueComparison& comparison_;
  const Profile& a_;
  const Profile& b_;
  const TableOptions& options_;
  const size_t width_;
  std::vector<ComparedTexts> texts_;  // parallel to the values
  std::string out_;
};

}  // namespace

std::string report_values(const ValueComparison& comparison, const Profile& a, const Profile& b,
                          const TableOptions& options) {
  return ValueTable(comparison, a, b, options).report();
}

std::string report_values_json(const ValueComparison& comparison, const Profile& a,
                               const Profile& b) {
  Json values = Json::array();
  for (const ComparedValue& value : comparison.values) {
    Json json = compared_json(value.op, value_texts(value, a, b));
    json["lines"] = value.lines;
    json.update(output_json(value.difference));
    values.push_back(std::move(json));
  }
  Json not_compared = Json::array();
  for (const UncomparedValue& value : comparison.not_compared) {
    Json json = compared_json(value.op, value_texts(value, a, b));
    json["reason"] = value.reason;
    not_compared.push_back(std::move(json));
  }
  const auto side = [](const Profile& profile, size_t recorded, size_t unpaired) {
    return Json{{"model", profile.run.model},
                {"method", profile.method},
                {"recorded", recorded},
                {"unpaired", unpaired},
                {"origin", origin_json(profile.run)},
                {"warnings", profile.run.warnings}};
  };
  const Json json = {
      {"schema_version", kValuesJsonVersion},
      {"a", side(a, comparison.recorded_a, comparison.unpaired_a)},
      {"b", side(b, comparison.recorded_b, comparison.unpaired_b)},
      {"aligned_by", alignment_name(comparison.alignment)},
      {"min_sqnr_db", comparison.min_sqnr_db},
      {"first_below", comparison.first_below ? Json(*comparison.first_below) : Json()},
      {"values", values},
      {"not_compared", not_compared},
      {"outputs", outputs_json(comparison.outputs)},
      {"advice", comparison.advice},
      {"notes", comparison.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
