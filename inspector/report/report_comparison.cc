#include "inspector/report/report_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kLargest = 5;

class ComparisonTable {
 public:
  ComparisonTable(const Comparison& comparison, const Profile& a, const Profile& b,
                  const TableOptions& options)
      : comparison_(comparison),
        a_(a),
        b_(b),
        options_(options),
        width_(std::max(options.width, kMinWidth)),
        columns_(compared_columns(comparison)) {
    for (const ComparedOp& op : comparison.ops) texts_.push_back(compared_texts(op, a, b));
  }

  std::string report() {
    a_.queue.empty() ? write_head() : write_queue_head();
    out_ += '\n';
    write_rows();
    out_ += '\n';
    write_largest();
    out_ += output_lines(comparison_.outputs, width_);
    out_ += wrap_notes(comparison_.notes, width_);
    write_notes("A: ", a_);
    write_notes("B: ", b_);
    for (const ComparedQueue& queue : comparison_.queues) {
      const Profile &a = a_.queues[queue.a], &b = b_.queues[queue.b];
      out_ += "\n" + ComparisonTable(queue.comparison, a, b, options_).report();
    }
    return std::move(out_);
  }

 private:
  void write_head() {
    out_ += warning_lines("A: ", a_.run, width_) + warning_lines("B: ", b_.run, width_);
    write_side("A  ", a_, comparison_.runs_a);
    write_side("B  ", b_, comparison_.runs_b);
    out_ += origin_lines(a_.run, false, width_);
    out_ += wrap("wall p50  ", {verdict_line(comparison_)}, "", width_);
    out_ += wrap("",
                 {fmt::format("aligned by {}: {} of {} rows of A, {} of {} of B",
                              alignment_name(comparison_.alignment), comparison_.aligned_rows_a,
                              a_.rows.size(), comparison_.aligned_rows_b, b_.rows.size()),
                  comparison_.is_paired
                      ? "medians; B/A of adjacent runs of A and B, with its 95 % confidence "
                        "interval"
                      : "medians; B/A of all pairs of runs, with its 95 % confidence interval, "
                        "widened to include the middle 80 % of the ratios"},
                 kDot, width_);
  }

  void write_queue_head() {
    out_ += wrap("queue     ", {printable(a_.queue), "not part of the wall time"}, kDot, width_);
    out_ += wrap("sum p50   ", {verdict_line(comparison_)}, "", width_);
  }

  void write_notes(const std::string& label, const Profile& profile) {
    for (const std::string& note : profile.notes) out_ += wrap_notes({label + note}, width_);
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
    table.add_column("module", Kind::kPath);
    table.add_column("A ran in", Kind::kName, 2);
    table.add_column("B ran in", Kind::kName, 3);
    if (options_.ids) table.add_column("rows A : B", Kind::kName);
    columns_.add_to(table, "p50 ");
    const std::vector<bool> is_shown = among_largest();
    ComparedOp others;
    size_t num_others = 0;
    for (size_t i = 0; i < comparison_.ops.size(); ++i) {
      const ComparedOp& op = comparison_.ops[i];
      const ComparedTexts& texts = texts_[i];
      if (!is_shown[i]) {
        ++num_others;
        others.a.p50 += op.a.p50;
        others.b.p50 += op.b.p50;
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
      for (std::string& figure : columns_.figures(op, !op.rows_a.empty(), !op.rows_b.empty())) {
        cells.emplace_back(std::move(figure));
      }
      table.add_row(std::move(cells), !op.is_aligned());
    }
    const size_t first_figure = size_t{5} + options_.ids;
    if (num_others != 0) {
      table.add_total({fmt::format("{} not shown", counted(num_others, "row"))}, 1,
                      columns_.figures(others), first_figure);
    }
    if (a_.queue.empty()) {
      table.add_total({"unattributed"}, 1, columns_.figures(comparison_.unattributed),
                      first_figure);
    }
    table.add_total({a_.queue.empty() ? "wall" : "sum"}, 1, columns_.figures(comparison_.wall),
                    first_figure);
    out_ += table.text(width_, options_.color);
  }

  // Returns the indices of the `count` ops that changed most, largest change first.
  std::vector<size_t> largest(size_t count) const {
    std::vector<size_t> order(comparison_.ops.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t one, size_t other) {
      return std::fabs(comparison_.ops[one].change) > std::fabs(comparison_.ops[other].change);
    });
    order.resize(std::min(order.size(), count));
    return order;
  }

  // Returns true for each op that the report shows. Without --top, the report shows all ops.
  std::vector<bool> among_largest() const {
    const size_t count = comparison_.ops.size();
    std::vector<bool> is_shown(count, options_.view.top == 0);
    for (const size_t i : largest(options_.view.top)) is_shown[i] = true;
    return is_shown;
  }

  // Lists the ops with the largest changes, except aligned ops that are neither faster nor slower.
  // Then gives the number and the total time of the ops that only one side has.
  void write_largest() {
    std::vector<std::string> parts;
    for (const size_t i : largest(comparison_.ops.size())) {
      if (parts.size() == kLargest) break;
      if (comparison_.ops[i].is_aligned() && !is_changed(comparison_.ops[i])) continue;
      parts.push_back(fmt::format("#{} {}{}{} {:+.{}f} {}", i + 1, texts_[i].short_op,
                                  texts_[i].module.empty() ? "" : " ", texts_[i].module,
                                  comparison_.ops[i].change / columns_.unit.ns,
                                  columns_.unit.decimals, columns_.unit.name));
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
      sum += (op.*time).p50;
    }
    if (count == 0) return;
    const Unit unit = comparison_.has_ticks ? unit_for_ticks(sum) : unit_for(sum);
    out_ +=
        fmt::format("{}{} row{}, {}\n", label, count, count == 1 ? "" : "s", unit.with_name(sum));
  }

  const Comparison& comparison_;
  const Profile& a_;
  const Profile& b_;
  const TableOptions& options_;
  const size_t width_;
  const ComparedColumns columns_;
  std::vector<ComparedTexts> texts_;  // parallel to the ops
  std::string out_;
};

using Json = nlohmann::ordered_json;

}  // namespace

std::string report_comparison(const Comparison& comparison, const Profile& a, const Profile& b,
                              const TableOptions& options) {
  return ComparisonTable(comparison, a, b, options).report();
}

namespace {

Json comparison_json(const Comparison& comparison, const Profile& a, const Profile& b) {
  Json ops = Json::array();
  for (const ComparedOp& op : comparison.ops) {
    Json json = compared_json(op, compared_texts(op, a, b));
    json.update(compared_times_json(op));
    ops.push_back(std::move(json));
  }
  const auto side = [](const Profile& profile, size_t used) {
    return Json{{"model", profile.run.model},
                {"method", profile.method},
                {"runs", profile.runs},
                {"runs_used", used},
                {"origin", origin_json(profile.run)},
                {"warnings", profile.run.warnings}};
  };
  Json queues = Json::array();
  for (const ComparedQueue& queue : comparison.queues) {
    Json json = comparison_json(queue.comparison, a.queues[queue.a], b.queues[queue.b]);
    json["queue"] = a.queues[queue.a].queue;
    json["unit"] = queue.comparison.has_ticks ? "ticks" : "ns";
    queues.push_back(std::move(json));
  }
  return Json{{"schema_version", kComparisonJsonVersion},
              {"a", side(a, comparison.runs_a)},
              {"b", side(b, comparison.runs_b)},
              {"aligned_by", alignment_name(comparison.alignment)},
              {"paired", comparison.is_paired},
              {"wall", compared_times_json(comparison.wall)},
              {"ops", ops},
              {"unattributed", compared_times_json(comparison.unattributed)},
              {"outputs", outputs_json(comparison.outputs)},
              {"queues", queues},
              {"notes", comparison.notes}};
}

}  // namespace

std::string report_comparison_json(const Comparison& comparison, const Profile& a,
                                   const Profile& b) {
  return comparison_json(comparison, a, b).dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace vitrine::inspector
