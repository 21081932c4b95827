#include "tools/advise/find_advice.h"

#include <algorithm>
#include <utility>

#include "tools/advise/rules.h"
#include "tools/advise/trials.h"

namespace vitrine::tools {
namespace {

// Keeps what rules can predict without a trial.
Findings model_advice(std::vector<Advice> all) {
  Findings findings;
  for (Advice& advice : all) {
    if (advice.saved) {
      findings.advice.push_back(std::move(advice));
    } else {
      findings.not_tried.push_back(
          {advice.name, advice.change ? "its gain cannot be computed without a trial (--no_trials)"
                                      : advice.why});
    }
  }
  rank_advice(findings.advice);
  return findings;
}

}  // namespace

std::vector<Advice> collect_advice(const Context& context) {
  std::vector<Advice> all;
  for (const Rule& rule : all_rules()) {
    for (Advice& advice : rule.advise(context)) {
      const auto same = std::ranges::find_if(all, [&](const Advice& other) {
        return advice.change.has_value() && other.change == advice.change;
      });
      if (same == all.end()) {
        advice.of = advice.of == 0 && advice.gain == Gain::kTime ? context.wall_ns() : advice.of;
        all.push_back(std::move(advice));
        continue;
      }
      if (!advice.why.empty()) same->why += (same->why.empty() ? "" : "; ") + advice.why;
      for (const size_t row : advice.rows) {
        if (std::ranges::count(same->rows, row) == 0) same->rows.push_back(row);
      }
    }
  }
  return all;
}

void rank_advice(std::vector<Advice>& advice) {
  std::ranges::stable_sort(advice, [](const Advice& a, const Advice& b) {
    if (a.gain != b.gain) return a.gain < b.gain;
    if (a.needs.empty() != b.needs.empty()) return a.needs.empty();
    return (a.saved ? a.saved->middle() : 0) > (b.saved ? b.saved->middle() : 0);
  });
  for (size_t i = 0; i < advice.size(); ++i) {
    advice[i].excludes.clear();
    for (size_t j = 0; j < advice.size(); ++j) {
      if (i == j || !advice[i].change || !advice[j].change) continue;
      if (!conflicting_option(*advice[i].change, *advice[j].change).empty()) {
        advice[i].excludes.push_back(j + 1);
      }
    }
  }
}

Findings find_advice(Baseline& baseline, const AdviseOptions& options) {
  std::vector<Advice> all = collect_advice(baseline.context());
  if (!options.has_trials) return model_advice(std::move(all));
  Findings findings;
  try_advice(std::move(all), baseline, options, findings);
  return findings;
}

}  // namespace vitrine::tools
