#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/report/number_texts.h"
#include "bench/report/page.h"
#include "bench/report/svg_plot.h"
#include "bench/report/tables.h"
#include "inspector/report/html/page_text.h"

namespace vitrine::bench {
namespace {

struct Series {
  const char* variant;
  const char* name;
};
constexpr std::array<Series, 8> kSeries = {{{"portable", "portable kernels"},
                                            {"optimized", "optimised kernels"},
                                            {"optimized-graph", "optimised kernels, --optimize"},
                                            {"xnnpack", "XNNPACK, lowered here"},
                                            {"xnnpack-graph", "XNNPACK, --optimize"},
                                            {"executorch", "XNNPACK, lowered by ExecuTorch"},
                                            {"program", "program as given"},
                                            {"bare XNNPACK", "XNNPACK alone"}}};

// Of the style sheet's "v-" classes.
std::string class_of(std::string variant) {
  std::ranges::replace(variant, ' ', '-');
  return variant;
}

// Beyond the profile page's style.
constexpr std::string_view kStyle = R"css(
.cards { grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); gap: 14px 18px; margin-top: 14px; }
.plot { width: 100%; display: block; font: 10px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.plot text { fill: var(--soft); }
.plot .title { fill: var(--ink); font-size: 11.5px; font-weight: 600; }
.plot .label { fill: var(--ink); font-size: 13px; }
.plot .end { text-anchor: end; }
.plot .middle { text-anchor: middle; }
.plot .grid { stroke: var(--line); fill: none; }
.plot .line { fill: none; stroke-width: 1.8; }
.plot .crossing { stroke: var(--soft); stroke-dasharray: 3 3; fill: none; }
.plots, .wide-plot { margin-bottom: 14px; }
.wide-plot { overflow-x: auto; }
.wide-plot .plot { min-width: 720px; font-size: 12px; }
.plot circle { stroke: var(--card); stroke-width: 1; }
.v-portable { --v: var(--c1); } .v-optimized { --v: var(--c0); } .v-xnnpack { --v: var(--c4); }
.v-bare-XNNPACK { --v: var(--rest); }
.v-executorch { --v: var(--c2); } .v-program { --v: var(--c6); }
.v-optimized-graph { --v: var(--c3); } .v-xnnpack-graph { --v: var(--c5); }
.plot circle { fill: var(--v); }
.plot circle.hollow { fill: var(--card); stroke: var(--v); stroke-width: 2.2; }
.plot .line { stroke: var(--v); }
.legend i { background: var(--v); }
section > p { color: var(--soft); font-size: 13px; margin: -6px 0 12px; }
tbody tr { cursor: default; }
ul.method { color: var(--soft); font-size: 13px; margin: 0; padding-left: 18px; }
th { padding: 5px 6px; }
@media (max-width: 720px) {
  td:first-child { max-width: 34vw; overflow: hidden; text-overflow: ellipsis; }
}
td:empty::after { content: "–"; color: var(--line); }
)css";

constexpr std::string_view kScript = R"js(
'use strict';
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const apply = () => { document.documentElement.dataset.theme = chosen || (dark.matches ? 'dark' : 'light'); };
  dark.addEventListener('change', apply);
  document.getElementById('theme').addEventListener('click', () => {
    chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    apply();
  });
  apply();
})();
)js";

std::string header_html(const Results& results) {
  const std::string subtitle =
      fmt::format("{} · {} · {} · commit {} · {}", fact(results, "machine"), cores_text(results),
                  fact(results, "compiler"), fact(results, "commit"), fact(results, "date"));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<title>Benchmarks</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}</style>\n"
      "</head>\n<body>\n<header><div><h1>Benchmarks</h1><p id=\"subtitle\">{}</p></div>"
      "<button id=\"theme\" type=\"button\" aria-label=\"Light or dark\">◐</button></header>\n"
      "<main>\n",
      inspector::html::kStyle, kStyle, escaped(subtitle));
}

std::string cards_html(const Results& results) {
  std::string html;
  for (const Headline& each : headlines(results)) {
    html += fmt::format("<div class=\"card\"><span>{}</span><b>{}</b><i>{}</i></div>",
                        escaped(each.what), escaped(each.figure), escaped(each.more));
  }
  return html.empty() ? ""
                      : fmt::format("<section><div class=\"cards\">{}</div></section>\n", html);
}

// Of the series that a section has.
std::string legend_html(const Results& results, std::string_view section, bool has_threads) {
  std::string html;
  for (const Series& series : kSeries) {
    const bool is_there = std::ranges::any_of(results.results, [&](const Result& result) {
      return result.section == section && result.variant == series.variant && result.has_time();
    });
    if (!is_there) continue;
    html += fmt::format("<li><i class=\"v-{}\"></i>{}</li>", class_of(series.variant), series.name);
  }
  if (has_threads) html += "<li>filled: one thread; hollow: as many as the machine has</li>";
  return fmt::format("<ul class=\"legend\">{}</ul>", html);
}

size_t most_threads(const Results& results, std::string_view section) {
  size_t most = 1;
  for (const Result& result : results.results) {
    if (result.section == section) most = std::max(most, result.threads);
  }
  return most;
}

std::string models_html(const Results& results) {
  const size_t all = most_threads(results, "models");
  std::vector<DotRow> rows;
  for (const Result& result : results.results) {
    if (result.section != "models" || !result.has_time()) continue;
    if (result.threads != 1 && result.threads != all) continue;
    auto row = std::ranges::find(rows, result.name, &DotRow::label);
    if (row == rows.end()) row = rows.insert(rows.end(), {result.name, {}});
    row->dots.push_back({class_of(result.variant), result.time.p50, result.threads != 1,
                         fmt::format("{}, {}, threads: {}: {}", result.name, result.variant,
                                     result.threads, time_text(result.time.p50))});
  }
  if (rows.empty()) return "";
  return fmt::format("{}<div class=\"wide-plot\">{}</div>", legend_html(results, "models", all > 1),
                     svg_dots(rows));
}

CurvePlot plot_of(const Results& results, const Crossing& crossing) {
  CurvePlot plot{crossing.op, crossing.unit, {}, crossing.work};
  for (const Series& series : kSeries) {
    Curve curve{series.variant, {}};
    for (const Result& result : results.results) {
      if (result.section != "operators" || result.name != crossing.op || !result.work ||
          result.variant != series.variant || result.threads != crossing.threads ||
          !result.has_time()) {
        continue;
      }
      curve.points.push_back({*result.work, result.time.p50});
    }
    std::ranges::sort(curve.points, {}, &PlotPoint::x);
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot;
}

// On one thread.
std::string operators_html(const Results& results) {
  std::string plots;
  for (const Crossing& crossing : crossings_of(results)) {
    if (crossing.threads == 1) plots += svg_curves(plot_of(results, crossing));
  }
  if (plots.empty()) return "";
  return legend_html(results, "operators", false) +
         fmt::format("<p></p><div class=\"plots\">{}</div><h3>One line each</h3>", plots);
}

std::string table_html(const PageTable& table) {
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (const Column& column : table.columns) {
    html +=
        fmt::format("<th{}>{}</th>", column.is_figure ? " class=\"n\"" : "", escaped(column.title));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", table.columns[i].is_figure ? " class=\"n\"" : "",
                          escaped(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>";
}

std::string section_html(const Results& results, const PageTable& table) {
  std::string plot;
  if (table.title == "Models") plot = models_html(results);
  if (table.title == "Operators") plot = operators_html(results);
  return fmt::format("<section><h2>{}</h2><p>{}</p>{}{}</section>\n", escaped(table.title),
                     escaped(table.what), plot, table_html(table));
}

}  // namespace

std::string page_html(const Results& results) {
  std::string html = header_html(results) + cards_html(results);
  for (const PageTable& table : page_tables(results)) html += section_html(results, table);
  html += "<section><h2>Method</h2><ul class=\"method\">";
  for (const std::string& note : method_notes(results)) {
    html += fmt::format("<li>{}</li>", escaped(note));
  }
  html += fmt::format("<li>{}; compiled with {}.</li></ul></section>\n",
                      escaped(fact(results, "system")), escaped(fact(results, "flags")));
  return html + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kScript);
}

}  // namespace vitrine::bench
