#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "inspector/report/comparison_page.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "tools/llm_runner/profile/token_comparison.h"

namespace vitrine::llm {
namespace {

using inspector::ComparisonPage;

void add_phase_table(const TokenComparison& comparison, size_t phase, ComparisonPage& page) {
  const ComparedTokens& wall = comparison.wall;
  const inspector::ComparedColumns figures = {
      .unit = inspector::unit_for_rows(std::min(wall.a[phase], wall.b[phase])),
      .wall_change = wall.change(phase)};
  std::vector<ComparisonPage::Column> columns = {{comparison.matched_by}, {"rows A : B", true}};
  for (const std::string& title : figures.titles()) columns.push_back({title, true});
  std::vector<ComparisonPage::Row> rows;
  const auto add_row = [&](const ComparedTokens& row, bool is_total) {
    const bool in_a = is_total || row.rows_a != 0, in_b = is_total || row.rows_b != 0;
    std::vector<std::string> cells = {
        row.name, is_total ? "" : fmt::format("{} : {}", row.rows_a, row.rows_b)};
    for (std::string& figure : figures.figures(compared_op(row, phase), in_a, in_b)) {
      cells.push_back(std::move(figure));
    }
    const char* kind = is_total ? "total" : in_a && in_b ? "" : "single";
    rows.push_back({std::move(cells), kind, row.change(phase)});
  };
  for (const size_t i : order_by_change(comparison, phase)) add_row(comparison.rows[i], false);
  for (const ComparedTokens& row : comparison.outside) {
    if (row.a[phase] != 0 || row.b[phase] != 0) add_row(row, true);
  }
  add_row(wall, true);
  page.add_table(columns, rows);
}

std::string csv_line(const char* kind, const ComparedTokens& row, Phase which) {
  const auto phase = static_cast<size_t>(which);
  const std::string ratio = row.a[phase] > 0 && row.b[phase] > 0
                                ? fmt::format("{:.4f}", row.b[phase] / row.a[phase])
                                : "";
  return fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{}\r\n", phase_name(which), kind,
                     inspector::csv_cell(row.name), row.rows_a, row.rows_b, row.a[phase],
                     row.b[phase], row.change(phase), ratio);
}

}  // namespace

std::string report_token_comparison_csv(const TokenComparison& comparison) {
  std::string out = "phase,kind,name,rows_a,rows_b,a_ns,b_ns,change_ns,ratio\r\n";
  for (const Phase which : {Phase::kPrefill, Phase::kDecode}) {
    const auto phase = static_cast<size_t>(which);
    for (const size_t i : order_by_change(comparison, phase)) {
      out += csv_line("row", comparison.rows[i], which);
    }
    for (const ComparedTokens& row : comparison.outside) out += csv_line("outside", row, which);
    out += csv_line("wall", comparison.wall, which);
  }
  return out;
}

std::string report_token_comparison_html(const TokenComparison& comparison) {
  ComparisonPage page(comparison.a.label, comparison.b.label);
  for (const auto& [label, side] :
       {std::pair("A: ", &comparison.a), std::pair("B: ", &comparison.b)}) {
    page.add_line(label + fmt::format("{}", fmt::join(side_facts(*side), inspector::kDot)));
    page.add_line(fmt::format("{}", fmt::join(side_speeds(*side), inspector::kDot)));
  }
  if (comparison.tokens.wall.ratio) {
    page.add_verdict("decode p50  " + inspector::verdict_line(comparison.tokens));
  }
  page.add_line(fmt::format("rows matched by {}; times are per token", comparison.matched_by));
  for (const Phase which : {Phase::kPrefill, Phase::kDecode}) {
    const auto phase = static_cast<size_t>(which);
    page.add_heading(phase_name(which));
    if (comparison.wall.a[phase] <= 0 || comparison.wall.b[phase] <= 0) {
      page.add_line("missing from one profile or both");
    } else {
      add_phase_table(comparison, phase, page);
    }
  }
  for (const std::string& note : comparison.notes) page.add_line(note);
  return page.page();
}

}  // namespace vitrine::llm
