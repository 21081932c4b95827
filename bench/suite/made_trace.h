// Generates a trace of a delegate's runs and the matching ETRecord, to measure the inspector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::bench {

// Number of operators per run. Each run also has events for the delegate call and the run.
inline constexpr int32_t kTraceOperators = 249;

// Returns the trace of `runs` runs as an ETDump.
std::vector<std::byte> make_trace(int runs);
etrecord::EtRecord make_record();
// Reads the trace, joins it with the record and groups the rows. Throws a HostError if rows are
// missing.
void inspect_trace(const std::vector<std::byte>& trace, const etrecord::EtRecord& record);

}  // namespace vitrine::bench
