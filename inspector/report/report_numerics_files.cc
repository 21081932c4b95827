#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "inspector/report/comparison_texts.h"
#include "inspector/report/csv_cell.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/numerics_json.h"
#include "inspector/report/numerics_texts.h"
#include "inspector/report/report_numerics.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;
using Figures = std::optional<TensorDifference>;

// Numbers that are infinite or NaN become null.
Json finite_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

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

Json time_json(const Profile* timed, const Profile& program, size_t row) {
  if (timed == nullptr || timed->rows.size() != program.rows.size()) return nullptr;
  const ProfileRow& one = timed->rows[row];
  const ProfileRow& other = program.rows[row];
  const bool is_same = one.instruction == other.instruction && one.identifier == other.identifier &&
                       one.kernel == other.kernel;
  return is_same ? Json(timed->typical(one.time)) : Json();
}

Json figures_json(const Figures& figures) {
  if (!figures) return nullptr;
  return {{"sqnr_db", finite_json(figures->sqnr_db)}, {"is_equal", figures->mismatches == 0},
          {"cosine", finite_json(figures->cosine)},   {"max_abs", finite_json(figures->max_abs)},
          {"max_abs_at", figures->max_abs_at},        {"max_rel", finite_json(figures->max_rel)},
          {"max_rel_at", figures->max_rel_at}};
}

std::string sqnr_csv(const Figures& figures) { return figures ? csv_number(figures->sqnr_db) : ""; }

Json program_json(const Profile& profile) {
  return {{"model", profile.run.model},
          {"method", profile.method},
          {"origin", origin_json(profile.run)},
          {"warnings", profile.run.warnings}};
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

nlohmann::ordered_json numerics_json(const Numerics& numerics, const Profile& program,
                                     const Profile& reference, const Profile* timed) {
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
                 {"time_ns", time_json(timed, program, row.row)},
                 {"bytes", of_program.cost ? Json(of_program.cost->bytes) : Json()},
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
  return {{"schema_version", kNumericsJsonVersion},
          {"program", program_json(program)},
          {"reference", program_json(reference)},
          {"samples", numerics.samples},
          {"aligned_by", alignment_name(numerics.alignment)},
          {"limit_db", numerics.limit_db},
          {"timed_runs", timed == nullptr ? Json() : Json(timed->runs)},
          {"first_below", index_json(numerics.first_below)},
          {"first_not_finite", index_json(numerics.first_not_finite)},
          {"rows", rows},
          {"outputs", outputs_json(numerics.outputs)},
          {"notes", numerics.notes}};
}

std::string report_numerics_json(const Numerics& numerics, const Profile& program,
                                 const Profile& reference, const Profile* timed) {
  return numerics_json(numerics, program, reference, timed)
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace vitrine::inspector
