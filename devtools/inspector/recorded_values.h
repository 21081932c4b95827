// The tensors that a run recorded (--debug_outputs), and what of the source model each one is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devtools/etdump/etdump_reader.h"
#include "devtools/etrecord/etrecord.h"
#include "devtools/inspector/profile.h"

namespace vitrine::inspector {

struct RecordedValue {
  const etdump::DebugTensor* tensor = nullptr;  // of the trace; has its data
  size_t order = 0;                             // among all of the run
  size_t result = 0;                            // the how manieth of what produced it
  std::optional<size_t> row;                    // of the profile: what produced it
  std::optional<etrecord::DebugHandle> handle;  // of the node whose result it is
};

struct RecordedValues {
  std::vector<RecordedValue> values;                // of instructions, in run order
  std::vector<const etdump::DebugTensor*> outputs;  // of the method
  std::vector<std::string> notes;
};

// Of the trace's last run that recorded any; of what ran several times in it, the last time.
// `profile` was made of `trace`, with `record` (which may be null). `trace` has its debug data and
// outlives the result.
//
// A delegate call's outputs are told apart by the record: they are the results of its nodes that
// others use, in graph order. Where their number or shapes do not agree, they have neither row nor
// handle, and a note says so.
RecordedValues recorded_values(const Profile& profile, const etdump::EtDump& trace,
                               const etrecord::MethodRecord* record);

}  // namespace vitrine::inspector
