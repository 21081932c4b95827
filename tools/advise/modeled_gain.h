// Models of what a change saves, without a trial. The intervals are wide: they reach from no gain
// to what the model of the machine allows. docs/advice.md has the formulas.
#pragma once

#include <cstddef>

#include "tools/advise/advice.h"
#include "tools/advise/context.h"
#include "tools/advise/interval.h"
#include "tools/advise/rows.h"

namespace vitrine::tools {

// Returns what `threads` threads save, more than now: at best, rows that can be divided take
// context.threads / threads of their time, and a microsecond for each call to wake the threads. At
// worst, they only wake.
Interval saved_by_threads(const Context& context, size_t threads);

// Returns what smaller weights save in these rows: at best, their
// time shrinks like the bytes, to `ratio`; nothing if that is less than the time of converting the
// activations. At worst, the time of products stays, and the conversions take a tenth of it too.
Interval saved_by_smaller_weights(const RowSum& rows, double ratio);

// Returns the time that removing `calls` calls saves. The low end is the time of the cheapest
// kernel calls of the profile, or 0 if the program has delegates. The high end is the time of the
// most expensive calls plus the time outside all rows.
Interval saved_by_fewer_calls(const Context& context, size_t calls);

// Sets the ratio that follows from `saved`, so that --verify can check it. It is wider by the
// difference of two measurements.
void set_modeled_ratio(const Context& context, Advice& advice);

}  // namespace vitrine::tools
