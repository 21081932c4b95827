// The CSV and HTML forms of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/markup.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/row_texts.h"

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

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1d22; --soft: #666a73; --line: #e2e2dc; --slower: #f0614a; --faster: #3ca951; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #9aa0ab; --line: #30343c; } }
body { color: var(--ink); font: 14px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; margin: 24px; }
h1 { font-size: 22px; margin: 0 0 8px; overflow-wrap: anywhere; }
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
)";

class ComparisonPage {
 public:
  ComparisonPage(const Comparison& comparison, const Profile& a, const Profile& b)
      : comparison_(comparison),
        a_(a),
        b_(b),
        columns_{.unit = unit_for_rows(std::min(comparison.wall.a.p50, comparison.wall.b.p50)),
                 .wall_change = is_changed(comparison.wall) ? comparison.wall.change : 0} {
    for (const ComparedOp& op : comparison.ops) {
      max_change_ = std::max(max_change_, std::fabs(op.change));
    }
  }

  std::string page() {
    const std::string title =
        fmt::format("{} and {}", markup_text(a_.run.model), markup_text(b_.run.model));
    out_ = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{0}</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n",
        title, kStyle);
    for (const auto& [label, profile] : {std::pair("A: ", &a_), std::pair("B: ", &b_)}) {
      for (const std::string& warning : profile->run.warnings) {
        add_line("warning: " + std::string(label) + warning);
      }
      add_line(side_line(label, *profile, {fmt::format("{} runs", profile->runs)}, SIZE_MAX));
    }
    out_ +=
        fmt::format("<p class=\"verdict\">{}</p>\n", markup_text(verdict_line("", comparison_)));
    write_table();
    for (const std::string& note : comparison_.notes) add_line(note);
    return std::move(out_) + "</body></html>\n";
  }

 private:
  void add_line(std::string_view text) { out_ += fmt::format("<p>{}</p>\n", markup_text(text)); }

  void write_table() {
    out_ +=
        "<div><table><thead><tr><th class=\"figure\">#</th><th>source op</th><th>module</th>"
        "<th>A ran in</th><th>B ran in</th>";
    const std::string& unit = columns_.unit.name;
    for (const std::string& title :
         {"A " + unit, "B " + unit, std::string("B/A"), std::string("interval"), "change " + unit,
          std::string("share %")}) {
      out_ += fmt::format("<th class=\"figure\">{}</th>", title);
    }
    out_ += "<th></th></tr></thead><tbody>\n";
    for (size_t i = 0; i < comparison_.ops.size(); ++i) {
      const ComparedOp& op = comparison_.ops[i];
      const ComparedTexts texts = compared_texts(op, a_, b_);
      write_row(op.is_aligned() ? "" : "single",
                {std::to_string(i + 1), texts.op, texts.module, texts.place_a, texts.place_b}, op);
    }
    write_row("total", {"", "unattributed", "", "", ""}, comparison_.unattributed);
    write_row("total", {"", "wall", "", "", ""}, comparison_.wall);
    out_ += "</tbody></table></div>\n";
  }

  void write_row(const char* kind, const std::vector<std::string>& names, const ComparedOp& op) {
    out_ += fmt::format("<tr class=\"{}\">", kind);
    for (size_t i = 0; i < names.size(); ++i) {
      out_ +=
          fmt::format("<td{}>{}</td>", i == 0 ? " class=\"figure\"" : "", markup_text(names[i]));
    }
    const bool is_total = names[0].empty();
    for (const std::string& figure :
         columns_.figures(op, is_total || !op.rows_a.empty(), is_total || !op.rows_b.empty())) {
      out_ += fmt::format("<td class=\"figure\">{}</td>", markup_text(figure));
    }
    out_ += "<td>" + (is_total ? "" : change_bar(op.change)) + "</td></tr>\n";
  }

  // Returns a bar: to the right if B is slower, to the left if B is faster.
  std::string change_bar(double change) const {
    constexpr double kHalf = 60;
    const double width = max_change_ > 0 ? kHalf * std::fabs(change) / max_change_ : 0;
    return fmt::format(
        "<svg width=\"{}\" height=\"12\" role=\"img\"><rect x=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"12\" fill=\"var(--{})\"/></svg>",
        2 * kHalf, change > 0 ? kHalf : kHalf - width, width, change > 0 ? "slower" : "faster");
  }

  const Comparison& comparison_;
  const Profile& a_;
  const Profile& b_;
  const ComparedColumns columns_;
  double max_change_ = 0;
  std::string out_;
};

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
  return ComparisonPage(comparison, a, b).page();
}

}  // namespace vitrine::inspector
