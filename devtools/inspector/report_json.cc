#include "devtools/inspector/report_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace vitrine::inspector {
namespace {

// Members in the order in which they are written here.
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> kWhere = {"delegate", "kernel", "control"};
constexpr std::array<const char*, 3> kJoin = {"exact", "inferred", "none"};

template <class T, size_t n>
const char* name_of(const std::array<const char*, n>& names, T value) {
  return names.at(static_cast<size_t>(value));
}

// Picoseconds are enough, and 12 digits behind the point are noise.
double ns(double value) { return std::round(value * 1000) / 1000; }

Json statistics(const TimeStatistics& time) {
  return {{"min", ns(time.min)},
          {"p50", ns(time.p50)},
          {"p90", ns(time.p90)},
          {"max", ns(time.max)},
          {"avg", ns(time.avg)}};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Whole numbers without a point.
Json calls(double value) {
  const double rounded = std::round(value);
  return value == rounded ? Json(static_cast<int64_t>(rounded)) : Json(value);
}

Json row_json(const ProfileRow& row) {
  const bool is_delegate = row.where == Where::kDelegate;
  Json json = {{"where", name_of(kWhere, row.where)},
               {"delegate", text_or_null(row.delegate)},
               {"partition", is_delegate ? Json(row.partition) : Json(nullptr)},
               {"instruction", row.instruction},
               {"identifier", text_or_null(row.identifier)},
               {"kernel", row.kernel},
               {"library", text_or_null(row.library)},
               {"join", name_of(kJoin, row.join)},
               {"source_ops", row.source_ops},
               {"main_op", row.source_ops.empty() ? Json(nullptr) : Json(row.main_op)},
               {"folded_ops", row.folded_ops}};
  if (row.is_inserted) {
    json["inserted_for"] = row.inserted_for;
    json["inserted_for_row"] = or_null(row.inserted_for_row);
  }
  json["modules"] = row.modules;
  json["folded_modules"] = row.folded_modules;
  json["source_lines"] = row.source_lines;
  json["debug_handles"] = row.debug_handles;
  json["calls"] = calls(row.calls);
  json["avg_ns"] = ns(row.time.avg);
  json["p50_ns"] = ns(row.time.p50);
  json["min_ns"] = ns(row.time.min);
  json["p90_ns"] = ns(row.time.p90);
  json["max_ns"] = ns(row.time.max);
  json["share"] = row.share;
  return json;
}

Json call_json(const DelegateCall& call) {
  return {{"delegate", text_or_null(call.delegate)},
          {"partition", call.partition},
          {"instruction", call.instruction},
          {"operators", call.operators},
          {"derived_times", call.derived_times},
          {"source_ops", call.source_ops},
          {"calls", calls(call.calls)},
          {"avg_ns", ns(call.time.avg)},
          {"p50_ns", ns(call.time.p50)},
          {"min_ns", ns(call.time.min)}};
}

Json memory_json(const MemoryInfo& memory) {
  return {{"planned_bytes", memory.planned},
          {"metadata_bytes", memory.metadata},
          {"workspace_bytes", memory.workspace},
          {"packed_weights_bytes", memory.packed_weights},
          {"mapped_weights_bytes", memory.mapped_weights},
          {"constants_bytes", memory.constants}};
}

}  // namespace

std::string report_json(const Profile& profile) {
  const RunInfo& run = profile.run;
  Json rows = Json::array();
  for (const ProfileRow& row : profile.rows) rows.push_back(row_json(row));
  Json delegate_calls = Json::array();
  for (const DelegateCall& call : profile.delegate_calls) delegate_calls.push_back(call_json(call));

  const Json json = {{"schema_version", kProfileJsonVersion},
                     {"model", run.model},
                     {"method", profile.method},
                     {"record", text_or_null(run.record)},
                     {"inputs", run.inputs},
                     {"outputs", run.outputs},
                     {"runs", profile.runs},
                     {"warmup_runs", or_null(run.warmup_runs)},
                     {"threads", or_null(run.threads)},
                     {"load_ns", or_null(run.load_ns)},
                     {"init_ns", or_null(run.init_ns)},
                     {"peak_rss_bytes", or_null(run.peak_rss_bytes)},
                     {"steady_rss_bytes", or_null(run.steady_rss_bytes)},
                     {"memory", run.memory ? memory_json(*run.memory) : Json()},
                     {"trace_overhead", or_null(run.trace_overhead)},
                     {"wall_ns", statistics(profile.wall)},
                     {"rows", rows},
                     {"unattributed_ns", ns(profile.unattributed.avg)},
                     {"delegate_calls", delegate_calls},
                     {"runs_differ", profile.runs_differ},
                     {"incomplete_runs", profile.incomplete_runs},
                     {"dropped_records", profile.dropped_records},
                     {"dropped_blocks", profile.dropped_blocks},
                     {"notes", profile.notes}};
  // Names come from files and may be anything: bytes that are not UTF-8 are replaced.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
