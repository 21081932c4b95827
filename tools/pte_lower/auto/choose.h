// Chooses the precision of each part of a model. The caller measures the figures on which the
// choice depends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vitrine::tools {

// A precision of a part, with its effect on a model that is otherwise float.
struct LevelFigures {
  std::string scheme;  // "int8", "8da4w:32"
  double noise = 0;    // power of the error at the outputs, relative to the power of the outputs
  double saved = 0;    // bytes or milliseconds; may be negative
};

struct PartFigures {
  std::string name;
  std::vector<LevelFigures> levels;  // in the order in which they were measured; without float
};

// The precision of each part: 0 for float, or 1 + the index in PartFigures::levels.
using Selection = std::vector<size_t>;

struct Measured {
  double quality = 0;  // dB, or the score of the user
  double cost = 0;     // bytes or milliseconds
};

struct Goal {
  enum class Kind { kAtLeastQuality, kAtMostCost };
  Kind kind = Kind::kAtLeastQuality;
  double bound = 0;

  // Returns true if `by` meets the bound. Returns false if the figure to compare is NaN.
  bool is_met(const Measured& by) const;
  // Returns true if `a` is better than `b`. If both meet the bound, lower cost is better under a
  // bound on quality, and higher quality is better under a bound on cost. If neither meets the
  // bound, the program nearer to the bound is better.
  bool is_better(const Measured& a, const Measured& b) const;
};

struct Choice {
  Selection selection;
  Measured measured;
  bool is_met = false;
};

// A change of one part to another precision.
struct Step {
  size_t part = 0;
  size_t level = 0;  // as in Selection
};

// Returns the order in which parts lose precision: the step with the largest saving per noise comes
// first. In a tie, the step with less noise comes first, and then the part whose name sorts first.
// The steps of a part lead from float through the levels on the convex hull of savings over noise.
// A part that saves nothing has one step, to its level with the least noise. These steps come last.
// Levels with infinite noise are left out.
std::vector<Step> greedy_steps(const std::vector<PartFigures>& parts);

// Makes as many steps as a bound on quality allows, or as few as a bound on cost requires. Finds
// this number by bisection. Then tries the programs that use a single scheme for all parts that
// support it. Then tries up to `max_swaps` programs that differ from the best one by the precision
// of one part. Every decision uses figures that `measure` returns, because the figures of the parts
// may not add up. If no measured program meets the bound, returns the best one. `is_stopped` is
// called before each measurement except the first, and can end the search.
Choice choose(
    const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
    const std::function<Measured(const Selection&)>& measure,
    const std::function<bool()>& is_stopped = [] { return false; });

}  // namespace vitrine::tools
