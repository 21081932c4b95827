#include "tools/advise/find_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/advise/modeled_gain.h"
#include "tools/advise/rules.h"
#include "tools/advise/trials.h"

namespace vitrine::tools {
namespace {

// Predicts the saving of --optimize from the number of removed calls. Returns an empty text, or the
// reason why a prediction is impossible.
std::string model_optimization(const Baseline& baseline, Advice& advice) try {
  const Context& context = baseline.context();
  const LoweredProgram lowered = baseline.lower(merged(context.baseline, *advice.change));
  const auto changes = lowered.model.changes.find(context.method);
  size_t calls = 0;
  if (changes != lowered.model.changes.end()) {
    for (const aot::Change& change : changes->second) calls += change.calls;
  }
  if (calls == 0) return "removes no calls";
  advice.saved = saved_by_fewer_calls(context, calls);
  advice.method = fmt::format(
      "{0} fewer call{1}: saves at most the time of the {0} most expensive kernel "
      "call{1} and the time between calls",
      calls, calls == 1 ? "" : "s");
  advice.confidence = Confidence::kModeled;
  return "";
} catch (const HostError& error) {
  return error.what();
}

bool is_negligible(const Advice& advice) {
  constexpr double kMinShare = 0.01;
  return advice.gain == Gain::kTime && advice.saved && advice.saved->high < kMinShare * advice.of;
}

// Keeps the advice whose gain can be predicted without a trial.
Findings model_advice(const Baseline& baseline, std::vector<Advice> all) {
  Findings findings;
  for (Advice& advice : all) {
    std::string why =
        advice.change ? "its gain cannot be computed without a trial (--no_trials)" : advice.why;
    if (advice.name == "optimize" && advice.change && !advice.saved) {
      const std::string reason = model_optimization(baseline, advice);
      if (!reason.empty()) why = reason;
    }
    set_modeled_ratio(baseline.context(), advice);
    if (is_negligible(advice)) {
      advice.saved.reset();
      why = "is estimated to save less than 1 % (--no_trials)";
    }
    // Advice with an unknown saving is kept only if the user must change the model.
    if (advice.saved || (!advice.change && !advice.how.empty())) {
      findings.advice.push_back(std::move(advice));
    } else {
      findings.not_tried.push_back({advice.name, std::move(why)});
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
    if (a.saved.has_value() != b.saved.has_value()) return a.saved.has_value();
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
  if (!options.has_trials) return model_advice(baseline, std::move(all));
  Findings findings;
  try_advice(std::move(all), baseline, options, findings);
  return findings;
}

}  // namespace vitrine::tools
