// Estimates, without a trial, how much a change saves. The intervals are wide: from no gain to the
// most that the model of the machine allows. docs/advice.md has the formulas.
#pragma once

#include <cstddef>

#include "tools/advise/advice.h"
#include "tools/advise/context.h"
#include "tools/advise/rows.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

// Returns the time that `threads` threads save, or 0 if the program already uses at least as many.
// At best, each delegate and matrix product takes context.threads / threads of its present time,
// plus a microsecond per call to wake the threads, but not more than its present time. At worst,
// only the time to wake the threads is added.
Interval saved_by_threads(const Context& context, size_t threads);

// Returns the time that smaller weights may save in these rows. `ratio` is the new size of the
// weights divided by the old size.
//
// - Best case: the time of the rows * (1 - ratio), or 0 if that is not more than the minimum time
//   to quantize the activations.
// - Worst case: a loss (negative) of this minimum time plus a tenth of the rows' time.
Interval saved_by_smaller_weights(const RowSum& rows, double ratio);

// Returns the time that removing `calls` calls saves. The low end is the time of the `calls`
// cheapest kernel calls of the profile, or 0 if the program has delegates. The high end is the time
// of the `calls` most expensive kernel calls plus the time outside all rows.
Interval saved_by_fewer_calls(const Context& context, size_t calls);

// Sets advice.ratio to the time ratio that advice.saved implies, so that --verify can check this
// ratio. Widens the interval by kBetweenMeasurements, because two measurements differ.
void set_modeled_ratio(const Context& context, Advice& advice);

}  // namespace vitrine::tools
