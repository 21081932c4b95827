// Collects, tries and ranks the advice of all rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/baseline.h"

namespace vitrine::tools {

// Advice that saves time together without changing the outputs, the best first.
struct Combination {
  std::vector<size_t> lines;       // numbers, from 1
  Advice advice;                   // the merged change, measured in one program
  std::vector<std::string> steps;  // a sentence for each tried piece of advice
};

struct Findings {
  std::vector<Advice> advice;        // best first
  std::vector<Dismissed> useless;    // tried: saves nothing or costs time
  std::vector<Dismissed> not_tried;  // each element has the reason
  std::optional<Combination> together;
  bool is_interrupted = false;
};

// Tries all changes, for at most about options.seconds. Ctrl-C ends the trials but keeps the advice
// found so far.
Findings find_advice(Baseline& baseline, const AdviseOptions& options);

// Merges advice of different rules that makes the same change.
std::vector<Advice> collect_advice(const Context& context);

// Sorts advice: advice with a known saving first, then by Advice::gain. Within a gain, advice that
// needs the user's data is last, and larger savings (midpoint of the interval) are first. Sets
// Advice::excludes.
void rank_advice(std::vector<Advice>& advice);

}  // namespace vitrine::tools
