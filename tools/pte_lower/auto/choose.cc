#include "tools/pte_lower/auto/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace vitrine::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LevelFigures figures_at(const PartFigures& part, size_t level) {
  return level == 0 ? LevelFigures{} : part.levels[level - 1];
}

// Returns the saving of a change divided by the added noise.
double gain(const LevelFigures& from, const LevelFigures& to) {
  const double saved = to.saved - from.saved;
  if (saved <= 0) return saved;
  return to.noise <= from.noise ? kInfinity : saved / (to.noise - from.noise);
}

struct RankedStep {
  Step step;
  double gain = 0;
};

// Returns the steps in which one part loses precision, from float on.
std::vector<RankedStep> steps_of(const std::vector<PartFigures>& parts, size_t index) {
  const PartFigures& part = parts[index];
  std::vector<RankedStep> steps;
  size_t level = 0;
  double last_gain = kInfinity;
  while (true) {
    const LevelFigures from = figures_at(part, level);
    size_t best = level;
    double best_gain = 0;
    for (size_t i = 1; i <= part.levels.size(); ++i) {
      const LevelFigures& to = part.levels[i - 1];
      if (!std::isfinite(to.noise) || to.saved <= from.saved) continue;
      const double found = gain(from, to);
      if (best == level ||
          std::pair(found, to.saved) > std::pair(best_gain, figures_at(part, best).saved)) {
        best = i;
        best_gain = found;
      }
    }
    if (best == level) break;
    // Gains of a part's steps never rise, except by a rounding error. The minimum keeps the order
    // of steps when they are sorted by gain.
    last_gain = std::min(last_gain, best_gain);
    steps.push_back({{index, best}, last_gain});
    level = best;
  }
  if (!steps.empty()) return steps;
  for (size_t i = 1; i <= part.levels.size(); ++i) {
    const double noise = part.levels[i - 1].noise;
    if (!std::isfinite(noise) || (level != 0 && noise >= part.levels[level - 1].noise)) continue;
    level = i;
  }
  if (level != 0) steps.push_back({{index, level}, gain({}, part.levels[level - 1])});
  return steps;
}

class Search {
 public:
  Search(const std::vector<PartFigures>& parts, const Goal& goal,
         const std::function<Measured(const Selection&)>& measure,
         const std::function<bool()>& is_stopped)
      : parts_(parts), goal_(goal), measure_(measure), is_stopped_(is_stopped) {}

  bool keeps_bound(const Selection& selection) {
    auto found = known_.find(selection);
    if (found == known_.end()) {
      if (best_ && is_stopped_()) return false;
      found = known_.emplace(selection, measure_(selection)).first;
      if (!best_ || goal_.is_better(found->second, best_->measured)) {
        best_ = Choice{selection, found->second, goal_.is_met(found->second)};
      }
    }
    return goal_.is_met(found->second);
  }

  void bisect() {
    const std::vector<Step> steps = greedy_steps(parts_);
    const auto first = [&](size_t count) {
      Selection selection(parts_.size());
      for (size_t i = 0; i < count; ++i) selection[steps[i].part] = steps[i].level;
      return selection;
    };
    const bool wants_many = goal_.kind == Goal::Kind::kAtLeastQuality;
    // The program with the first `kept` steps should meet the bound. The program with the first
    // `lost` steps should miss the bound. Under a bound on cost, steps that save nothing are tried
    // last.
    size_t kept = wants_many ? 0 : saving_steps(steps);
    size_t lost = wants_many ? steps.size() : 0;
    bool is_kept = keeps_bound(first(kept));
    if (keeps_bound(first(lost))) return;
    if (!is_kept && !wants_many) {
      lost = kept;
      kept = steps.size();
      is_kept = keeps_bound(first(kept));
    }
    if (!is_kept) return;
    while (std::max(kept, lost) - std::min(kept, lost) > 1) {
      const size_t middle = (kept + lost) / 2;
      (keeps_bound(first(middle)) ? kept : lost) = middle;
    }
  }

  // Returns the number of steps before the first step that saves nothing.
  size_t saving_steps(const std::vector<Step>& steps) const {
    Selection selection(parts_.size());
    size_t count = 0;
    for (const Step& step : steps) {
      const PartFigures& part = parts_[step.part];
      size_t& level = selection[step.part];
      if (figures_at(part, step.level).saved <= figures_at(part, level).saved) break;
      level = step.level;
      ++count;
    }
    return count;
  }

  // Tries one program for each scheme: parts that do not support the scheme stay float.
  void try_uniform() {
    std::set<std::string> schemes;
    for (const PartFigures& part : parts_) {
      for (const LevelFigures& level : part.levels) schemes.insert(level.scheme);
    }
    for (const std::string& scheme : schemes) {
      Selection selection(parts_.size());
      for (size_t part = 0; part < parts_.size(); ++part) {
        const auto& levels = parts_[part].levels;
        const auto found = std::ranges::find(levels, scheme, &LevelFigures::scheme);
        if (found != levels.end()) {
          selection[part] = static_cast<size_t>(found - levels.begin()) + 1;
        }
      }
      keeps_bound(selection);
    }
  }

  // Tries up to `max_swaps` variants of the best program, the most promising first. A variant
  // changes one part.
  void swap(size_t max_swaps) {
    for (size_t i = 0; i < max_swaps && best_->is_met && !is_stopped_(); ++i) {
      const std::optional<Selection> next = best_swap();
      if (!next) return;
      keeps_bound(*next);
    }
  }

  const Choice& best() const { return *best_; }

 private:
  // Returns the best selection after its most promising untried change, or nullopt if all changes
  // were tried.
  std::optional<Selection> best_swap() const {
    const bool wants_many = goal_.kind == Goal::Kind::kAtLeastQuality;
    std::optional<Selection> next;
    std::pair<bool, double> next_key;
    for (size_t part = 0; part < parts_.size(); ++part) {
      const LevelFigures from = figures_at(parts_[part], best_->selection[part]);
      for (size_t level = 0; level <= parts_[part].levels.size(); ++level) {
        const LevelFigures to = figures_at(parts_[part], level);
        const bool is_useful = wants_many ? to.saved > from.saved : to.noise < from.noise;
        Selection selection = best_->selection;
        selection[part] = level;
        if (!is_useful || !std::isfinite(to.noise) || known_.contains(selection)) continue;
        // Under a bound on cost, prefers changes that probably meet the bound, then changes that
        // remove the most noise per unit of cost.
        const double cost = best_->measured.cost + from.saved - to.saved;
        const std::pair key(wants_many || cost <= goal_.bound,
                            wants_many ? gain(from, to)
                            : to.saved >= from.saved
                                ? kInfinity
                                : (from.noise - to.noise) / (from.saved - to.saved));
        if (next && key <= next_key) continue;
        next = std::move(selection);
        next_key = key;
      }
    }
    return next;
  }

  const std::vector<PartFigures>& parts_;
  const Goal& goal_;
  const std::function<Measured(const Selection&)>& measure_;
  const std::function<bool()>& is_stopped_;
  std::map<Selection, Measured> known_;
  std::optional<Choice> best_;
};

}  // namespace

bool Goal::is_met(const Measured& by) const {
  return kind == Kind::kAtLeastQuality ? by.quality >= bound : by.cost <= bound;
}

bool Goal::is_better(const Measured& a, const Measured& b) const {
  if (is_met(a) != is_met(b)) return is_met(a);
  const bool by_quality = (kind == Kind::kAtLeastQuality) != is_met(a);
  const auto key = [&](const Measured& each) {
    return by_quality ? std::pair(-each.quality, each.cost) : std::pair(each.cost, -each.quality);
  };
  return key(a) < key(b);
}

std::vector<Step> greedy_steps(const std::vector<PartFigures>& parts) {
  std::vector<RankedStep> ranked;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const RankedStep& each : steps_of(parts, i)) ranked.push_back(each);
  }
  // The stable sort keeps the order of a part's steps: gains never rise, and noise does not fall
  // between steps of equal gain.
  std::ranges::stable_sort(ranked, [&](const RankedStep& a, const RankedStep& b) {
    const auto key = [&](const RankedStep& each) {
      const PartFigures& part = parts[each.step.part];
      return std::tuple(-each.gain, figures_at(part, each.step.level).noise, part.name);
    };
    return key(a) < key(b);
  });
  std::vector<Step> steps;
  steps.reserve(ranked.size());
  for (const RankedStep& each : ranked) steps.push_back(each.step);
  return steps;
}

Choice choose(const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
              const std::function<Measured(const Selection&)>& measure,
              const std::function<bool()>& is_stopped) {
  Search search(parts, goal, measure, is_stopped);
  search.bisect();
  search.try_uniform();
  search.swap(max_swaps);
  return search.best();
}

}  // namespace vitrine::tools
