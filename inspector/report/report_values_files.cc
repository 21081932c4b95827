#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text_layout.h"
#include "inspector/report/comparison_page.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/report_values.h"
#include "inspector/report/value_texts.h"

namespace vitrine::inspector {
namespace {

// Returns the figures in the order of the CSV columns. Infinity and NaN become empty cells.
std::string csv_figures(const OutputDifference& difference) {
  const TensorDifference& figures = difference.figures;
  std::string text = fmt::format("{},{}", figures.elements, figures.mismatches);
  for (const double value : {figures.max_abs, figures.mean_abs, figures.sqnr_db, figures.cosine}) {
    text += ',';
    if (std::isfinite(value)) text += fmt::format("{:.9g}", value);
  }
  return text;
}

std::string csv_line(const char* kind, const ComparedTexts& texts,
                     const OutputDifference& difference, const std::string& lines) {
  std::string line = kind;
  for (const std::string& text : {texts.op, texts.module, texts.place_a, texts.place_b,
                                  std::to_string(difference.index), difference.a, difference.b}) {
    line += ',' + csv_cell(text);
  }
  line += ',' + (difference.why_not.empty() ? csv_figures(difference) : ",,,,,");
  return line + ',' + csv_cell(difference.why_not) + ',' + csv_cell(lines) + "\r\n";
}

}  // namespace

std::string report_values_csv(const ValueComparison& comparison, const Profile& a,
                              const Profile& b) {
  std::string out =
      "kind,op,module,a_ran_in,b_ran_in,index,a_type,b_type,elements,different,max_abs,mean_abs,"
      "sqnr_db,cosine,not_compared,lines\r\n";
  for (const ComparedValue& value : comparison.values) {
    out += csv_line("op", value_texts(value, a, b), value.difference,
                    fmt::format("{}", fmt::join(value.lines, "; ")));
  }
  for (const UncomparedValue& value : comparison.not_compared) {
    OutputDifference none;
    none.why_not = value.reason;
    out += csv_line("op", value_texts(value, a, b), none, "");
  }
  for (const OutputDifference& output : comparison.outputs) {
    out += csv_line("output", {}, output, "");
  }
  return out;
}

std::string report_values_html(const ValueComparison& comparison, const Profile& a,
                               const Profile& b) {
  ComparisonPage page(a.run.model, b.run.model);
  const auto add_side = [&](const char* label, const Profile& profile, size_t recorded) {
    for (const std::string& warning : profile.run.warnings) {
      page.add_line(fmt::format("warning: {}{}", label, warning));
    }
    page.add_line(side_line(label, profile, {"recorded " + counted(recorded, "output")}, SIZE_MAX));
  };
  add_side("A: ", a, comparison.recorded_a);
  add_side("B: ", b, comparison.recorded_b);
  const std::string limit = fmt::format("{:.4g} dB", comparison.min_sqnr_db);
  if (const auto first = first_below(comparison, a, b); !first.empty()) {
    page.add_verdict(fmt::format("first below {}: {}", limit, fmt::join(first, kDot)));
  } else if (!comparison.values.empty()) {
    page.add_verdict("no op is below " + limit);
  }
  std::vector<ComparisonPage::Row> rows;
  for (size_t i = 0; i < comparison.values.size(); ++i) {
    const ComparedValue& value = comparison.values[i];
    const ComparedTexts texts = value_texts(value, a, b);
    std::vector<std::string> cells = {std::to_string(i + 1), texts.op + result_text(value),
                                      texts.module,          texts.place_a,
                                      texts.place_b,         value.difference.a};
    for (std::string& figure : value_figures(value.difference.figures)) {
      cells.push_back(std::move(figure));
    }
    rows.push_back({std::move(cells), comparison.first_below == i ? "marked" : ""});
  }
  page.add_table({{"#", true},
                  {"source op"},
                  {"module"},
                  {"A ran in"},
                  {"B ran in"},
                  {"output"},
                  {"max diff", true},
                  {"mean diff", true},
                  {"cosine", true},
                  {"SQNR dB", true}},
                 rows);
  for (const OutputDifference& output : comparison.outputs) {
    page.add_line(output_lines({output}, SIZE_MAX));
  }
  if (!comparison.not_compared.empty()) {
    page.add_heading("Not compared");
    std::vector<ComparisonPage::Row> uncompared;
    for (const UncomparedValue& value : comparison.not_compared) {
      const ComparedTexts texts = value_texts(value, a, b);
      uncompared.push_back({{texts.op, texts.module, value.reason}});
    }
    page.add_table({{"source op"}, {"module"}, {"reason"}}, uncompared);
  }
  for (const std::string& note : comparison.notes) page.add_line(note);
  if (!comparison.advice.empty()) page.add_line(comparison.advice);
  return page.page();
}

}  // namespace vitrine::inspector
