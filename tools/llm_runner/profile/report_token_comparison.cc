#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "tools/llm_runner/profile/token_comparison.h"

namespace vitrine::llm {
namespace {

using inspector::printable;
using inspector::TextTable;
using inspector::unit_for;
using Json = nlohmann::ordered_json;

std::string with_unit(double ns) { return unit_for(ns).with_name(ns); }

class TokenComparisonTable {
 public:
  TokenComparisonTable(const TokenComparison& comparison, const inspector::TableOptions& options)
      : comparison_(comparison),
        options_(options),
        width_(std::max(options.width, inspector::kMinWidth)) {}

  std::string report() {
    write_side("A  ", comparison_.a);
    write_side("B  ", comparison_.b);
    if (comparison_.tokens.wall.ratio) {
      out_ += inspector::wrap("decode p50  ", {inspector::verdict_line(comparison_.tokens)}, "",
                              width_);
    }
    out_ += fmt::format("rows matched by {}; times are per token\n", comparison_.matched_by);
    for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) write_phase(phase);
    if (!comparison_.notes.empty()) out_ += '\n';
    out_ += inspector::wrap_notes(comparison_.notes, width_);
    return std::move(out_);
  }

 private:
  void write_side(const char* label, const SavedTokens& side) {
    out_ += inspector::wrap(label, side_facts(side), inspector::kDot, width_);
    out_ += inspector::wrap("   ", side_speeds(side), inspector::kDot, width_);
  }

  void write_phase(Phase which) {
    const auto phase = static_cast<size_t>(which);
    const ComparedTokens& wall = comparison_.wall;
    out_ += '\n';
    if (wall.a[phase] <= 0 || wall.b[phase] <= 0) {
      out_ += fmt::format("{}: missing from one profile or both\n", phase_name(which));
      return;
    }
    using Kind = TextTable::Kind;
    const inspector::ComparedColumns columns = {
        .unit = inspector::unit_for_rows(std::min(wall.a[phase], wall.b[phase])),
        .wall_change = wall.change(phase)};
    TextTable table;
    const bool is_by_op = comparison_.matched_by.starts_with("op");
    table.add_column(phase_name(which), is_by_op ? Kind::kName : Kind::kPath);
    table.add_column("rows A : B", Kind::kFigure, inspector::ComparedColumns::kShareRank + 1);
    columns.add_to(table, "");
    const auto texts = [&](const ComparedTokens& row) {
      return columns.figures(compared_op(row, phase), row.rows_a != 0, row.rows_b != 0);
    };
    ComparedTokens others;
    size_t count = 0;
    for (const size_t i : order_by_change(comparison_, phase)) {
      const ComparedTokens& row = comparison_.rows[i];
      if (options_.view.top != 0 && count++ >= options_.view.top) {
        merge(row, phase, others);
        continue;
      }
      std::vector<TextTable::Cell> cells = {printable(row.name),
                                            fmt::format("{} : {}", row.rows_a, row.rows_b)};
      for (std::string& figure : texts(row)) cells.emplace_back(std::move(figure));
      table.add_row(std::move(cells), row.rows_a == 0 || row.rows_b == 0);
    }
    const auto total = [&](const std::string& label, const ComparedTokens& row) {
      table.add_total({label}, 0, texts(row), 2);
    };
    if (others.rows_a + others.rows_b != 0) total("not shown", others);
    for (const ComparedTokens& row : comparison_.outside) {
      if (row.a[phase] != 0 || row.b[phase] != 0) total(row.name, row);
    }
    total(wall.name, wall);
    out_ += table.text(width_, options_.color);
  }

  static void merge(const ComparedTokens& row, size_t phase, ComparedTokens& others) {
    others.rows_a += row.rows_a;
    others.rows_b += row.rows_b;
    others.a[phase] += row.a[phase];
    others.b[phase] += row.b[phase];
  }

  const TokenComparison& comparison_;
  const inspector::TableOptions& options_;
  size_t width_;
  std::string out_;
};

Json side_json(const SavedTokens& side) {
  Json json = {{"file", side.label},
               {"model", side.model},
               {"method", side.method},
               {"record", side.record},
               {"max_context", side.max_context},
               {"first_token_ns", side.first_token_ns}};
  if (side.threads) json["threads"] = *side.threads;
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const auto which = static_cast<size_t>(phase);
    json["phases"][phase_name(phase)] = {{"steps", side.steps[which]},
                                         {"tokens", side.tokens[which]},
                                         {"wall_ns", side.wall.ns[which]}};
  }
  return json;
}

Json compared_json(const ComparedTokens& row, size_t phase) {
  return {{"name", row.name},     {"rows_a", row.rows_a}, {"rows_b", row.rows_b},
          {"a_ns", row.a[phase]}, {"b_ns", row.b[phase]}, {"change_ns", row.change(phase)}};
}

}  // namespace

std::vector<size_t> order_by_change(const TokenComparison& comparison, size_t phase) {
  const std::vector<ComparedTokens>& rows = comparison.rows;
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return rows[i].a[phase] == 0 && rows[i].b[phase] == 0; });
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t i) { return std::fabs(rows[i].change(phase)); });
  return order;
}

inspector::ComparedOp compared_op(const ComparedTokens& row, size_t phase) {
  inspector::ComparedOp op;
  op.change = row.change(phase);
  op.a.p50 = row.a[phase];
  op.b.p50 = row.b[phase];
  if (op.a.p50 > 0 && op.b.p50 > 0) op.ratio = inspector::Ratio{.p50 = op.b.p50 / op.a.p50};
  return op;
}

std::vector<std::string> side_facts(const SavedTokens& side) {
  std::vector<std::string> facts = {printable(side.label), printable(side.model),
                                    printable(side.method)};
  if (side.threads) {
    facts.push_back(inspector::counted(static_cast<size_t>(*side.threads), "thread"));
  }
  facts.push_back(fmt::format("context {}", side.max_context));
  facts.push_back("names: " + (side.record.empty() ? std::string("from the program alone")
                                                   : printable(side.record)));
  return facts;
}

std::vector<std::string> side_speeds(const SavedTokens& side) {
  std::vector<std::string> speeds = {"time to first token " + with_unit(side.first_token_ns)};
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const auto which = static_cast<size_t>(phase);
    if (side.wall.ns[which] <= 0) continue;
    const auto tokens = static_cast<double>(side.tokens[which]);
    speeds.push_back(
        fmt::format("{} {}, {:.0f} tokens/s", phase_name(phase),
                    inspector::counted(static_cast<size_t>(side.tokens[which]), "token"),
                    tokens * 1e9 / side.wall.ns[which]));
  }
  if (side.steps[kDecode] > 0) {
    speeds.push_back(
        fmt::format("p50 {}, p99 {}", with_unit(side.token_p50), with_unit(side.token_p99)));
  }
  return speeds;
}

std::string report_token_comparison(const TokenComparison& comparison,
                                    const inspector::TableOptions& options) {
  return TokenComparisonTable(comparison, options).report();
}

std::string report_token_comparison_json(const TokenComparison& comparison) {
  Json json = {{"version", kTokenComparisonJsonVersion},
               {"a", side_json(comparison.a)},
               {"b", side_json(comparison.b)},
               {"matched_by", comparison.matched_by},
               {"decode_is_over_usual_tokens", comparison.is_over_usual},
               {"decode_token", inspector::compared_times_json(comparison.tokens.wall)}};
  for (const Phase which : {Phase::kPrefill, Phase::kDecode}) {
    const auto phase = static_cast<size_t>(which);
    Json& to = json["phases"][phase_name(which)];
    to["rows"] = Json::array();
    for (const size_t i : order_by_change(comparison, phase)) {
      to["rows"].push_back(compared_json(comparison.rows[i], phase));
    }
    to["outside"] = Json::array();
    for (const ComparedTokens& row : comparison.outside) {
      to["outside"].push_back(compared_json(row, phase));
    }
    to["wall"] = compared_json(comparison.wall, phase);
  }
  json["notes"] = comparison.notes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace vitrine::llm
