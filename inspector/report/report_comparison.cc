#include "inspector/report/report_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "inspector/text/comparison_texts.h"
#include "inspector/text/difference_texts.h"
#include "inspector/text/number_texts.h"
#include "inspector/text/text_layout.h"
#include "inspector/text/text_table.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kLargest = 5;
// A change below this share of the wall time has no shares worth printing.
constexpr double kNoChange = 0.005;

std::string ratio_text(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

// Programs run in turn differ by some thousandths from where they stand in the turn.
bool is_change(const Ratio& ratio) {
  constexpr double kLeastChange = 0.01;
  return ratio.excludes_one() && std::fabs(ratio.p50 - 1) >= kLeastChange;
}

std::string spread_text(const Ratio& ratio) {
  return fmt::format("{} to {}", ratio_text(ratio.low), ratio_text(ratio.high));
}

class ComparisonTable {
 public:
  ComparisonTable(const Comparison& comparison, const Profile& a, const Profile& b,
                  const TableOptions& options)
      : comparison_(comparison),
        a_(a),
        b_(b),
        options_(options),
        width_(std::max(options.width, kMinWidth)),
        unit_(unit_for_rows(std::min(comparison.wall.a.avg, comparison.wall.b.avg))) {
    for (const ComparedOp& op : comparison.ops) texts_.push_back(compared_texts(op, a, b));
  }

  std::string report() {
    write_head();
    out_ += '\n';
    write_rows();
    out_ += '\n';
    write_largest();
    out_ += output_lines(comparison_.outputs, width_);
    out_ += wrap_notes(comparison_.notes, width_);
    for (const std::string& note : a_.notes) out_ += wrap_notes({"A: " + note}, width_);
    for (const std::string& note : b_.notes) out_ += wrap_notes({"B: " + note}, width_);
    return std::move(out_);
  }

 private:
  void write_head() {
    write_side("A  ", a_, comparison_.runs_a);
    write_side("B  ", b_, comparison_.runs_b);
    const ComparedOp& wall = comparison_.wall;
    std::string line = fmt::format("wall  A {}   B {}", unit_for(wall.a.avg).with_name(wall.a.avg),
                                   unit_for(wall.b.avg).with_name(wall.b.avg));
    if (wall.ratio.has_value()) {
      const char* verdict = !is_change(*wall.ratio) ? "no change beyond the spread of the runs"
                            : wall.ratio->p50 > 1   ? "B is slower"
                                                    : "B is faster";
      line += fmt::format("   B/A {} ({}): {}", ratio_text(wall.ratio->p50),
                          spread_text(*wall.ratio), verdict);
    }
    out_ += line + '\n';
    out_ += wrap("",
                 {fmt::format("aligned by {}: {} of {} rows of A, {} of {} of B",
                              alignment_name(comparison_.alignment), comparison_.aligned_rows_a,
                              a_.rows.size(), comparison_.aligned_rows_b, b_.rows.size()),
                  comparison_.is_paired ? "runs in turn, ratios of neighbours: median, middle 80 %"
                                        : "ratios of all pairs of runs: median, middle 80 %"},
                 kDot, width_);
  }

  void write_side(std::string_view label, const Profile& profile, size_t used) {
    size_t delegated = 0, kernels = 0;
    for (const ProfileRow& row : profile.rows) {
      delegated += row.where == Where::kDelegate ? 1 : 0;
      kernels += row.where == Where::kKernel ? 1 : 0;
    }
    out_ += side_line(label, profile,
                      {fmt::format("{} delegated operators, {} kernels", delegated, kernels),
                       used == profile.runs ? fmt::format("{} runs", used)
                                            : fmt::format("{} of {} runs", used, profile.runs)},
                      width_);
  }

  // ---- Rows

  bool has_shares() const {
    return std::fabs(comparison_.wall.change) >= kNoChange * comparison_.wall.a.avg;
  }

  std::vector<std::string> figures(const ComparedOp& op, bool in_a, bool in_b) const {
    std::vector<std::string> texts = {
        in_a ? unit_.text(op.a.avg) : "-", in_b ? unit_.text(op.b.avg) : "-",
        op.ratio ? ratio_text(op.ratio->p50) : "", op.ratio ? spread_text(*op.ratio) : "",
        fmt::format("{:+.{}f}", op.change / unit_.ns, unit_.decimals)};
    if (has_shares()) {
      texts.push_back(fmt::format("{:.1f}", 100 * op.change / comparison_.wall.change));
    }
    return texts;
  }

  static std::string row_numbers(const std::vector<size_t>& rows) {
    std::string text;
    for (const size_t row : rows) text += fmt::format("{}{}", text.empty() ? "" : ",", row + 1);
    return text.empty() ? "-" : text;
  }

  void write_rows() {
    using Kind = TextTable::Kind;
    TextTable table;
    table.add_column("#", Kind::kFigure);
    table.add_column("source op", Kind::kName);
    table.add_column("module", Kind::kTail);
    table.add_column("A ran in", Kind::kName);
    table.add_column("B ran in", Kind::kName);
    if (options_.ids) table.add_column("rows A : B", Kind::kName);
    for (const std::string& title :
         {fmt::format("A {}", unit_.name), fmt::format("B {}", unit_.name), std::string("B/A"),
          std::string("spread"), fmt::format("change {}", unit_.name)}) {
      table.add_column(title, Kind::kFigure);
    }
    if (has_shares()) table.add_column("share %", Kind::kFigure);
    const std::vector<bool> is_shown = among_largest();
    ComparedOp others;
    size_t num_others = 0;
    for (size_t i = 0; i < comparison_.ops.size(); ++i) {
      const ComparedOp& op = comparison_.ops[i];
      const ComparedTexts& texts = texts_[i];
      if (!is_shown[i]) {
        ++num_others;
        others.a.avg += op.a.avg;
        others.b.avg += op.b.avg;
        others.change += op.change;
        continue;
      }
      const std::string full = display_width(texts.op) > kLongOp ? texts.short_op : texts.op;
      std::vector<TextTable::Cell> cells = {std::to_string(i + 1),
                                            {full, texts.short_op},
                                            texts.module,
                                            texts.place_a,
                                            texts.place_b};
      if (options_.ids) {
        cells.emplace_back(row_numbers(op.rows_a) + " : " + row_numbers(op.rows_b));
      }
      for (std::string& figure : figures(op, !op.rows_a.empty(), !op.rows_b.empty())) {
        cells.emplace_back(std::move(figure));
      }
      table.add_row(std::move(cells), !op.is_aligned());
    }
    const size_t first_figure = size_t{5} + options_.ids;
    if (num_others != 0) {
      table.add_total({fmt::format("{} beyond the top", counted(num_others, "row"))}, 1,
                      figures(others, true, true), first_figure);
    }
    table.add_total({"unattributed"}, 1, figures(comparison_.unattributed, true, true),
                    first_figure);
    table.add_total({"wall"}, 1, figures(comparison_.wall, true, true), first_figure);
    out_ += table.text(width_, options_.color);
  }

  // ---- Sums

  // Positions of the `count` ops that changed most, largest first.
  std::vector<size_t> largest(size_t count) const {
    std::vector<size_t> order(comparison_.ops.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t one, size_t other) {
      return std::fabs(comparison_.ops[one].change) > std::fabs(comparison_.ops[other].change);
    });
    order.resize(std::min(order.size(), count));
    return order;
  }

  // By op; all of them without --top.
  std::vector<bool> among_largest() const {
    const size_t count = comparison_.ops.size();
    std::vector<bool> is_shown(count, options_.view.top == 0);
    for (const size_t i : largest(options_.view.top)) is_shown[i] = true;
    return is_shown;
  }

  void write_largest() {
    std::vector<std::string> parts;
    for (const size_t i : largest(kLargest)) {
      parts.push_back(fmt::format(
          "#{} {}{}{} {:+.{}f} {}", i + 1, texts_[i].short_op, texts_[i].module.empty() ? "" : " ",
          texts_[i].module, comparison_.ops[i].change / unit_.ns, unit_.decimals, unit_.name));
    }
    if (!parts.empty()) out_ += wrap("largest changes  ", parts, kBetween, width_);
    write_one_sided("only in A  ", &ComparedOp::rows_b, &ComparedOp::a);
    write_one_sided("only in B  ", &ComparedOp::rows_a, &ComparedOp::b);
  }

  void write_one_sided(std::string_view label, std::vector<size_t> ComparedOp::*missing,
                       TimeStatistics ComparedOp::*time) {
    size_t count = 0;
    double sum = 0;
    for (const ComparedOp& op : comparison_.ops) {
      if (!(op.*missing).empty()) continue;
      ++count;
      sum += (op.*time).avg;
    }
    if (count == 0) return;
    out_ += fmt::format("{}{} row{}, {}\n", label, count, count == 1 ? "" : "s",
                        unit_for(sum).with_name(sum));
  }

  const Comparison& comparison_;
  const Profile& a_;
  const Profile& b_;
  const TableOptions& options_;
  const size_t width_;
  const Unit unit_;
  std::vector<ComparedTexts> texts_;  // parallel to the ops
  std::string out_;
};

using Json = nlohmann::ordered_json;

Json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return nullptr;
  return {{"p50", ratio->p50}, {"low", ratio->low}, {"high", ratio->high}};
}

Json times_json(const ComparedOp& op) {
  return {{"a_ns", op.a.avg},
          {"b_ns", op.b.avg},
          {"a_p50_ns", op.a.p50},
          {"b_p50_ns", op.b.p50},
          {"ratio", ratio_json(op.ratio)},
          {"change_ns", op.change}};
}

}  // namespace

std::string report_comparison(const Comparison& comparison, const Profile& a, const Profile& b,
                              const TableOptions& options) {
  return ComparisonTable(comparison, a, b, options).report();
}

std::string report_comparison_json(const Comparison& comparison, const Profile& a,
                                   const Profile& b) {
  Json ops = Json::array();
  for (const ComparedOp& op : comparison.ops) {
    Json json = compared_json(op, compared_texts(op, a, b));
    json.update(times_json(op));
    ops.push_back(std::move(json));
  }
  const auto side = [](const Profile& profile, size_t used) {
    return Json{{"model", profile.run.model},
                {"method", profile.method},
                {"runs", profile.runs},
                {"runs_used", used}};
  };
  const Json json = {{"schema_version", kComparisonJsonVersion},
                     {"a", side(a, comparison.runs_a)},
                     {"b", side(b, comparison.runs_b)},
                     {"aligned_by", alignment_name(comparison.alignment)},
                     {"paired", comparison.is_paired},
                     {"wall", times_json(comparison.wall)},
                     {"ops", ops},
                     {"unattributed", times_json(comparison.unattributed)},
                     {"outputs", outputs_json(comparison.outputs)},
                     {"notes", comparison.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
