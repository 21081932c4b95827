// Reports a token profile as JSON, CSV and trace events.
#include <fmt/format.h>

#include "inspector/report/report_timeline.h"
#include "inspector/report/row_texts.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_groups.h"
#include "tools/llm_runner/profile/token_json.h"

namespace vitrine::llm {
namespace {

Json line_json(const CostLine& line) {
  return {{"at_start_ns", line.at_start},
          {"a_position_ns", line.per_position},
          {"a_position_error_ns", line.error}};
}

Json row_json(const TokenProfile& profile, size_t index) {
  const TokenRow& row = profile.rows[index];
  const inspector::ProfileRow& named = profile.names.rows[index];
  const inspector::RowTexts texts = inspector::row_texts(named);
  Json json = {{"op", texts.op},
               {"source_ops", named.source_ops},
               {"modules", named.modules},
               {"kernel", named.kernel},
               {"place", texts.place},
               {"delegate", named.delegate},
               {"instruction", named.instruction},
               {"identifier", named.identifier}};
  for (const auto& [name, by] : kGroupings) {
    json["groups"][name] = inspector::group_name(profile.names, index, by);
  }
  json.update(cost_json(row));
  return json;
}

Json statistics_json(const inspector::TimeStatistics& time) {
  return {{"min", time.min}, {"p50", time.p50}, {"p90", time.p90},
          {"p99", time.p99}, {"max", time.max}, {"avg", time.avg}};
}

Json run_json(const TokenProfile& profile) {
  const inspector::RunInfo& run = profile.run;
  Json json = {{"model", run.model}, {"method", method_names(profile)}, {"record", run.record}};
  if (!run.machine.empty()) json["machine"] = run.machine;
  if (run.threads) json["threads"] = *run.threads;
  if (run.load_ns) json["load_ns"] = *run.load_ns;
  if (run.init_ns) json["init_ns"] = *run.init_ns;
  if (run.limits) json["machine_bytes_per_s"] = run.limits->bytes_per_s;
  json["max_context"] = profile.max_context;
  json["first_token_ns"] = profile.first_token_ns;
  return json;
}

Json memory_json(const TokenProfile& profile) {
  Json json = {{"weights_in_file", profile.weights_in_file}};
  if (const auto& memory = profile.run.memory) {
    json["planned"] = memory->planned;
    json["workspace"] = memory->workspace;
    json["packed_weights"] = memory->packed_weights;
    json["mapped_weights"] = memory->mapped_weights;
    json["constants"] = memory->constants;
  }
  if (profile.run.peak_rss_bytes) json["peak_rss"] = *profile.run.peak_rss_bytes;
  json["caches"] = Json::array();
  for (const CacheBuffer& cache : profile.caches) {
    json["caches"].push_back({{"name", cache.name},
                              {"layer", cache.layer},
                              {"type", cache.type},
                              {"bytes", cache.bytes},
                              {"instruction", cache.instruction}});
  }
  json["cache_layers"] = Json::array();
  for (const CacheLayer& layer : cache_layers(profile)) {
    json["cache_layers"].push_back(
        {{"name", layer.name}, {"buffers", layer.buffers}, {"bytes", layer.bytes}});
  }
  return json;
}

Json kept_json(const KeptTimes& kept) {
  Json json = {{"phase", phase_name(kept.phase)},
               {"position", kept.wall.position},
               {"start_ns", kept.wall.start_ns},
               {"rows_ns", kept.rows},
               {"unattributed_ns", kept.unattributed}};
  for (size_t i = 0; i < kStepParts; ++i) {
    json["parts"][part_name(static_cast<StepPart>(i))] = kept.parts[i];
  }
  json["wall_ns"] = kept.wall.ns;
  return json;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

Json times_json(const Times& times) {
  Json json = {{"prefill_ns", times.ns[kPrefill]},
               {"decode_ns", times.ns[kDecode]},
               {"usual_decode_ns", times.usual_ns}};
  if (const auto growth = times.growth()) json["growth"] = line_json(*growth);
  return json;
}

Json cost_json(const TokenCost& cost) {
  Json json = {{"prefill_calls", cost.calls[kPrefill]}, {"decode_calls", cost.calls[kDecode]}};
  json.update(times_json(cost.times));
  json["weight_bytes"] = cost.weight_bytes;
  json["cache_bytes"] = cost.cache_bytes;
  return json;
}

Json token_json(const TokenProfile& profile) {
  Json json = {{"version", kTokenJsonVersion}, {"run", run_json(profile)}};
  json["memory"] = memory_json(profile);
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const auto which = static_cast<size_t>(phase);
    json["phases"][phase_name(phase)] = {{"steps", profile.steps[which]},
                                         {"tokens", profile.tokens[which]},
                                         {"wall_ns", profile.wall.ns[which]},
                                         {"tokens_per_s", tokens_per_second(profile, phase)}};
  }
  json["token_ns"] = statistics_json(profile.token);
  json["unattributed"] = times_json(profile.unattributed);
  for (size_t i = 0; i < kStepParts; ++i) {
    json["parts"][part_name(static_cast<StepPart>(i))] = times_json(profile.parts[i]);
  }
  json["wall"] = times_json(profile.wall);
  json["fitted_tokens"] = profile.usual_steps;
  if (profile.usual_steps != 0) {
    json["fitted_positions"] = {profile.fitted_positions.first, profile.fitted_positions.second};
  }
  if (const auto& attention = profile.attention) {
    json["attention"] = {{"growth", line_json(attention->attention)},
                         {"weights_ns", attention->weights}};
    if (attention->passes_weights) {
      json["attention_passes_weights_at"] = *attention->passes_weights;
    }
  }
  json["tokens"] = Json::array();
  for (const StepWall& wall : profile.walls[kDecode]) {
    json["tokens"].push_back({wall.position, wall.ns});
  }
  json["kept"] = Json::array();
  for (const KeptTimes& kept : profile.kept_times) json["kept"].push_back(kept_json(kept));
  json["notes"] = profile.notes;
  return json;
}

std::string report_token_json(const TokenProfile& profile) {
  Json json = token_json(profile);
  json["rows"] = Json::array();
  for (size_t i = 0; i < profile.rows.size(); ++i) json["rows"].push_back(row_json(profile, i));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string report_token_csv(const TokenProfile& profile, const inspector::View& view) {
  // Only ungrouped rows have the columns place, module and kernel.
  const bool is_ungrouped = view.by == inspector::GroupBy::kNone;
  std::string out = fmt::format(
      "name,{}rows,prefill_ns,decode_ns,weight_bytes,cache_bytes,at_start_ns,a_position_ns\r\n",
      is_ungrouped ? "place,module,kernel," : "");
  const auto line = [&](const TokenGroup& group) {
    out += quoted(group.name) + ',';
    if (is_ungrouped) {
      out +=
          fmt::format("{},{},{},", quoted(group.place), quoted(group.module), quoted(group.kernel));
    }
    out += fmt::format("{},{:.0f},{:.0f},{:.0f},{:.0f},", group.rows, group.times.ns[kPrefill],
                       group.times.ns[kDecode], group.weight_bytes, group.cache_bytes);
    const auto growth = group.times.growth();
    out +=
        growth ? fmt::format("{:.3f},{:.6f}\r\n", growth->at_start, growth->per_position) : ",\r\n";
  };
  TokenGroups groups = group_tokens(profile, view);
  for (const TokenGroup& group : groups.groups) line(group);
  groups.others.name = "other rows";
  if (groups.others.rows != 0) line(groups.others);
  auto rest = times_outside(profile);
  rest.emplace_back("wall", &profile.wall);
  for (const auto& [name, times] : rest) {
    TokenGroup group;
    group.name = name;
    group.times = *times;
    line(group);
  }
  return out;
}

std::string report_token_timeline(const TokenProfile& profile) {
  inspector::TimelineTrack steps = {.name = "steps", .slices = {}};
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    for (const StepWall& wall : profile.walls[static_cast<size_t>(phase)]) {
      steps.slices.push_back({step_name(phase, wall), wall.start_ns, wall.ns});
    }
  }
  std::vector<const inspector::Profile*> kept;
  for (const KeptRuns& runs : profile.kept) kept.push_back(&runs.profile);
  return inspector::report_timeline(kept, &steps);
}

}  // namespace vitrine::llm
