// A trace of many runs of one delegate, and its record, for the inspector's own speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::bench {

inline constexpr int32_t kTraceOperators = 249;  // and the call itself, and the run

// An ETDump.
std::vector<std::byte> make_trace(int runs);
etrecord::EtRecord make_record();
// Reads, joins and groups; throws HostError if rows are missing.
void inspect_trace(const std::vector<std::byte>& trace, const etrecord::EtRecord& record);

}  // namespace vitrine::bench
