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

  // Returns true if the figures `by` meet the bound. Returns false if the bounded figure is NaN.
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

// Returns the steps in which parts lose precision. Steps are sorted by saving divided by added
// noise, largest first; then by noise, least first; then by the name of the part. A part starts in
// float, and has a step to each level on the upper convex hull of its savings plotted over noise.
// A part that cannot save anything has one step, to its level with the least noise; such steps come
// last. Omits levels with infinite noise.
std::vector<Step> greedy_steps(const std::vector<PartFigures>& parts);

// Returns the best program of this search:
// 1. Apply the first steps of greedy_steps(): as many as a bound on quality allows, or as few as a
//    bound on cost requires. Bisection finds this number.
// 2. For each scheme, try the program that uses the scheme in all parts that support it.
// 3. Up to `max_swaps` times, try another precision for one part of the best program.
// Programs are compared by the results of `measure`, because the figures of the parts may not add
// up. The returned program may miss the bound. The search calls `is_stopped` before each
// measurement except the first, and ends if `is_stopped` returns true.
Choice choose(
    const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
    const std::function<Measured(const Selection&)>& measure,
    const std::function<bool()>& is_stopped = [] { return false; });

}  // namespace vitrine::tools
