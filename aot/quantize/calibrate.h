// Runs the float model on calibration data and lets observers see its tensors.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "aot/quantize/annotations.h"
#include "aot/quantize/observers.h"
#include "aot/quantize/writes.h"

namespace vitrine::aot {

struct Calibration {
  std::vector<ObservedRange> ranges;  // one per group
  // Results of the calls that computed_constants() returns.
  std::map<const Node*, TensorData> constants;
};

// Runs the model on all samples. Keeps only one sample and one histogram per group in memory. Calls
// `progress`, unless null, before each sample. AotErrors name the sample and the tensor. Without
// samples, observes only weights, and throws AotError for activations with static scales.
Calibration calibrate(const ExportedProgram& program, const Annotations& annotations,
                      const CalibrationData& data,
                      const std::function<void(size_t sample)>& progress = nullptr);

// True if the node is a stored tensor that no call changes.
bool is_constant(const ExportedProgram& program, const Writes& writes, const Node& node);
// Returns the calls whose results depend only on constant stored tensors (is_constant()).
std::set<const Node*> computed_constants(const ExportedProgram& program);

}  // namespace vitrine::aot
