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

// Adds a line for each op, then the totals. Every line ends with `end` and a line break.
void add_csv(std::string& out, const Comparison& comparison, const Profile& a, const Profile& b,
             const std::string& end) {
  for (const ComparedOp& op : comparison.ops) {
    const ComparedTexts texts = compared_texts(op, a, b);
    for (const std::string& text : {texts.op, texts.module, texts.place_a, texts.place_b}) {
      out += csv_cell(text) + ',';
    }
    out += csv_times(op) + end + "\r\n";
  }
  if (a.queue.empty()) {
    out += "unattributed,,,," + csv_times(comparison.unattributed) + end + "\r\n";
  }
  out += (a.queue.empty() ? "wall,,,," : "sum,,,,") + csv_times(comparison.wall) + end + "\r\n";
}

void add_times(ComparisonPage& page, const Comparison& comparison, const Profile& a,
               const Profile& b) {
  const ComparedColumns figures = compared_columns(comparison);
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
    rows.push_back({std::move(cells), kind, op.change, op.rows_b, b.queue});
  };
  for (size_t i = 0; i < comparison.ops.size(); ++i) {
    const ComparedOp& op = comparison.ops[i];
    const ComparedTexts texts = compared_texts(op, a, b);
    add_row({std::to_string(i + 1), texts.op, texts.module, texts.place_a, texts.place_b},
            op.is_aligned() ? "" : "single", op);
  }
  if (a.queue.empty()) {
    add_row({"", "unattributed", "", "", ""}, "total", comparison.unattributed);
  }
  add_row({"", a.queue.empty() ? "wall" : "sum", "", "", ""}, "total", comparison.wall);
  page.add_table(columns, rows);
}

}  // namespace

std::string report_comparison_csv(const Comparison& comparison, const Profile& a,
                                  const Profile& b) {
  const bool has_queues = !comparison.queues.empty();
  std::string out =
      "op,module,a_ran_in,b_ran_in,a_p50_ns,b_p50_ns,change_ns,ratio,ratio_low,ratio_high,verdict";
  out += has_queues ? ",queue\r\n" : "\r\n";
  add_csv(out, comparison, a, b, has_queues ? "," : "");
  for (const ComparedQueue& queue : comparison.queues) {
    const Profile& profile = a.queues[queue.a];
    add_csv(out, queue.comparison, profile, b.queues[queue.b], "," + csv_cell(profile.queue));
  }
  return out;
}

std::string report_comparison_html(const Comparison& comparison, const Profile& a, const Profile& b,
                                   std::string_view graph) {
  ComparisonPage page(a.run.model, b.run.model);
  for (const auto& [label, profile] : {std::pair("A: ", &a), std::pair("B: ", &b)}) {
    for (const std::string& warning : profile->run.warnings) {
      page.add_line("warning: " + std::string(label) + warning);
    }
    page.add_line(side_line(label, *profile, {fmt::format("{} runs", profile->runs)}, SIZE_MAX));
  }
  page.add_verdict(verdict_line(comparison));

  add_times(page, comparison, a, b);
  for (const std::string& note : comparison.notes) page.add_line(note);
  for (const ComparedQueue& queue : comparison.queues) {
    page.add_heading("Queue " + a.queues[queue.a].queue);
    page.add_line(a.queues[queue.a].queue_about + "; not part of the wall time");
    page.add_verdict(verdict_line(queue.comparison));
    add_times(page, queue.comparison, a.queues[queue.a], b.queues[queue.b]);
    for (const std::string& note : queue.comparison.notes) page.add_line(note);
  }
  return page.page(graph);
}

}  // namespace vitrine::inspector
