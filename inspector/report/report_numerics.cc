#include "inspector/report/report_numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;
using Figures = std::optional<TensorDifference>;

std::string db_text(double db) {
  return db == std::numeric_limits<double>::infinity() ? "same" : fmt::format("{:.1f}", db);
}

std::string db_text(const Figures& figures) { return figures ? db_text(figures->sqnr_db) : "-"; }

// "int8" for a value that the delegate stored quantized, else its dtype.
std::string stored_text(const NumericsRow& row) {
  if (!row.stored_as) return row.type.substr(0, row.type.find('['));
  return row.stored_as->dtype == ScalarType::kByte ? "uint8" : "int8";
}

std::string op_text(const NumericsRow& row, const RowTexts& texts) {
  const std::string& op = display_width(texts.op) > kLongOp ? texts.short_op : texts.op;
  return row.result == 0 ? op : fmt::format("{} [{}]", op, row.result);
}

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

  // All rows, or with --top those with the largest error made here.
  std::vector<size_t> shown_rows() const {
    std::vector<size_t> order(numerics_.rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (options_.view.top == 0 || options_.view.top >= order.size()) return order;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return sort_key(numerics_.rows[i]); });
    order.resize(options_.view.top);
    std::ranges::sort(order);
    return order;
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
    if (others != 0) out_ += fmt::format("{} beyond the top\n", counted(others, "operator value"));
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

  std::string name_of(size_t i) const {
    const std::string& module = texts_[i].module;
    return fmt::format("#{} {}{}{}", numerics_.rows[i].row + 1,
                       op_text(numerics_.rows[i], texts_[i]), module.empty() ? "" : " ", module);
  }

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
    } else {
      out_ += fmt::format("no operator makes an error below {}\n", limit);
    }
    if (!numerics_.first_not_finite) return;
    const NumericsRow& row = numerics_.rows[*numerics_.first_not_finite];
    out_ += wrap("first NaN or infinity  ",
                 {name_of(*numerics_.first_not_finite),
                  fmt::format("{} NaN and {} infinite of {}", row.nan, row.infinite,
                              counted(row.elements, "element"))},
                 kDot, width_);
  }

  // Lists the rows without an error made here by reason.
  void write_without_reference() {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for (size_t i = 0; i < numerics_.rows.size(); ++i) {
      const NumericsRow& row = numerics_.rows[i];
      if (row.made_here) continue;
      auto reason = std::ranges::find(by_reason, row.why_not_made_here,
                                      &decltype(by_reason)::value_type::first);
      if (reason == by_reason.end()) {
        reason = by_reason.insert(reason, {row.why_not_made_here, {}});
      }
      reason->second.push_back(name_of(i));
    }
    constexpr size_t kMaxNames = 4;
    for (auto& [reason, names] : by_reason) {
      const size_t count = names.size();
      if (count > kMaxNames + 1) {
        names.resize(kMaxNames);
        names.push_back(fmt::format("{} more", count - kMaxNames));
      }
      names.insert(names.begin(), printable(reason));
      out_ += wrap("not measured  ", names, kDot, width_);
    }
  }

  const Numerics& numerics_;
  const Profile& program_;
  const Profile& reference_;
  const TableOptions& options_;
  const size_t width_;
  std::vector<RowTexts> texts_;  // parallel to the rows of the numerics
  std::string out_;
};

// Numbers that are infinite or NaN become null.
Json finite_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json figures_json(const Figures& figures) {
  if (!figures) return nullptr;
  return {{"sqnr_db", finite_json(figures->sqnr_db)}, {"is_equal", figures->mismatches == 0},
          {"cosine", finite_json(figures->cosine)},   {"max_abs", finite_json(figures->max_abs)},
          {"max_abs_at", figures->max_abs_at},        {"max_rel", finite_json(figures->max_rel)},
          {"max_rel_at", figures->max_rel_at}};
}

std::string csv_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.9g}", value);
}

std::string figures_csv(const Figures& figures) {
  if (!figures) return ",,,";
  return fmt::format("{},{},{},{}", csv_number(figures->sqnr_db), csv_number(figures->cosine),
                     csv_number(figures->max_abs), csv_number(figures->max_rel));
}

Json index_json(const std::optional<size_t>& index) { return index ? Json(*index) : Json(); }

}  // namespace

std::string report_numerics(const Numerics& numerics, const Profile& program,
                            const Profile& reference, const TableOptions& options) {
  return NumericsTable(numerics, program, reference, options).report();
}

std::string report_numerics_csv(const Numerics& numerics, const Profile& program) {
  std::string csv = "row,result,op,module,ran_in,type,stored_as,scale,zero_point";
  for (const char* error : {"made_here", "inherited", "total"}) {
    csv += fmt::format(",{0}_sqnr_db,{0}_cosine,{0}_max_abs,{0}_max_rel", error);
  }
  csv += ",elements,saturated,nan,infinite,not_measured,worst_sample,worst_sqnr_db\r\n";
  for (const NumericsRow& row : numerics.rows) {
    const RowTexts texts = row_texts(program.rows[row.row]);
    const bool has_parameters = row.stored_as && row.stored_as->rows == 1;
    csv += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", row.row + 1, row.result,
        csv_cell(texts.op), csv_cell(texts.module), csv_cell(texts.place), csv_cell(row.type),
        stored_text(row), has_parameters ? fmt::format("{:.9g}", row.stored_as->scale) : "",
        has_parameters ? std::to_string(row.stored_as->zero_point) : "", figures_csv(row.made_here),
        figures_csv(row.inherited), figures_csv(row.total), row.elements, row.saturated, row.nan,
        row.infinite, csv_cell(row.why_not_made_here),
        row.worst ? csv_cell(numerics.samples[row.worst->sample]) : "",
        row.worst ? csv_number(row.worst->sqnr_db) : "");
  }
  return csv;
}

std::string report_numerics_json(const Numerics& numerics, const Profile& program,
                                 const Profile& reference) {
  Json rows = Json::array();
  for (const NumericsRow& row : numerics.rows) {
    const ProfileRow& of_program = program.rows[row.row];
    const RowTexts texts = row_texts(of_program);
    Json json = {{"row", row.row},
                 {"result", row.result},
                 {"op", texts.op},
                 {"module", texts.module},
                 {"ran_in", texts.place},
                 {"debug_handles", of_program.debug_handles},
                 {"lines", row.lines},
                 {"type", row.type},
                 {"stored_as", nullptr},
                 {"reference_rows", row.reference_rows},
                 {"made_here", figures_json(row.made_here)},
                 {"inherited", figures_json(row.inherited)},
                 {"total", figures_json(row.total)},
                 {"elements", row.elements},
                 {"saturated", row.saturated},
                 {"nan", row.nan},
                 {"infinite", row.infinite},
                 {"not_measured", row.why_not_made_here},
                 {"worst", nullptr}};
    if (row.worst) {
      json["worst"] = {{"sample", row.worst->sample}, {"sqnr_db", finite_json(row.worst->sqnr_db)}};
    }
    if (row.stored_as) {
      json["stored_as"] = {{"dtype", stored_text(row)},
                           {"rows", row.stored_as->rows},
                           {"scale", row.stored_as->scale},
                           {"zero_point", row.stored_as->zero_point}};
    }
    rows.push_back(std::move(json));
  }
  const auto side = [](const Profile& profile) {
    return Json{{"model", profile.run.model},
                {"method", profile.method},
                {"origin", origin_json(profile.run)},
                {"warnings", profile.run.warnings}};
  };
  const Json json = {{"schema_version", kNumericsJsonVersion},
                     {"program", side(program)},
                     {"reference", side(reference)},
                     {"samples", numerics.samples},
                     {"aligned_by", alignment_name(numerics.alignment)},
                     {"limit_db", numerics.limit_db},
                     {"first_below", index_json(numerics.first_below)},
                     {"first_not_finite", index_json(numerics.first_not_finite)},
                     {"rows", rows},
                     {"outputs", outputs_json(numerics.outputs)},
                     {"notes", numerics.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
