#include "inspector/report/report_numerics_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/fill_page.h"
#include "inspector/report/html/page_text.h"
#include "inspector/report/numerics_json.h"
#include "inspector/report/numerics_texts.h"
#include "inspector/report/run_texts.h"
#include "inspector/report/top_rows.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

const NumericsRow* row_of(const NumericsSide& side, const std::optional<size_t>& index) {
  return index ? &side.numerics.rows[*index] : nullptr;
}

// The texts for a pair's op: A's texts, or B's texts if the pair does not have a row of A.
struct PairTexts {
  PairTexts(const NumericsPair& pair, const NumericsSide& a, const NumericsSide& b)
      : side(pair.a ? a : b),
        row(side.numerics.rows[pair.a ? *pair.a : *pair.b]),
        texts(row_texts(side.program.rows[row.row])) {}

  const NumericsSide& side;
  const NumericsRow& row;
  RowTexts texts;
};

// Returns the absolute difference between the total SQNRs of A and B in dB. Returns 0 if the SQNRs
// are equal, even if both are infinite, or if either is missing. Returns infinity if either is NaN.
double change_of(const NumericsRow* a, const NumericsRow* b) {
  if (a == nullptr || b == nullptr || !a->total || !b->total) return 0;
  const double change = std::abs(a->total->sqnr_db - b->total->sqnr_db);
  if (a->total->sqnr_db == b->total->sqnr_db) return 0;
  return std::isnan(change) ? std::numeric_limits<double>::infinity() : change;
}

std::string row_number(const NumericsRow* row) {
  return row == nullptr ? "-" : std::to_string(row->row + 1);
}

class NumericsComparisonTable {
 public:
  NumericsComparisonTable(const NumericsComparison& comparison, const NumericsSide& a,
                          const NumericsSide& b, const Profile& reference,
                          const TableOptions& options)
      : comparison_(comparison),
        a_(a),
        b_(b),
        reference_(reference),
        options_(options),
        width_(std::max(options.width, kMinWidth)) {}

  std::string report() {
    out_ += warning_lines("A: ", a_.program.run, width_);
    out_ += warning_lines("B: ", b_.program.run, width_);
    out_ += warning_lines("reference: ", reference_.run, width_);
    out_ += side_line("A          ", a_.program, {}, width_);
    out_ += side_line("B          ", b_.program, {}, width_);
    out_ += side_line("reference  ", reference_, {}, width_);
    out_ += origin_lines(a_.program.run, false, width_);
    const auto both = std::ranges::count_if(
        comparison_.pairs, [](const NumericsPair& pair) { return pair.a && pair.b; });
    out_ += wrap("",
                 {fmt::format("aligned by the reference's values: {} in both A and B",
                              counted(static_cast<size_t>(both), "operator value")),
                  fmt::format("without a reference value: {} of A, {} of B",
                              comparison_.unaligned_a, comparison_.unaligned_b)},
                 kDot, width_);
    out_ += '\n';
    write_pairs();
    write_verdict("A", a_);
    write_verdict("B", b_);
    write_outputs("A  ", a_);
    write_outputs("B  ", b_);
    write_notes("A: ", a_);
    write_notes("B: ", b_);
    return std::move(out_);
  }

 private:
  std::vector<size_t> shown_pairs() const {
    return top_rows(comparison_.pairs.size(), options_.view.top, [&](size_t i) {
      const NumericsPair& pair = comparison_.pairs[i];
      return -change_of(row_of(a_, pair.a), row_of(b_, pair.b));
    });
  }

  void write_pairs() {
    using Kind = TextTable::Kind;
    TextTable table;
    table.add_column("#A", Kind::kFigure);
    table.add_column("#B", Kind::kFigure);
    table.add_column("source op", Kind::kName);
    table.add_column("module", Kind::kTail);
    table.add_column("A as", Kind::kName, 2);
    table.add_column("B as", Kind::kName, 2);
    for (const char* title : {"A here", "B here", "A total", "B total"}) {
      table.add_column(title, Kind::kFigure);
    }
    const std::vector<size_t> shown = shown_pairs();
    for (const size_t i : shown) add_pair(table, comparison_.pairs[i]);
    out_ += table.text(width_, options_.color);
    const size_t others = comparison_.pairs.size() - shown.size();
    if (others != 0) out_ += fmt::format("{} not shown\n", counted(others, "operator value"));
    out_ += '\n';
  }

  void add_pair(TextTable& table, const NumericsPair& pair) const {
    const PairTexts name(pair, a_, b_);
    const NumericsRow* rows[] = {row_of(a_, pair.a), row_of(b_, pair.b)};
    std::vector<TextTable::Cell> cells = {row_number(rows[0]),
                                          row_number(rows[1]),
                                          {op_text(name.row, name.texts), name.texts.short_op},
                                          name.texts.module};
    for (const NumericsRow* row : rows) cells.emplace_back(row == nullptr ? "" : stored_text(*row));
    for (const NumericsRow* row : rows) {
      cells.emplace_back(row == nullptr ? "-" : db_text(row->made_here));
    }
    for (const NumericsRow* row : rows) {
      cells.emplace_back(row == nullptr ? "-" : db_text(row->total));
    }
    table.add_row(std::move(cells), is_first(pair.a, a_) || is_first(pair.b, b_));
  }

  static bool is_first(const std::optional<size_t>& row, const NumericsSide& side) {
    return row && row == side.numerics.first_below;
  }

  void write_verdict(const char* label, const NumericsSide& side) {
    const Numerics& numerics = side.numerics;
    const auto name = [&](size_t i) {
      const NumericsRow& row = numerics.rows[i];
      return row_name(row, row_texts(side.program.rows[row.row]));
    };
    const std::string limit = fmt::format("{:.4g} dB", numerics.limit_db);
    if (numerics.first_below) {
      const NumericsRow& row = numerics.rows[*numerics.first_below];
      std::vector<std::string> parts = {name(*numerics.first_below),
                                        "made here " + db_text(row.made_here) + " dB"};
      for (const std::string& line : row.lines) parts.push_back(printable(line));
      out_ += wrap(fmt::format("{}  first below {}  ", label, limit), parts, kDot, width_);
    } else if (!has_measured_operator(numerics)) {
      out_ += fmt::format("{}  no operator was measured: only the outputs were compared\n", label);
    } else {
      out_ += fmt::format("{}  no operator's own SQNR is below {}\n", label, limit);
    }
    if (!numerics.first_not_finite) return;
    out_ += fmt::format("{}  first NaN or infinity  {}\n", label, name(*numerics.first_not_finite));
  }

  void write_outputs(const char* label, const NumericsSide& side) {
    for (const OutputDifference& output : side.numerics.outputs) {
      out_ += wrap(label, output_facts(output), kDot, width_);
    }
  }

  void write_notes(const char* label, const NumericsSide& side) {
    for (const std::string& note : side.numerics.notes) out_ += wrap_notes({label + note}, width_);
  }

  const NumericsComparison& comparison_;
  const NumericsSide& a_;
  const NumericsSide& b_;
  const Profile& reference_;
  const TableOptions& options_;
  const size_t width_;
  std::string out_;
};

std::string side_csv(const NumericsRow* row) {
  if (row == nullptr) return ",,,";
  return fmt::format("{},{},{},{}", row->row + 1, stored_text(*row), sqnr_csv(row->made_here),
                     sqnr_csv(row->total));
}

Json side_json(const NumericsRow* row, const NumericsSide& side) {
  if (row == nullptr) return nullptr;
  return {{"row", row->row},
          {"result", row->result},
          {"type", row->type},
          {"stored_as", stored_text(*row)},
          {"made_here", figures_json(row->made_here)},
          {"inherited", figures_json(row->inherited)},
          {"total", figures_json(row->total)},
          {"not_measured", row->why_not_made_here},
          {"time_ns", time_json(side.timed, side.program, row->row)}};
}

Json summary_json(const NumericsSide& side) {
  const auto first = [&](const std::optional<size_t>& index) {
    return index ? Json(side.numerics.rows[*index].row) : Json();
  };
  Json json = program_json(side.program);
  json["first_below_row"] = first(side.numerics.first_below);
  json["first_not_finite_row"] = first(side.numerics.first_not_finite);
  json["timed_runs"] = side.timed == nullptr ? Json() : Json(side.timed->runs);
  json["outputs"] = outputs_json(side.numerics.outputs);
  json["notes"] = side.numerics.notes;
  return json;
}

// Adds the names of rows, which only the page shows.
void add_page_texts(Json& json, const NumericsSide& side) {
  constexpr size_t kShownNames = 12;  // maximum number of names for each reason
  const auto name = [&](size_t i) {
    const NumericsRow& row = side.numerics.rows[i];
    return row_name(row, row_texts(side.program.rows[row.row]));
  };
  const auto first = [&](const std::optional<size_t>& i) { return i ? Json(name(*i)) : Json(); };
  json["names"] = {{"first_below", first(side.numerics.first_below)},
                   {"first_not_finite", first(side.numerics.first_not_finite)}};
  json["without_figures"] = Json::array();
  for (const auto& [reason, rows] : rows_without_figures(side.numerics)) {
    Json names = Json::array();
    for (size_t i = 0; i < std::min(rows.size(), kShownNames); ++i) names.push_back(name(rows[i]));
    json["without_figures"].push_back({reason, names, rows.size()});
  }
}

}  // namespace

std::string report_numerics_comparison(const NumericsComparison& comparison, const NumericsSide& a,
                                       const NumericsSide& b, const Profile& reference,
                                       const TableOptions& options) {
  return NumericsComparisonTable(comparison, a, b, reference, options).report();
}

std::string report_numerics_comparison_csv(const NumericsComparison& comparison,
                                           const NumericsSide& a, const NumericsSide& b) {
  std::string csv = "op,module";
  for (const char* side : {"a", "b"}) {
    csv += fmt::format(",{0}_row,{0}_stored_as,{0}_made_here_sqnr_db,{0}_total_sqnr_db", side);
  }
  csv += "\r\n";
  for (const NumericsPair& pair : comparison.pairs) {
    const PairTexts name(pair, a, b);
    csv += fmt::format("{},{},{},{}\r\n", csv_cell(name.texts.op), csv_cell(name.texts.module),
                       side_csv(row_of(a, pair.a)), side_csv(row_of(b, pair.b)));
  }
  return csv;
}

Json numerics_comparison_json(const NumericsComparison& comparison, const NumericsSide& a,
                              const NumericsSide& b, const Profile& reference) {
  Json rows = Json::array();
  for (const NumericsPair& pair : comparison.pairs) {
    const PairTexts name(pair, a, b);
    rows.push_back({{"op", name.texts.op},
                    {"module", name.texts.module},
                    {"lines", name.row.lines},
                    {"a", side_json(row_of(a, pair.a), a)},
                    {"b", side_json(row_of(b, pair.b), b)}});
  }
  return {{"schema_version", kNumericsComparisonJsonVersion},
          {"a", summary_json(a)},
          {"b", summary_json(b)},
          {"reference", program_json(reference)},
          {"samples", a.numerics.samples},
          {"limit_db", a.numerics.limit_db},
          {"rows", rows},
          {"unaligned_a", comparison.unaligned_a},
          {"unaligned_b", comparison.unaligned_b}};
}

std::string report_numerics_comparison_json(const NumericsComparison& comparison,
                                            const NumericsSide& a, const NumericsSide& b,
                                            const Profile& reference) {
  return numerics_comparison_json(comparison, a, b, reference)
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string report_numerics_comparison_html(const NumericsComparison& comparison,
                                            const NumericsSide& a, const NumericsSide& b,
                                            const Profile& reference) {
  Json data = numerics_comparison_json(comparison, a, b, reference);
  for (size_t i = 0; i < comparison.pairs.size(); ++i) {
    const PairTexts name(comparison.pairs[i], a, b);
    RowTexts texts = name.texts;
    texts.op = texts.short_op;
    data["rows"][i]["name"] = op_text(name.row, texts);
  }
  add_page_texts(data["a"], a);
  add_page_texts(data["b"], b);
  const std::string json = without_tags(data.dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string style = std::string(html::kStyle).append(html::kNumericsStyle);
  const std::string script =
      std::string(html::kElements).append(html::kDepthChart).append(html::kNumericsPairScript);
  return fill_page(html::kNumericsPairPage,
                   {{"{{style}}", style}, {"{{data}}", json}, {"{{script}}", script}});
}

}  // namespace vitrine::inspector
