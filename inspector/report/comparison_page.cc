#include "inspector/report/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inspector/report/markup.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1d22; --soft: #666a73; --line: #e2e2dc; --slower: #f0614a; --faster: #3ca951; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #9aa0ab; --line: #30343c; } }
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
@media (max-width: 720px) { body { margin: 12px; } th, td { padding: 4px 5px; } }
)";

// Returns a bar of up to 60 pixels on one side of the middle.
std::string change_bar(double change, double max_change) {
  constexpr double kHalf = 60;
  const double width = max_change > 0 ? kHalf * std::fabs(change) / max_change : 0;
  return fmt::format(
      "<svg width=\"{}\" height=\"12\" role=\"img\"><rect x=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"12\" fill=\"var(--{})\"/></svg>",
      2 * kHalf, change > 0 ? kHalf : kHalf - width, width, change > 0 ? "slower" : "faster");
}

}  // namespace

ComparisonPage::ComparisonPage(std::string_view a, std::string_view b) {
  const std::string title = fmt::format("{} and {}", markup_text(a), markup_text(b));
  out_ = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      title, kStyle);
}

void ComparisonPage::add_heading(std::string_view text) {
  out_ += fmt::format("<h2>{}</h2>\n", markup_text(text));
}

void ComparisonPage::add_line(std::string_view text) {
  out_ += fmt::format("<p>{}</p>\n", markup_text(text));
}

void ComparisonPage::add_verdict(std::string_view text) {
  out_ += fmt::format("<p class=\"verdict\">{}</p>\n", markup_text(text));
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
  out_ += "<div><table><thead><tr>";
  for (const Column& column : columns) {
    out_ += fmt::format("<th{}>{}</th>", class_of(column), markup_text(column.title));
  }
  out_ += max_change > 0 ? "<th></th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
  for (const Row& row : rows) {
    out_ += fmt::format("<tr class=\"{}\">", row.kind);
    for (size_t c = 0; c < columns.size(); ++c) {
      out_ += fmt::format("<td{}>{}</td>", class_of(columns[c]), markup_text(row.cells[c]));
    }
    const bool has_bar = std::string_view(row.kind) != "total";
    if (max_change > 0) {
      out_ += "<td>" + (has_bar ? change_bar(row.change, max_change) : "") + "</td>";
    }
    out_ += "</tr>\n";
  }
  out_ += "</tbody></table></div>\n";
}

std::string ComparisonPage::page() { return std::move(out_) + "</body></html>\n"; }

}  // namespace vitrine::inspector
