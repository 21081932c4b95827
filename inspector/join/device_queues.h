#pragma once

#include <vector>

#include "inspector/join/profile.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {

// Moves the rows that devices measured with their own clocks, and their timeline events, to
// Profile::queues. `queues` is parallel to the profile's rows and holds the device's queue, or null
// for the CPU. Queues with the same name become one profile. Does not set ProfileRow::share.
//
// Events of devices get new start times, because the devices' clocks have other origins. The first
// event of a call starts when the CPU entered the call. If a queue has incomparable start times or
// counts ticks, its events are placed one after the other. Ticks are scaled so that the events of a
// call last as long as the call.
void split_queues(Profile& profile, const std::vector<const DeviceQueue*>& queues,
                  const RunWindow& window);

}  // namespace vitrine::inspector
