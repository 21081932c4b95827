// Chooses the precision of each part of a model, from figures that the caller measures.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vitrine::tools {

// A precision of a part, with its effect on a model that is otherwise float.
struct LevelFigures {
  std::string scheme;  // "int8", "8da4w:32"
  double noise = 0;    // power of the error at the outputs / power of the outputs
  double saved = 0;    // bytes or milliseconds; may be negative
};

struct PartFigures {
  std::string name;
  std::vector<LevelFigures> levels;  // levels in order of measurement, without float
};

// The precision of each part: 0 for float, or 1 + the index in PartFigures::levels.
using Selection = std::vector<size_t>;

struct Measured {
  double quality = 0;  // dB, or the user's score
  double cost = 0;     // bytes or milliseconds
};

struct Goal {
  enum class Kind { kAtLeastQuality, kAtMostCost };
  Kind kind = Kind::kAtLeastQuality;
  double bound = 0;

  // True if the figures meet the bound. False if the bounded figure is NaN.
  bool is_met(const Measured& by) const;
  // Returns true if `a` is better than `b`. If both meet the bound, the better program has lower
  // cost (bound on quality) or higher quality (bound on cost). If neither meets the bound, the
  // program nearer to the bound is better.
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
  size_t level = 0;  // 0 for float, or 1 + the index of a level
};

// Returns the steps in which parts lose precision, sorted by saving / added noise (largest first),
// then by noise, then by the part's name. A part starts in float, and has a step to each level on
// the upper convex hull of savings over noise. A part without savings has one step, to its level
// with the least noise; such steps are last. Omits levels with infinite noise.
std::vector<Step> greedy_steps(const std::vector<PartFigures>& parts);

// Returns the best program of this search:
// 1. Apply the first steps of greedy_steps(): as many as a bound on quality allows, or as few as a
//    bound on cost requires. Bisection finds this number.
// 2. For each scheme, try the program that uses the scheme in all parts that support it.
// 3. Up to `max_swaps` times, try another precision for one part of the best program.
// Compares programs by `measure`, because figures of parts may not add up. The returned program may
// miss the bound. `is_stopped` ends the search before any measurement except the first.
Choice choose(
    const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
    const std::function<Measured(const Selection&)>& measure,
    const std::function<bool()>& is_stopped = [] { return false; });

}  // namespace vitrine::tools
