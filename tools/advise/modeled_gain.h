// Estimates savings without a trial. The intervals are wide: from no gain to the best case of the
// machine's model (docs/advice.md).
#pragma once

#include <cstddef>

#include "tools/advise/advice.h"
#include "tools/advise/context.h"
#include "tools/advise/rows.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

// Returns the time that `threads` threads save, or 0 if the program already uses as many threads.
// At best, each delegate and matrix product takes context.threads / threads of its time, plus a
// microsecond per call to wake threads, but never more time than before. At worst, only waking the
// threads adds time.
Interval saved_by_threads(const Context& context, size_t threads);

// Returns the time that smaller weights save in these rows. `ratio` is the new size divided by the
// old size. Let Q be the minimum time to quantize the activations.
//
// - Best case: the time of the rows * (1 - ratio), or 0 if this is not more than Q.
// - Worst case: a loss (negative) of Q plus a tenth of the rows' time.
Interval saved_by_smaller_weights(const RowSum& rows, double ratio);

// Returns the saving of removing `calls` calls. Low: the time of the `calls` cheapest kernel calls,
// or 0 if the program has delegates. High: the time of the `calls` most expensive kernel calls plus
// the time outside all rows.
Interval saved_by_fewer_calls(const Context& context, size_t calls);

// Sets advice.ratio from advice.saved for --verify. Widens the interval by kBetweenMeasurements.
void set_modeled_ratio(const Context& context, Advice& advice);

}  // namespace vitrine::tools
