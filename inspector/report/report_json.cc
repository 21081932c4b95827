#include "inspector/report/report_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "inspector/join/cost.h"
#include "inspector/join/memory_use.h"
#include "inspector/report/grouping.h"
#include "inspector/report/profile_json.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of members

constexpr std::pair<const char*, GroupBy> kGroupings[] = {{"op", GroupBy::kOp},
                                                          {"delegate", GroupBy::kDelegate},
                                                          {"module", GroupBy::kModule},
                                                          {"line", GroupBy::kLine}};
constexpr std::array<const char*, 3> kJoin = {"exact", "inferred", "none"};

template <class T, size_t n>
const char* name_of(const std::array<const char*, n>& names, T value) {
  return names.at(static_cast<size_t>(value));
}

// Rounds a time in ns to picoseconds, because further digits are noise.
double ns(double value) { return std::round(value * 1000) / 1000; }

Json statistics(const TimeStatistics& time) {
  return {{"min", ns(time.min)}, {"p50", ns(time.p50)},     {"p90", ns(time.p90)},
          {"max", ns(time.max)}, {"avg", ns(time.avg)},     {"p10", ns(time.p10)},
          {"p25", ns(time.p25)}, {"p75", ns(time.p75)},     {"p95", ns(time.p95)},
          {"p99", ns(time.p99)}, {"first", ns(time.first)}, {"steady", ns(time.steady)}};
}

Json first_result_json(const Profile& profile) {
  Json parts;
  for (const auto& [name, time] : first_result_parts(profile)) {
    parts[name] = static_cast<uint64_t>(time);
  }
  return parts;
}

// Writes a time for each counted run, or 0 for a run without a sample.
Json samples_json(const RunSamples& samples, const Profile& profile) {
  std::vector<double> times(profile.runs);
  for (const RunSample& sample : samples) {
    if (sample.run >= profile.cold_runs) times[sample.run - profile.cold_runs] = ns(sample.ns);
  }
  return times;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Writes integers without a decimal point.
Json calls(double value) {
  const double rounded = std::round(value);
  return value == rounded ? Json(static_cast<int64_t>(rounded)) : Json(value);
}

Json cost_json(const Cost& cost, double p50_ns, const std::optional<MachineLimits>& limits) {
  Json json = {{"flops", cost.flops}, {"bytes", cost.bytes}};
  json["gflops_per_s"] = p50_ns > 0 ? Json(ns(cost.flops / p50_ns)) : Json();
  json["gbytes_per_s"] = p50_ns > 0 ? Json(ns(cost.bytes / p50_ns)) : Json();
  json["share_of_limits"] =
      limits.has_value() ? or_null(share_of_limits(cost, p50_ns, *limits)) : Json();
  return json;
}

Json row_json(const ProfileRow& row, const std::optional<MachineLimits>& limits) {
  const bool is_delegate = row.where == Where::kDelegate;
  Json json = {{"where", where_name(row.where)},
               {"delegate", text_or_null(row.delegate)},
               {"partition", is_delegate ? Json(row.partition) : Json(nullptr)},
               {"instruction", row.instruction},
               {"identifier", text_or_null(row.identifier)},
               {"kernel", row.kernel},
               {"library", text_or_null(row.library)},
               {"phase", text_or_null(row.phase)},
               {"payload_operator", or_null(row.payload_operator)},
               {"join", name_of(kJoin, row.join)},
               {"source_ops", row.source_ops},
               {"main_op", row.source_ops.empty() ? Json(nullptr) : Json(row.main_op)},
               {"folded_ops", row.folded_ops}};
  if (row.is_inserted) {
    json["inserted_for"] = row.inserted_for;
    json["inserted_for_row"] = or_null(row.inserted_for_row);
  }
  json["op_type"] = op_type(row);
  json["whole_call"] = row.has_all_ops_of_call;
  json["modules"] = row.modules;
  json["folded_modules"] = row.folded_modules;
  json["source_lines"] = row.source_lines;
  json["model_lines"] = row.model_lines;
  json["debug_handles"] = row.debug_handles;
  json["calls"] = calls(row.calls);
  json["avg_ns"] = ns(row.time.avg);
  json["p50_ns"] = ns(row.time.p50);
  json["min_ns"] = ns(row.time.min);
  json["p90_ns"] = ns(row.time.p90);
  json["max_ns"] = ns(row.time.max);
  json["time_ns"] = statistics(row.time);
  json["share"] = row.share;
  json["cost"] = row.cost.has_value() ? cost_json(*row.cost, row.time.p50, limits) : Json();
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

Json plan_json(const MemoryPlan& plan) {
  Json tensors = Json::array();
  for (const PlannedTensor& tensor : plan.tensors) {
    tensors.push_back({{"value", tensor.value},
                       {"type", tensor.type},
                       {"buffer", tensor.buffer},
                       {"offset", tensor.offset},
                       {"bytes", tensor.bytes},
                       {"first", tensor.first},
                       {"last", tensor.last}});
  }
  const MemoryUse use = memory_over_time(plan);
  return {{"buffers", plan.buffers},
          {"instructions", plan.num_instructions},
          {"tensors", tensors},
          {"live_bytes", use.live_bytes},
          {"peak",
           {{"instruction", use.peak_instruction},
            {"bytes", use.peak_bytes},
            {"tensors", use.peak_tensors}}}};
}

Json limits_json(const MachineLimits& limits) {
  return {{"machine", limits.machine},
          {"threads", limits.threads},
          {"flops_per_s", limits.flops_per_s},
          {"bytes_per_s", limits.bytes_per_s}};
}

void add_samples(const Profile& profile, Json& json) {
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    json["rows"][i]["samples_ns"] = samples_json(profile.rows[i].samples, profile);
  }
  json["wall_samples_ns"] = samples_json(profile.wall_samples, profile);
  json["unattributed_samples_ns"] = samples_json(profile.unattributed_samples, profile);
}

Json groups_json(const Profile& profile) {
  Json json;
  for (const auto& [name, by] : kGroupings) {
    Json groups = Json::array();
    for (const Group& group : group_rows(profile, {.by = by, .top = 0, .filter = {}}).groups) {
      groups.push_back(
          {{"name", group.name},
           {"label", group.label},
           {"depth", group.depth},
           {"rows", group.rows},
           {"num_rows", group.num_rows},
           {"calls", calls(group.calls)},
           {"time_ns", statistics(group.time)},
           {"own_avg_ns", ns(group.own_avg)},
           {"own_share", group.own_share},
           {"share", group.share},
           {"cost",
            group.costed > 0 ? cost_json(group.cost, group.costed, profile.run.limits) : Json()}});
    }
    json[name] = std::move(groups);
  }
  return json;
}

}  // namespace

std::string report_json(const Profile& profile) {
  Json json = profile_json(profile);
  add_samples(profile, json);
  for (const Profile& queue : profile.queues) {
    add_samples(queue, json["queues"].emplace_back(profile_json(queue)));
  }
  // Names come from files, so bytes that are not UTF-8 are replaced.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json profile_json(const Profile& profile) {
  const RunInfo& run = profile.run;
  Json rows = Json::array();
  for (const ProfileRow& row : profile.rows) rows.push_back(row_json(row, run.limits));
  Json delegate_calls = Json::array();
  for (const DelegateCall& call : profile.delegate_calls) delegate_calls.push_back(call_json(call));

  Json json = {{"schema_version", kProfileJsonVersion},
               {"model", run.model},
               {"method", profile.method},
               {"queue", text_or_null(profile.queue)},
               {"queue_about", text_or_null(profile.queue_about)},
               {"unit", profile.has_ticks ? "ticks" : "ns"},
               {"origin", origin_json(run)},
               {"warnings", run.warnings},
               {"record", text_or_null(run.record)},
               {"inputs", run.inputs},
               {"outputs", run.outputs},
               {"runs", profile.runs},
               {"cold_runs", profile.cold_runs},
               {"outlier_runs", profile.outlier_runs},
               {"statistic", profile.statistic()},
               {"warmup_runs", or_null(run.warmup_runs)},
               {"threads", or_null(run.threads)},
               {"load_ns", or_null(run.load_ns)},
               {"init_ns", or_null(run.init_ns)},
               {"first_result_ns", first_result_json(profile)},
               {"peak_rss_bytes", or_null(run.peak_rss_bytes)},
               {"steady_rss_bytes", or_null(run.steady_rss_bytes)},
               {"memory", run.memory ? memory_json(*run.memory) : Json()},
               {"memory_plan", run.plan ? plan_json(*run.plan) : Json()},
               {"machine", run.limits ? limits_json(*run.limits) : Json()},
               {"trace_overhead", or_null(run.trace_overhead)},
               {"trace_floor", or_null(run.trace_floor)},
               {"wall_ns", statistics(profile.wall)},
               {"rows", rows},
               {"groups", groups_json(profile)},
               {"unattributed_ns", ns(profile.unattributed.avg)},
               {"unattributed_time_ns", statistics(profile.unattributed)},
               {"unattributed_share", profile.unattributed_share()},
               {"delegate_calls", delegate_calls},
               {"runs_differ", profile.runs_differ},
               {"incomplete_runs", profile.incomplete_runs},
               {"dropped_records", profile.dropped_records},
               {"dropped_blocks", profile.dropped_blocks},
               {"notes", profile.notes},
               {"queues", Json::array()}};
  return json;
}

}  // namespace vitrine::inspector
