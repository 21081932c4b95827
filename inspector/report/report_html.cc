#include "inspector/report/report_html.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "inspector/join/statistics.h"
#include "inspector/report/fill_page.h"
#include "inspector/report/grouping.h"
#include "inspector/report/html/page_text.h"
#include "inspector/report/legend.h"
#include "inspector/report/profile_json.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxEvents = 10'000;  // longer timelines show only the longest events

std::optional<uint32_t> typical_step(const std::vector<PageSteps::Step>& steps) {
  std::vector<double> ns;
  ns.reserve(steps.size());
  for (const PageSteps::Step& step : steps) ns.push_back(step.ns);
  const double median = statistics_of(ns, ns.size()).p50;
  const PageSteps::Step* typical = nullptr;
  const auto distance = [&](const PageSteps::Step& step) { return std::abs(step.ns - median); };
  for (const PageSteps::Step& step : steps) {
    if (!step.run || (typical != nullptr && distance(step) >= distance(*typical))) continue;
    typical = &step;
  }
  return typical == nullptr ? std::nullopt : typical->run;
}

// Returns the measured run (not a warm-up) whose time is nearest to the median. With steps, returns
// the run of the kept step whose time is nearest to the median of all steps.
uint32_t typical_run(const Profile& profile, const PageSteps* steps) {
  if (steps != nullptr) {
    if (const std::optional<uint32_t> run = typical_step(steps->steps)) return *run;
  }
  uint32_t typical = 0;
  double min_distance = INFINITY;
  for (const RunSample& sample : profile.wall_samples) {
    const double distance = std::abs(sample.ns - profile.wall.p50);
    if (sample.run < profile.cold_runs || distance >= min_distance) continue;
    min_distance = distance;
    typical = sample.run;
  }
  return typical;
}

Json timeline_json(const Profile& profile, uint32_t run) {
  std::vector<TimelineEvent> events;
  TimelineEvent whole;
  for (const TimelineEvent& event : profile.timeline) {
    if (event.run != run) continue;
    if (event.kind == TimelineEvent::Kind::kRun) {
      whole = event;
    } else {
      events.push_back(event);
    }
  }
  const size_t all = events.size();
  if (all > kMaxEvents) {
    const auto last = events.begin() + kMaxEvents;
    std::nth_element(events.begin(), last, events.end(),
                     [](const TimelineEvent& a, const TimelineEvent& b) {
                       return a.end - a.start > b.end - b.start;
                     });
    events.erase(last, events.end());
  }
  Json tracks = Json::array({profile.queue.empty() ? "executor" : profile.queue});
  std::map<std::string, size_t> track_of;
  for (const DelegateCall& call : profile.delegate_calls) {
    if (!profile.queue.empty()) break;  // a queue has one track
    if (!track_of.try_emplace(call.delegate, tracks.size()).second) continue;
    tracks.push_back(call.delegate.empty() ? "delegate" : call.delegate);
  }
  Json list = Json::array();
  for (const TimelineEvent& event : events) {
    const bool is_row = event.kind == TimelineEvent::Kind::kRow;
    size_t track = 0;
    if (profile.queue.empty() && is_row && profile.rows[event.index].where == Where::kDelegate) {
      track = track_of.at(profile.rows[event.index].delegate);
    }
    // The start relative to the run can be negative: in traces from other runtimes, an event may
    // start before its run.
    const auto since = static_cast<int64_t>(event.start - whole.start);
    list.push_back({track, is_row ? "row" : "call", event.index, since, event.end - event.start});
  }
  const bool has_name = run < profile.run_names.size();
  return {{"run", run + 1},
          {"name", has_name ? profile.run_names[run] : ""},
          {"ns", whole.end - whole.start},
          {"tracks", tracks},
          {"events", list},
          {"left_out", all - events.size()}};
}

Json steps_json(const Profile& profile, const PageSteps& steps) {
  Json json = {{"what", steps.what}, {"all", Json::array()}, {"kept", Json::array()}};
  std::map<uint32_t, size_t> step_of;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const PageSteps::Step& step = steps.steps[i];
    json["all"].push_back({step.position, step.ns});
    if (step.run) step_of.emplace(*step.run, i);
  }
  for (const RunSample& sample : profile.wall_samples) {
    Json kept = timeline_json(profile, sample.run);
    const auto found = step_of.find(sample.run);
    kept["step"] = found == step_of.end() ? Json() : Json(found->second);
    kept["parts"] = Json::array();
    if (sample.run < steps.parts.size()) {
      for (const auto& [name, ns] : steps.parts[sample.run]) kept["parts"].push_back({name, ns});
    }
    json["kept"].push_back(std::move(kept));
  }
  return json;
}

Json texts_json(const Profile& profile) {
  Json texts = Json::array();
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const RowTexts row = row_texts(profile.rows[i]);
    texts.push_back({{"place", row.place},
                     {"op", row.op},
                     {"module", row.module},
                     {"kernel", row.kernel},
                     {"line", group_path(profile, i, GroupBy::kLine).back()}});
  }
  return texts;
}

Json page_json(const ProfilePage& page) {
  const Profile& profile = *page.profile;
  Json data = profile_json(profile);
  data["texts"] = texts_json(profile);
  data["timeline"] = timeline_json(profile, typical_run(profile, page.steps));
  data["steps"] = page.steps == nullptr ? Json() : steps_json(profile, *page.steps);
  return data;
}

}  // namespace

std::string report_html(std::span<const ProfilePage> pages, const PageHead* head,
                        std::string_view graph) {
  Json data = page_json(pages.front());
  data["others"] = Json::array();
  for (const ProfilePage& page : pages) {
    if (&page != pages.data()) data["others"].push_back(page_json(page));
    for (const Profile& queue : page.profile->queues) {
      data["others"].push_back(page_json({&queue, nullptr}));
    }
  }
  const PageHead none;
  if (head == nullptr) head = &none;
  const auto joined = [](std::string_view a, std::string_view b) {
    return std::string(a).append(b);
  };
  const std::string style = joined(joined(html::kStyle, html::kGraphTabStyle), head->style);
  const std::string script = joined(
      joined(joined(joined(html::kElements, html::kGraphTabScript), html::kScript), head->script),
      html::kStart);
  const std::string json = without_tags(data.dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string legend = legend_html();
  const std::string head_json = without_tags(head->data);
  return fill_page(html::kPage, {{"{{style}}", style},
                                 {"{{head}}", head->elements},
                                 {"{{legend}}", legend},
                                 {"{{data}}", json},
                                 {"{{head data}}", head_json},
                                 {"{{graph data}}", graph.empty() ? "null" : graph},
                                 {"{{script}}", script}});
}

std::string report_html(const Profile& profile, const PageSteps* steps, std::string_view graph) {
  const ProfilePage page{&profile, steps};
  return report_html({&page, 1}, nullptr, graph);
}

}  // namespace vitrine::inspector
