// A partitioner that does not delegate views that cost less outside of delegates.
#pragma once

#include <cstddef>
#include <memory>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

struct SparedViews {
  size_t views = 0;      // views moved out of delegates
  size_t delegates = 0;  // delegates that contained only views
};

// Returns a partitioner that takes the partitions of `inner` without the views at their borders. A
// backend copies views, while outside of delegates they need no code. Each removed view gets a
// Rejection and is counted in `spared`, which may be null and must outlive the result.
//
// Other operators are not removed: even a delegate with a single operator on 256 floats takes half
// the time of the kernel, which checks shapes in each execution (bench --section operators).
std::shared_ptr<const Partitioner> economical(std::shared_ptr<const Partitioner> inner,
                                              SparedViews* spared = nullptr);

}  // namespace vitrine::aot
