// The tensors that a run recorded (--debug_outputs), joined with the source model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct RecordedValue {
  const etdump::DebugTensor* tensor = nullptr;  // of the trace; has its data
  size_t order = 0;                             // among all of the run
  size_t result = 0;                            // the how manieth of what produced it
  std::optional<size_t> row;                    // of the profile: the row that produced it
  std::optional<size_t> node;                   // of the record's graph: whose result it is
};

struct RecordedValues {
  std::vector<RecordedValue> values;                // of instructions, in run order
  std::vector<const etdump::DebugTensor*> outputs;  // of the method
  std::vector<std::string> notes;
};

// The values of the trace's last run that recorded any; if something ran several times, the last.
// `profile` was made of `trace`, with `record` (which may be null). `trace` has its debug data and
// outlives the result.
//
// A debug handle may stand for several nodes, and several instructions may have it. A value has a
// node only where there is no doubt:
// - of a handle with one node, what the last instruction gives is that node's result;
// - of one with more, kernels stand for the nodes of their op if there are as many of either, in
//   order; what is left belongs to the delegate call, if there is one.
// A call's outputs are the results of its nodes that others use, in graph order. Where their number
// or shapes do not agree they have no node, and a note says so.
RecordedValues recorded_values(const Profile& profile, const etdump::EtDump& trace,
                               const etrecord::MethodRecord* record);

}  // namespace vitrine::inspector
