// JSON and CSV.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspector/report/report_html.h"
#include "inspector/text/row_texts.h"
#include "llm/profile/report_tokens.h"
#include "llm/profile/token_groups.h"

namespace vitrine::llm {
namespace {

using Json = nlohmann::ordered_json;

using inspector::GroupBy;

constexpr std::pair<const char*, GroupBy> kGroupings[] = {{"op", GroupBy::kOp},
                                                          {"module", GroupBy::kModule},
                                                          {"line", GroupBy::kLine},
                                                          {"delegate", GroupBy::kDelegate}};

Json times_json(const Times& times) {
  Json json = {{"prefill_ns", times.ns[kPrefill]},
               {"decode_ns", times.ns[kDecode]},
               {"usual_decode_ns", times.usual_ns}};
  if (times.growth) {
    json["growth"] = {{"at_start_ns", times.growth->at_start},
                      {"a_position_ns", times.growth->a_position}};
  }
  return json;
}

Json row_json(const TokenProfile& profile, const TokenRow& row) {
  const inspector::ProfileRow& named = named_row(profile, row);
  const inspector::RowTexts texts = inspector::row_texts(named);
  Json json = {{"op", texts.op},
               {"source_ops", named.source_ops},
               {"modules", named.modules},
               {"kernel", named.kernel},
               {"place", texts.place},
               {"delegate", named.delegate},
               {"instruction", named.instruction},
               {"identifier", named.identifier}};
  for (const auto& [name, by] : kGroupings) json["groups"][name] = group_name(profile, row, by);
  json.update(times_json(row.times));
  json["weight_bytes"] = row.weight_bytes;
  json["cache_bytes"] = row.cache_bytes;
  return json;
}

Json statistics_json(const inspector::TimeStatistics& time) {
  return {{"min", time.min}, {"p50", time.p50}, {"p90", time.p90},
          {"p99", time.p99}, {"max", time.max}, {"avg", time.avg}};
}

Json run_json(const TokenProfile& profile) {
  const inspector::RunInfo& run = profile.run;
  Json json = {{"model", run.model}, {"method", method_names(profile)}, {"record", run.record}};
  if (run.threads) json["threads"] = *run.threads;
  if (run.load_ns) json["load_ns"] = *run.load_ns;
  if (run.init_ns) json["init_ns"] = *run.init_ns;
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

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string report_token_json(const TokenProfile& profile) {
  Json json = {{"version", kTokenJsonVersion}, {"run", run_json(profile)}};
  json["memory"] = memory_json(profile);
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const auto which = static_cast<size_t>(phase);
    json["phases"][phase_name(phase)] = {{"steps", profile.steps[which]},
                                         {"tokens", profile.tokens[which]},
                                         {"wall_ns", profile.wall.ns[which]}};
  }
  json["token_ns"] = statistics_json(profile.token);
  json["rows"] = Json::array();
  for (const TokenRow& row : profile.rows) json["rows"].push_back(row_json(profile, row));
  json["unattributed"] = times_json(profile.unattributed);
  for (size_t i = 0; i < kParts; ++i) {
    json["parts"][part_name(static_cast<Part>(i))] = times_json(profile.parts[i]);
  }
  json["wall"] = times_json(profile.wall);
  json["fitted_tokens"] = profile.usual_steps;
  if (profile.attention_passes_weights) {
    json["attention_passes_weights_at"] = *profile.attention_passes_weights;
  }
  json["tokens"] = Json::array();
  for (const StepWall& wall : profile.tokens_by_position) {
    json["tokens"].push_back({wall.position, wall.ns});
  }
  json["notes"] = profile.notes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string report_token_csv(const TokenProfile& profile, const inspector::View& view) {
  std::string out =
      "name,place,module,kernel,rows,prefill_ns,decode_ns,weight_bytes,cache_bytes,at_start_ns,"
      "a_position_ns\r\n";
  const auto line = [&out](const TokenGroup& group) {
    out += fmt::format("{},{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},", quoted(group.name),
                       quoted(group.place), quoted(group.module), quoted(group.kernel), group.rows,
                       group.times.ns[kPrefill], group.times.ns[kDecode], group.weight_bytes,
                       group.cache_bytes);
    out += group.times.growth ? fmt::format("{:.3f},{:.6f}\r\n", group.times.growth->at_start,
                                            group.times.growth->a_position)
                              : ",\r\n";
  };
  TokenGroups groups = group_tokens(profile, view);
  for (const TokenGroup& group : groups.groups) line(group);
  groups.others.name = "other rows";
  if (groups.others.rows != 0) line(groups.others);
  line({.name = "unattributed", .times = profile.unattributed});
  for (size_t i = 0; i < kParts; ++i) {
    line({.name = part_name(static_cast<Part>(i)), .times = profile.parts[i]});
  }
  line({.name = "wall", .times = profile.wall});
  return out;
}

namespace {

// All decode tokens, of which the profile's runs are some.
inspector::PageSteps decode_steps(const TokenProfile& profile, const inspector::Profile& kept) {
  inspector::PageSteps page;
  page.what = "time of each decode token by position";
  for (const StepWall& wall : profile.tokens_by_position) {
    page.steps.push_back({.position = wall.position, .ns = static_cast<double>(wall.ns)});
  }
  for (uint32_t run = 0; run < kept.run_names.size(); ++run) {
    for (inspector::PageSteps::Step& step : page.steps) {
      const bool is_it = kept.run_names[run] == kept_name(Phase::kDecode, step.position);
      if (is_it && !step.run) step.run = run;
    }
  }
  for (const CacheLayer& layer : cache_layers(profile)) {
    page.caches.emplace_back(layer.name, layer.bytes);
  }
  return page;
}

// The kept steps of a method that does not decode.
inspector::PageSteps kept_steps(const inspector::Profile& kept) {
  inspector::PageSteps page;
  page.what = "time in the model of the calls that were kept";
  for (const inspector::RunSample& sample : kept.wall_samples) {
    page.steps.push_back({.position = sample.run, .ns = sample.ns, .run = sample.run});
  }
  return page;
}

}  // namespace

std::string report_token_html(const TokenProfile& profile) {
  std::vector<inspector::PageSteps> steps;
  for (const inspector::Profile& kept : profile.kept) {
    const bool decodes = kept.method == profile.methods.front().name;
    steps.push_back(decodes ? decode_steps(profile, kept) : kept_steps(kept));
  }
  std::vector<inspector::ProfilePage> pages;
  for (size_t i = 0; i < steps.size(); ++i) pages.push_back({&profile.kept[i], &steps[i]});
  return inspector::report_html(pages);
}

}  // namespace vitrine::llm
