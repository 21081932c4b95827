// Collects the advice of all rules, tries it, and ranks it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/baseline.h"

namespace vitrine::tools {

// Pieces of advice that save time together and do not change the outputs, the best first.
struct Combination {
  std::vector<size_t> lines;       // numbers, from 1
  Advice advice;                   // the change of all lines, as measured in one program
  std::vector<std::string> steps;  // a sentence for each line that was tried
};

struct Findings {
  std::vector<Advice> advice;        // best first
  std::vector<Dismissed> useless;    // tried: brings nothing or costs time
  std::vector<Dismissed> not_tried;  // with the reason
  std::optional<Combination> together;
  bool is_interrupted = false;
};

// Runs trials until all changes are tried or about options.seconds have passed. Ctrl-C ends the
// trials but keeps the advice found so far.
Findings find_advice(Baseline& baseline, const AdviseOptions& options);

// Returns the advice of all rules. Merges pieces of advice that make the same change.
std::vector<Advice> collect_advice(const Context& context);

// Sorts advice: advice about time comes first, then advice about loading, memory and files. Each
// group is sorted by the midpoint of the interval of the saving. Advice that needs data from the
// user comes last in its group. Sets Advice::excludes.
void rank_advice(std::vector<Advice>& advice);

}  // namespace vitrine::tools
