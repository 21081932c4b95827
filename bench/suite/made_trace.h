// Generates a trace of many runs of one delegate and its ETRecord, for measuring the inspector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::bench {

// Operators per run. A run has two more events: the delegate call and the run itself.
inline constexpr int32_t kTraceOperators = 249;

// Returns an ETDump.
std::vector<std::byte> make_trace(int runs);
etrecord::EtRecord make_record();
// Reads the trace, joins it with the record and groups the rows. Throws a HostError if rows are
// missing.
void inspect_trace(const std::vector<std::byte>& trace, const etrecord::EtRecord& record);

}  // namespace vitrine::bench
