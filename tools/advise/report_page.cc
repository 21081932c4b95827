#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspector/report/grouping.h"
#include "inspector/report/report_html.h"
#include "tools/advise/html/advice_page.h"
#include "tools/advise/report.h"

namespace vitrine::tools {
namespace {

using Json = nlohmann::ordered_json;

// Returns the saving's interval for a bar, as fractions of the baseline's figure.
Json part_json(const Advice& advice) {
  if (!advice.saved || advice.of <= 0) return {};
  const double low = std::clamp(advice.saved->low / advice.of, 0.0, 1.0);
  return {low, std::clamp(advice.saved->high / advice.of, low, 1.0)};
}

Json line_json(const Baseline& baseline, const Advice& advice) {
  Json facts = Json::array();
  for (const AdviceFact& fact : advice_facts(baseline, advice)) {
    facts.push_back({fact.label, fact.text});
  }
  return {{"name", advice.name},       {"what", advice.what}, {"saved", saved_text(advice)},
          {"part", part_json(advice)}, {"facts", facts},      {"rows", advice.rows}};
}

Json panel_json(const Baseline& baseline, const Findings& findings) {
  const Context& context = baseline.context();
  Json lines = Json::array(), rest = Json::array(), ops = Json::array();
  for (const Advice& advice : findings.advice) lines.push_back(line_json(baseline, advice));
  for (const std::vector<Dismissed>* dismissed : {&findings.useless, &findings.not_tried}) {
    for (const Dismissed& one : *dismissed) rest.push_back({one.name, one.why});
  }
  const inspector::View by_op{.by = inspector::GroupBy::kOp, .top = 0, .filter = {}};
  for (const inspector::Group& group : inspector::group_rows(context.profile, by_op).groups) {
    ops.push_back({{"name", group.name}});
  }
  return {{"what", baseline_text(baseline)},
          {"lines", lines},
          {"together", together_title(findings)},
          {"rest", rest},
          {"notes", baseline.notes()},
          {"groups", {{"op", ops}}}};
}

}  // namespace

std::string advice_html(const Baseline& baseline, const Findings& findings) {
  const inspector::Profile& profile = baseline.context().profile;
  std::string style(html::kStyle);
  // Profiles from files may lack a timeline.
  if (profile.timeline.empty()) style += "#timeline-section { display: none; }\n";
  const inspector::PageHead head = {
      .elements = html::kElements,
      .style = style,
      .script = html::kScript,
      .data = panel_json(baseline, findings).dump(-1, ' ', false, Json::error_handler_t::replace)};
  const inspector::ProfilePage page{&profile, nullptr};
  return inspector::report_html({&page, 1}, &head);
}

}  // namespace vitrine::tools
