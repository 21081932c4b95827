// Lowers and runs the changes that rules propose, and sorts them by what they save.
#pragma once

#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/baseline.h"
#include "tools/advise/device_model.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/trial.h"

namespace vitrine::tools {

// Tries each change of `all`, ranks those that save something, and tries them together. Stops after
// about options.seconds, or after Ctrl-C, and keeps the results until then.
void try_advice(std::vector<Advice> all, Baseline& baseline, const AdviseOptions& options,
                Findings& findings);

// Moves a tried change to where it belongs by its ratio: advice if it saves time for certain, or
// memory or a part of the file without costing time; else a line about why it is useless.
void sort_tried(Advice advice, const Context& context, Findings& findings);

// Sets the ratio and what follows from it.
void set_measured(const TrialResult& trial, Advice& advice);

// Replaces the ratio of this machine by that of the device whose profile the context has.
void set_predicted(const DevicePrediction& prediction, const Context& context, Advice& advice);

}  // namespace vitrine::tools
