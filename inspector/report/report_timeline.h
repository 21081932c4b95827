// A profile as trace events, for ui.perfetto.dev and chrome://tracing. The JSON object form of
// "Trace Event Format" (Google, 2016): complete events ("ph": "X") and names of tracks ("M").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Slices of a room above, which do not overlap. Times are those of the trace, ns.
struct TimelineTrack {
  struct Slice {
    std::string name;
    uint64_t start = 0;
    uint64_t ns = 0;
  };
  std::string name;
  std::vector<Slice> slices;
};

// One track for the executor (runs, kernels, delegate calls), and one for each delegate with the
// operators that it ran. Times are those of the trace, in microseconds since its first event; where
// a delegate gave durations only, its operators say so ("derived_start"). All runs of the trace,
// warm-ups included.
std::string report_timeline(const Profile& profile);
// The same for methods traced by one clock; each becomes a process. `top` becomes the first track
// of the first one.
std::string report_timeline(std::span<const Profile* const> profiles,
                            const TimelineTrack* top = nullptr);

}  // namespace vitrine::inspector
