// Chooses which parts of a model are quantized. It knows only figures; the caller measures.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vitrine::tools {

// A part of the model, with what its quantization alone does.
struct PartFigures {
  std::string name;
  double noise = 0;  // power of the error at the outputs, relative to the power of the outputs
  double saved = 0;  // bytes or milliseconds; may be negative
};

// Element i is true if part i is quantized.
using Selection = std::vector<bool>;

// The measured figures of a program.
struct Measured {
  double quality = 0;  // dB, or the score of the user
  double cost = 0;     // bytes or milliseconds
};

struct Goal {
  enum class Kind { kAtLeastQuality, kAtMostCost };
  Kind kind = Kind::kAtLeastQuality;
  double bound = 0;

  // False if a figure is not a number.
  bool is_met(const Measured& by) const;
  // Both keep the bound: a lower cost is better under a bound on quality, and the other way around.
  // Neither keeps it: the one that is nearer to the bound is better. Equal figures: false.
  bool is_better(const Measured& a, const Measured& b) const;
};

struct Choice {
  Selection selection;
  Measured measured;
  bool is_met = false;
};

// The order in which parts are quantized: most saved per noise first. Ties: less noise, then the
// lower name. Parts that save nothing come last.
std::vector<size_t> greedy_order(const std::vector<PartFigures>& parts);

// Quantizes parts in greedy order: as many as the bound on quality allows, or as few as the bound
// on cost needs. Bisection finds the number, because more parts mean more error and less cost. Up
// to `max_swaps` more programs with one part changed are then tried. Each decision is made with the
// figures that `measure` returns, so the result keeps the bound even if the figures of the parts do
// not add up. If no program that was measured keeps the bound, the best one is returned.
Choice choose(const std::vector<PartFigures>& parts, const Goal& goal, size_t max_swaps,
              const std::function<Measured(const Selection&)>& measure);

}  // namespace vitrine::tools
