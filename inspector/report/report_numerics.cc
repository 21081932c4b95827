#include "inspector/report/report_numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/numerics_texts.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"
#include "inspector/report/top_rows.h"

namespace vitrine::inspector {
namespace {

using Figures = std::optional<TensorDifference>;

double sort_key(const NumericsRow& row) {
  if (!row.made_here) return std::numeric_limits<double>::infinity();
  const double db = row.made_here->sqnr_db;
  return std::isnan(db) ? -std::numeric_limits<double>::infinity() : db;
}

class NumericsTable {
 public:
  NumericsTable(const Numerics& numerics, const Profile& program, const Profile& reference,
                const TableOptions& options)
      : numerics_(numerics),
        program_(program),
        reference_(reference),
        options_(options),
        width_(std::max(options.width, kMinWidth)) {
    for (const NumericsRow& row : numerics.rows) {
      texts_.push_back(row_texts(program.rows[row.row]));
    }
  }

  std::string report() {
    out_ += warning_lines("", program_.run, width_) +
            warning_lines("reference: ", reference_.run, width_);
    out_ += side_line("program    ", program_, {}, width_);
    out_ += side_line("reference  ", reference_, {}, width_);
    out_ += origin_lines(program_.run, false, width_);
    const auto measured = std::ranges::count_if(
        numerics_.rows, [](const NumericsRow& row) { return row.made_here.has_value(); });
    out_ += wrap("",
                 {fmt::format("aligned by {}", alignment_name(numerics_.alignment)),
                  fmt::format("measured {} of {}", measured,
                              counted(numerics_.rows.size(), "operator value"))},
                 kDot, width_);
    out_ += '\n';
    write_rows();
    write_verdict();
    write_without_reference();
    out_ += output_lines(numerics_.outputs, width_);
    out_ += wrap_notes(numerics_.notes, width_);
    return std::move(out_);
  }

 private:
  bool has_samples() const { return !numerics_.samples.empty(); }

  // Returns all rows or, with --top, the rows whose own error (made_here) is largest.
  std::vector<size_t> shown_rows() const {
    return top_rows(numerics_.rows.size(), options_.view.top,
                    [&](size_t i) { return sort_key(numerics_.rows[i]); });
  }

  void write_rows() {
    using Kind = TextTable::Kind;
    TextTable table;
    table.add_column("#", Kind::kFigure);
    table.add_column("source op", Kind::kName);
    table.add_column("module", Kind::kTail);
    table.add_column("ran in", Kind::kName, true);
    table.add_column("as", Kind::kName);
    table.add_column("here dB", Kind::kFigure);
    if (has_samples()) {
      table.add_column("worst", Kind::kFigure);
      table.add_column("sample", Kind::kFigure);
    }
    for (const char* title : {"inherited", "total dB", "max diff", "sat. %"}) {
      table.add_column(title, Kind::kFigure);
    }
    const std::vector<size_t> shown = shown_rows();
    for (const size_t i : shown) add_row(table, i);
    out_ += table.text(width_, options_.color);
    const size_t others = numerics_.rows.size() - shown.size();
    if (others != 0) out_ += fmt::format("{} not shown\n", counted(others, "operator value"));
    out_ += '\n';
  }

  void add_row(TextTable& table, size_t i) const {
    const NumericsRow& row = numerics_.rows[i];
    const RowTexts& texts = texts_[i];
    const Figures& shown = row.made_here ? row.made_here : row.total;
    const double share =
        row.elements == 0 ? 0
                          : static_cast<double>(row.saturated) / static_cast<double>(row.elements);
    std::vector<TextTable::Cell> cells = {std::to_string(row.row + 1),
                                          {op_text(row, texts), texts.short_op},
                                          texts.module,
                                          texts.place,
                                          stored_text(row),
                                          db_text(row.made_here)};
    if (has_samples()) {
      cells.emplace_back(row.worst ? db_text(row.worst->sqnr_db) : "");
      cells.emplace_back(row.worst ? std::to_string(row.worst->sample) : "");
    }
    cells.emplace_back(db_text(row.inherited));
    cells.emplace_back(db_text(row.total));
    cells.emplace_back(shown ? fmt::format("{:.2g}", shown->max_abs) : "");
    cells.emplace_back(row.saturated == 0 ? "" : fmt::format("{:.2g}", 100 * share));
    table.add_row(std::move(cells), numerics_.first_below == i);
  }

  std::string name_of(size_t i) const { return row_name(numerics_.rows[i], texts_[i]); }

  void write_verdict() {
    const std::string limit = fmt::format("{:.4g} dB", numerics_.limit_db);
    if (numerics_.first_below) {
      const NumericsRow& row = numerics_.rows[*numerics_.first_below];
      std::vector<std::string> parts = {name_of(*numerics_.first_below),
                                        "made here " + db_text(row.made_here) + " dB"};
      if (row.worst) {
        parts.push_back(fmt::format("worst {} dB in {}", db_text(row.worst->sqnr_db),
                                    printable(numerics_.samples[row.worst->sample])));
      }
      for (const std::string& line : row.lines) parts.push_back(printable(line));
      out_ += wrap(fmt::format("first below {}  ", limit), parts, kDot, width_);
    } else if (!has_measured_operator(numerics_)) {
      out_ += "no operator was measured: only the outputs were compared\n";
    } else {
      out_ += fmt::format("no operator's own SQNR is below {}\n", limit);
    }
    if (!numerics_.first_not_finite) return;
    const NumericsRow& row = numerics_.rows[*numerics_.first_not_finite];
    out_ += wrap("first NaN or infinity  ",
                 {name_of(*numerics_.first_not_finite),
                  fmt::format("{} NaN and {} infinite of {}", row.nan, row.infinite,
                              counted(row.elements, "element"))},
                 kDot, width_);
  }

  // Lists the rows whose own error (made_here) is missing, by reason.
  void write_without_reference() {
    constexpr size_t kMaxNames = 4;
    for (const auto& [reason, rows] : rows_without_figures(numerics_)) {
      std::vector<std::string> parts;
      for (const size_t row : rows) parts.push_back(name_of(row));
      parts = first_names(std::move(parts), kMaxNames);
      parts.insert(parts.begin(), printable(reason));
      out_ += wrap("not measured  ", parts, kDot, width_);
    }
  }

  const Numerics& numerics_;
  const Profile& program_;
  const Profile& reference_;
  const TableOptions& options_;
  const size_t width_;
  std::vector<RowTexts> texts_;  // parallel to Numerics::rows
  std::string out_;
};

}  // namespace

std::string report_numerics(const Numerics& numerics, const Profile& program,
                            const Profile& reference, const TableOptions& options) {
  return NumericsTable(numerics, program, reference, options).report();
}

}  // namespace vitrine::inspector
