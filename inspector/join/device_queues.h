// Separates rows that devices measured with their own clocks from rows that the CPU's clock
// measured.
#pragma once

#include <vector>

#include "inspector/join/profile.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {

// Moves the rows of devices, with their events in the timeline, to Profile::queues. For each row,
// `queues` has the device's queue, or null if the CPU ran the row. Queues with the same name are
// merged. Does not compute the rows' shares of the time.
//
// The events of a call get new start times, because the clocks have different origins. The first
// event begins when the CPU entered the call. If the start times of a queue cannot be compared, or
// if the queue counts ticks, the events are placed one after the other. Ticks are scaled so that
// the events last as long as the call.
void split_queues(Profile& profile, const std::vector<const DeviceQueue*>& queues,
                  const RunWindow& window);

}  // namespace vitrine::inspector
