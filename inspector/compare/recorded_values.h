// Joins the tensors that a run recorded (--debug_outputs) with the source model.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/value_origin.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct RecordedValue {
  const etdump::DebugTensor* tensor = nullptr;  // points into the trace, which has its debug data
  size_t order = 0;                             // position among the values of the run
  size_t result = 0;                            // index among the results of its producer
  std::optional<size_t> row;                    // profile row that produced the value
  std::optional<size_t> node;                   // node of the record that produced the value
  // Set if an operator inside a delegate reported the value.
  std::optional<etdump::ValueOrigin> origin;
};

struct RecordedValues {
  std::vector<RecordedValue> values;                // values of instructions, in run order
  std::vector<const etdump::DebugTensor*> outputs;  // outputs of the method
  std::vector<std::string> notes;
  // Tensors that were converted to the model's order of dimensions, because a delegate logged them
  // in unmarked channels-last order. `values` may point to these tensors.
  std::deque<etdump::DebugTensor> reordered;

  bool has_values_of(size_t row) const;  // true if the row's delegate operator reported a value
};

// Returns the values of the last run of the trace that recorded values. If an instruction ran
// several times in that run, returns its last values. `profile` must have been made from `trace`
// and `record`; `record` may be null. `trace` must have its debug data and outlive the result.
//
// Several nodes and several instructions may share a debug handle. A value gets a node only if the
// node is unambiguous:
// - If a handle belongs to one node and to no delegate call, the results of the last instruction
//   with the handle belong to the node.
// - Otherwise, if an op has as many kernels as nodes, its kernels and nodes are paired in order.
//   The remaining nodes belong to the delegate call that has the handle, if there is exactly one
//   such call.
//
// The outputs of a delegate call are the results that the program returns or that nodes outside of
// the call use, in graph order. If the recorded outputs do not match these results in number and
// shape, they get no node, and a note gives the reason.
//
// The row of an operator inside a delegate may have several nodes. Its value belongs to the node
// whose result is used outside of the row, such as a fused relu. If several nodes dequantize the
// result, each of these nodes gets a value. Values of inserted layout changes are left out. An
// output of a call is left out if an operator inside the delegate reported the same result.
RecordedValues recorded_values(const Profile& profile, const etdump::EtDump& trace,
                               const etrecord::MethodRecord* record);

}  // namespace vitrine::inspector
