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
  // Values of tensors that are computed from stored tensors alone.
  std::map<const Node*, TensorData> constants;
};

// Memory is bounded by one sample and a histogram per group. `progress` is called before each
// sample and may be null. Throws AotErrors that name the sample and the tensor. Without samples,
// only weights are observed; that is an error if a group has activations with static scales.
Calibration calibrate(const ExportedProgram& program, const Annotations& annotations,
                      const CalibrationData& data,
                      const std::function<void(size_t sample)>& progress = nullptr);

// True if the tensor is stored and nothing changes it.
bool is_constant(const ExportedProgram& program, const Writes& writes, const Node& node);
// The calls that depend only on stored tensors that the program does not change.
std::set<const Node*> computed_constants(const ExportedProgram& program);

}  // namespace vitrine::aot
