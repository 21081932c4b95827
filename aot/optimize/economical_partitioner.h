// A partitioner that does not delegate views if they cost less outside delegates.
#pragma once

#include <cstddef>
#include <memory>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

struct SparedViews {
  size_t views = 0;      // views moved out of delegates
  size_t delegates = 0;  // delegates that contained only views
};

// Returns a partitioner that removes the views at the borders of `inner`'s partitions, and reports
// a Rejection for each removed view. A backend copies views; outside delegates, views do not run
// code. Adds the numbers of removed views and empty delegates to `spared`, which must outlive the
// partitioner or be null.
//
// Other operators stay in their partitions, even if a partition has only one operator. Even on 256
// floats, a delegate takes half as long as a kernel, because kernels check shapes in each execution
// (bench --section operators).
std::shared_ptr<const Partitioner> economical(std::shared_ptr<const Partitioner> inner,
                                              SparedViews* spared = nullptr);

}  // namespace vitrine::aot
