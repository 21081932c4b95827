#include "inspector/report/comparison_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inspector/report/html/page_text.h"
#include "inspector/report/markup.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1d22; --soft: #666a73; --line: #e2e2dc; --slower: #f0614a; --faster: #3ca951; --accent: #3257c9; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #9aa0ab; --line: #30343c; --accent: #8fabff; --card: #1d2026; } }
body { color: var(--ink); font: 14px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; margin: 24px; }
h1 { font-size: 22px; margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 24px 0 0; }
p { color: var(--soft); margin: 4px 0; overflow-wrap: anywhere; }
p.verdict { color: var(--ink); font-size: 16px; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 16px 0; }
th, td { border-bottom: 1px solid var(--line); padding: 4px 10px; text-align: left; }
th { color: var(--soft); font-weight: 500; }
td.figure, th.figure { text-align: right; white-space: nowrap; }
td svg { display: block; }
tr.total td { border-top: 2px solid var(--line); font-weight: 600; }
tr.single td { color: var(--soft); }
tr.marked td { color: var(--slower); }
tr.to-graph { cursor: pointer; }
tr.to-graph:hover, tr.shown { background: var(--line); }
button { font: inherit; color: inherit; background: none; padding: 4px 10px; cursor: pointer; }
#graph-section { border: 1px solid var(--line); border-radius: 12px; margin: 16px 0; }
@media (max-width: 720px) { body { margin: 12px; } th, td { padding: 4px 5px; } }
)";

constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; worker-src blob:\">\n";
constexpr std::string_view kGraphTab =
    "<div id=\"page-tabs\" class=\"tabs\" role=\"tablist\" aria-label=\"View\" "
    "data-rows=\"Comparison\" hidden></div>\n"
    "<section id=\"graph-section\" aria-label=\"Graph\" hidden><p id=\"graph-why\" "
    "hidden></p></section>\n";

// Returns a bar of up to 60 pixels, which begins at the middle of the cell and extends to one side.
std::string change_bar(double change, double max_change) {
  constexpr double kHalf = 60;
  const double width = max_change > 0 ? kHalf * std::fabs(change) / max_change : 0;
  return fmt::format(
      "<svg width=\"{}\" height=\"12\" role=\"img\"><rect x=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"12\" fill=\"var(--{})\"/></svg>",
      2 * kHalf, change > 0 ? kHalf : kHalf - width, width, change > 0 ? "slower" : "faster");
}

}  // namespace

ComparisonPage::ComparisonPage(std::string_view a, std::string_view b)
    : title_(fmt::format("{} and {}", markup_text(a), markup_text(b))) {}

void ComparisonPage::add_heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", markup_text(text));
}

void ComparisonPage::add_line(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", markup_text(text));
}

void ComparisonPage::add_verdict(std::string_view text) {
  body_ += fmt::format("<p class=\"verdict\">{}</p>\n", markup_text(text));
}

void ComparisonPage::add_table(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  double max_change = 0;
  for (const Row& row : rows) {
    if (std::string_view(row.kind) != "total") {
      max_change = std::max(max_change, std::fabs(row.change));
    }
  }
  const auto class_of = [](const Column& column) {
    return column.is_figure ? " class=\"figure\"" : "";
  };
  body_ += "<div><table><thead><tr>";
  for (const Column& column : columns) {
    body_ += fmt::format("<th{}>{}</th>", class_of(column), markup_text(column.title));
  }
  body_ += max_change > 0 ? "<th></th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
  for (const Row& row : rows) {
    body_ += fmt::format("<tr class=\"{}\"", row.kind);
    if (!row.rows_b.empty()) {
      body_ += fmt::format(" data-rows=\"{}\" data-queue=\"{}\"", fmt::join(row.rows_b, " "),
                           markup_text(row.queue));
    }
    body_ += '>';
    for (size_t c = 0; c < columns.size(); ++c) {
      body_ += fmt::format("<td{}>{}</td>", class_of(columns[c]), markup_text(row.cells[c]));
    }
    const bool has_bar = std::string_view(row.kind) != "total";
    if (max_change > 0) {
      body_ += "<td>" + (has_bar ? change_bar(row.change, max_change) : "") + "</td>";
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

std::string ComparisonPage::page(std::string_view graph) {
  constexpr std::string_view kHead =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{2}"
      "<title>{0}</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n";
  if (graph.empty()) {
    return fmt::format(kHead, title_, kStyle, "") + std::move(body_) + "</body></html>\n";
  }
  const std::string style = std::string(kStyle).append(html::kGraphTabStyle);
  std::string page = fmt::format(kHead, title_, style, kPolicy);
  page += kGraphTab;
  page += "<div class=\"in-rows\">\n" + std::move(body_) + "</div>\n";
  page += "<script type=\"application/json\" id=\"graph-data\">";
  page += graph;
  page += "</script>\n<script>\n";
  page += html::kElements;
  page += html::kGraphTabScript;
  page += html::kComparisonScript;
  return page + "</script>\n</body></html>\n";
}

}  // namespace vitrine::inspector
