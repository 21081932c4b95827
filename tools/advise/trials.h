// Tries the changes that rules propose, and sorts the changes by their savings.
#pragma once

#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/baseline.h"
#include "tools/advise/device_model.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/trial.h"

namespace vitrine::tools {

// Tries each change of `all`, ranks the useful changes, and tries them together. Stops after about
// options.seconds or Ctrl-C, with the results so far.
void try_advice(std::vector<Advice> all, Baseline& baseline, const AdviseOptions& options,
                Findings& findings);

// Adds a tried change to `findings`. The change is advice if it certainly saves time, or if it
// saves memory or file size without costing time. Otherwise, the change is added to
// `findings.useless` with the reason.
void sort_tried(Advice advice, const Context& context, Findings& findings);

// Stores the time ratio, the saved time, the change of memory and the effect on the outputs.
void set_measured(const TrialResult& trial, Advice& advice);

// Replaces this machine's ratio with the prediction for the context's device.
void set_predicted(const DevicePrediction& prediction, const Context& context, Advice& advice);

}  // namespace vitrine::tools
