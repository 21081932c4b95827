#include "tools/pte_lower/auto/choose.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

namespace vitrine::tools {
namespace {

double gain(const PartFigures& part) {
  if (part.saved <= 0) return part.saved;
  if (part.noise <= 0) return std::numeric_limits<double>::infinity();
  return part.saved / part.noise;
}

// Measures each selection once, and keeps the best.
class Search {
 public:
  Search(const Goal& goal, const std::function<Measured(const Selection&)>& measure)
      : goal_(goal), measure_(measure) {}

  // Returns true if the program keeps the bound.
  bool keeps_bound(const Selection& selection) {
    auto found = known_.find(selection);
    if (found == known_.end()) {
      found = known_.emplace(selection, measure_(selection)).first;
      if (!best_ || goal_.is_better(found->second, best_->measured)) {
        best_ = Choice{selection, found->second, goal_.is_met(found->second)};
      }
    }
    return goal_.is_met(found->second);
  }
  const Choice& best() const { return *best_; }

 private:
  const Goal& goal_;
  const std::function<Measured(const Selection&)>& measure_;
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

std::vector<size_t> greedy_order(const std::vector<PartFigures>& parts) {
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::tuple(-gain(parts[a]), parts[a].noise, parts[a].name) <
           std::tuple(-gain(parts[b]), parts[b].noise, parts[b].name);
  });
  return order;
}

Choice choose(const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
              const std::function<Measured(const Selection&)>& measure) {
  Search search(goal, measure);
  const std::vector<size_t> order = greedy_order(parts);
  const auto first = [&](size_t count) {
    Selection selection(parts.size());
    for (size_t i = 0; i < count; ++i) selection[order[i]] = true;
    return selection;
  };
  const bool wants_many = goal.kind == Goal::Kind::kAtLeastQuality;
  // The bound is easiest to keep at `kept`, and hardest at `lost`.
  size_t kept = wants_many ? 0 : parts.size();
  size_t lost = wants_many ? parts.size() : 0;
  if (!search.keeps_bound(first(kept))) {
    search.keeps_bound(first(lost));
    return search.best();
  }
  if (search.keeps_bound(first(lost))) return search.best();
  while (std::max(kept, lost) - std::min(kept, lost) > 1) {
    const size_t middle = (kept + lost) / 2;
    (search.keeps_bound(first(middle)) ? kept : lost) = middle;
  }
  // Adds parts that still fit, in greedy order, or takes out parts that are not needed, noisiest
  // per byte first. The part at the border is known not to fit.
  const std::span<const size_t> all = order;
  const auto group = wants_many ? all.subspan(kept) : all.first(kept);
  std::vector<size_t> candidates(group.begin(), group.end());
  if (!wants_many) std::ranges::reverse(candidates);
  Selection selection = search.best().selection;
  for (size_t i = 1; i < candidates.size() && i <= max_swaps; ++i) {
    selection[candidates[i]] = wants_many;
    search.keeps_bound(selection);
    selection = search.best().selection;
  }
  return search.best();
}

}  // namespace vitrine::tools
