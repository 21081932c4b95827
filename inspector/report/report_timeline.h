// Writes a profile as trace events, for ui.perfetto.dev and chrome://tracing. Uses the JSON object
// form of "Trace Event Format" (Google, 2016): complete events ("ph": "X") and names of tracks
// ("M").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// A track whose slices the caller provides. Slices must not overlap. Times are ns of the trace's
// clock.
struct TimelineTrack {
  struct Slice {
    std::string name;
    uint64_t start = 0;
    uint64_t ns = 0;
  };
  std::string name;
  std::vector<Slice> slices;
};

// Writes one track for the executor (runs, kernels, delegate calls) and one track for each
// delegate, with its operators. Includes all complete runs of the trace, even warm-ups. Times are
// in microseconds since the first event. Operators whose start times were computed instead of
// measured have the argument "derived_start".
std::string report_timeline(const Profile& profile);
// Writes the profiles of several methods, each as a process. All profiles must have been traced
// with the same clock. `top` becomes the first track of the first process.
std::string report_timeline(std::span<const Profile* const> profiles,
                            const TimelineTrack* top = nullptr);

}  // namespace vitrine::inspector
