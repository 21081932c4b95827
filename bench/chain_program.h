// A program of kernel calls only: x = x + y on one-element float tensors, `steps` times.
#pragma once

#include "flatbuffers/flatbuffers.h"

namespace vitrine::bench {

// A bare .pte with the method "forward" and two planned inputs.
flatbuffers::DetachedBuffer make_chain_program(int steps);

}  // namespace vitrine::bench
