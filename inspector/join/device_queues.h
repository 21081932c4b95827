// Separates rows that devices measured with their own clocks from rows that the CPU's clock
// measured.
#pragma once

#include <vector>

#include "inspector/join/profile.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {

// Moves the rows that devices ran, and the rows' timeline events, to Profile::queues. `queues` is
// parallel to the profile's rows. Each element is the queue of the device that ran the row, or null
// if the CPU ran the row. Queues with the same name become one profile. Does not set
// ProfileRow::share.
//
// Events of devices get new start times, because the devices' clocks have other origins than the
// CPU's clock. The first event of a call starts when the CPU entered the call. If the start times
// of a queue cannot be compared, or if the queue counts ticks, the events are placed one after the
// other. Ticks are scaled so that the events of a call last as long as the call.
void split_queues(Profile& profile, const std::vector<const DeviceQueue*>& queues,
                  const RunWindow& window);

}  // namespace vitrine::inspector
