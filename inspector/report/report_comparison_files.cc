// The CSV and HTML forms of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/report/comparison_page.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/report_comparison.h"

namespace vitrine::inspector {
namespace {

std::string csv_times(const ComparedOp& op) {
  std::string text = fmt::format("{:.3f},{:.3f},{:.3f},", op.a.p50, op.b.p50, op.change);
  if (!op.ratio) return text + ",,,";
  text += fmt::format("{:.4f},", op.ratio->p50);
  text += op.ratio->is_decided()
              ? fmt::format("{:.4f},{:.4f},", op.ratio->decision_low(), op.ratio->decision_high())
              : ",,";
  return text + verdict_name(op.ratio->verdict);
}

}  // namespace

std::string report_comparison_csv(const Comparison& comparison, const Profile& a,
                                  const Profile& b) {
  std::string out =
      "op,module,a_ran_in,b_ran_in,a_p50_ns,b_p50_ns,change_ns,ratio,ratio_low,ratio_high,"
      "verdict\r\n";
  for (const ComparedOp& op : comparison.ops) {
    const ComparedTexts texts = compared_texts(op, a, b);
    for (const std::string& text : {texts.op, texts.module, texts.place_a, texts.place_b}) {
      out += csv_cell(text) + ',';
    }
    out += csv_times(op) + "\r\n";
  }
  out += "unattributed,,,," + csv_times(comparison.unattributed) + "\r\n";
  return out + "wall,,,," + csv_times(comparison.wall) + "\r\n";
}

std::string report_comparison_html(const Comparison& comparison, const Profile& a,
                                   const Profile& b) {
  ComparisonPage page(a.run.model, b.run.model);
  for (const auto& [label, profile] : {std::pair("A: ", &a), std::pair("B: ", &b)}) {
    for (const std::string& warning : profile->run.warnings) {
      page.add_line("warning: " + std::string(label) + warning);
    }
    page.add_line(side_line(label, *profile, {fmt::format("{} runs", profile->runs)}, SIZE_MAX));
  }
  page.add_verdict(verdict_line(comparison));

  const ComparedColumns figures = {
      .unit = unit_for_rows(std::min(comparison.wall.a.p50, comparison.wall.b.p50)),
      .wall_change = is_changed(comparison.wall) ? comparison.wall.change : 0};
  std::vector<ComparisonPage::Column> columns = {
      {"#", true}, {"source op"}, {"module"}, {"A ran in"}, {"B ran in"}};
  for (const std::string& title : figures.titles()) columns.push_back({title, true});
  std::vector<ComparisonPage::Row> rows;
  const auto add_row = [&](std::vector<std::string> cells, const char* kind, const ComparedOp& op) {
    const bool is_total = cells[0].empty();
    for (std::string& figure :
         figures.figures(op, is_total || !op.rows_a.empty(), is_total || !op.rows_b.empty())) {
      cells.push_back(std::move(figure));
    }
    rows.push_back({std::move(cells), kind, op.change});
  };
  for (size_t i = 0; i < comparison.ops.size(); ++i) {
    const ComparedOp& op = comparison.ops[i];
    const ComparedTexts texts = compared_texts(op, a, b);
    add_row({std::to_string(i + 1), texts.op, texts.module, texts.place_a, texts.place_b},
            op.is_aligned() ? "" : "single", op);
  }
  add_row({"", "unattributed", "", "", ""}, "total", comparison.unattributed);
  add_row({"", "wall", "", "", ""}, "total", comparison.wall);
  page.add_table(columns, rows);
  for (const std::string& note : comparison.notes) page.add_line(note);
  return page.page();
}

}  // namespace vitrine::inspector
