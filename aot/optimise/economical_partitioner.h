// Leaves to kernels what costs less there.
#pragma once

#include <cstddef>
#include <memory>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

struct SparedViews {
  size_t views = 0;      // taken out of delegates
  size_t delegates = 0;  // that held nothing else
};

// What `inner` chooses, without views at the border of partitions: a backend copies them, and
// outside they need no code. Each is a Rejection. `spared`, if not null, is added to and must
// outlive the result.
//
// Nothing else is worth taking out of XNNPACK's delegates: one of a single operator on 256 floats
// takes half the time of the kernel, which looks at shapes in each run (bench --section operators).
std::shared_ptr<const Partitioner> economical(std::shared_ptr<const Partitioner> inner,
                                              SparedViews* spared = nullptr);

}  // namespace vitrine::aot
