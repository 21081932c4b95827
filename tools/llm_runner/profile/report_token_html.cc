// Makes the HTML page of a token profile: sums over all steps, then each method's kept steps.
#include "inspector/report/report_html.h"
#include "tools/llm_runner/profile/html/token_page.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_groups.h"
#include "tools/llm_runner/profile/token_json.h"

namespace vitrine::llm {
namespace {

Json group_json(const TokenGroup& group) {
  Json json = {{"name", group.name}};
  if (!group.place.empty()) {
    json["place"] = group.place;
    json["module"] = group.module;
    json["kernel"] = group.kernel;
  }
  json["rows"] = group.rows;
  json.update(cost_json(group));
  return json;
}

Json head_json(const TokenProfile& profile) {
  Json json = token_json(profile);
  const auto add_view = [&](const char* name, inspector::GroupBy by) {
    Json& groups = json["groups"][name] = Json::array();
    for (const TokenGroup& group : group_tokens(profile, {by, 0, ""}).groups) {
      groups.push_back(group_json(group));
    }
  };
  for (const auto& [name, by] : kGroupings) add_view(name, by);
  add_view("none", inspector::GroupBy::kNone);
  json["memory"]["parts"] = Json::array();
  for (const MemoryPart& part : memory_parts(profile)) {
    json["memory"]["parts"].push_back({part.name, part.bytes});
  }
  json["memory"]["cache_spans"] = Json::array();
  for (const CacheSpan& span : cache_spans(profile)) {
    json["memory"]["cache_spans"].push_back({span.name, span.layers, span.bytes});
  }
  return json;
}

inspector::PageSteps::Parts parts_of(const KeptTimes& times) {
  inspector::PageSteps::Parts parts = {{"rows", times.rows}, {"unattributed", times.unattributed}};
  for (size_t i = 0; i < kStepParts; ++i) {
    parts.emplace_back(part_name(static_cast<StepPart>(i)), static_cast<double>(times.parts[i]));
  }
  return parts;
}

// Returns the times of all decode tokens. A token with a kept step also has this step's index among
// the runs of kept.profile.
inspector::PageSteps decode_steps(const TokenProfile& profile, const KeptRuns& kept) {
  inspector::PageSteps page;
  page.what = "time of each decode token by position";
  for (const StepWall& wall : profile.walls[kDecode]) {
    page.steps.push_back({.position = wall.position, .ns = static_cast<double>(wall.ns)});
  }
  for (uint32_t run = 0; run < kept.steps.size(); ++run) {
    const KeptTimes& times = profile.kept_times[kept.steps[run]];
    if (times.phase == Phase::kDecode) page.steps[times.index].run = run;
  }
  return page;
}

// Returns the times of the kept steps of a method that does not decode.
inspector::PageSteps kept_steps(const inspector::Profile& kept) {
  inspector::PageSteps page;
  page.what = "time of each recorded call of the model";
  for (const inspector::RunSample& sample : kept.wall_samples) {
    page.steps.push_back({.position = sample.run, .ns = sample.ns, .run = sample.run});
  }
  return page;
}

}  // namespace

std::string report_token_html(const TokenProfile& profile) {
  std::vector<inspector::PageSteps> steps;
  for (const KeptRuns& kept : profile.kept) {
    const bool decodes = kept.profile.method == profile.methods.front().name;
    inspector::PageSteps& page =
        steps.emplace_back(decodes ? decode_steps(profile, kept) : kept_steps(kept.profile));
    for (const size_t step : kept.steps) page.parts.push_back(parts_of(profile.kept_times[step]));
  }
  std::vector<inspector::ProfilePage> pages;
  for (size_t i = 0; i < steps.size(); ++i) pages.push_back({&profile.kept[i].profile, &steps[i]});
  const inspector::PageHead head = {
      .elements = html::kElements,
      .style = html::kStyle,
      .script = html::kScript,
      .data = head_json(profile).dump(-1, ' ', false, Json::error_handler_t::replace)};
  return inspector::report_html(pages, &head);
}

}  // namespace vitrine::llm
