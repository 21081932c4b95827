// Generates programs from a few bytes, each of which is a choice. A program has one or two methods.
// Their instructions are calls of any kernel, calls of delegates with valid payloads, jumps and
// moves. The instructions share tensors, lists and memory. Programs are well-formed, but their
// content may be wrong in any way that the format allows.
#pragma once

#include <cstdint>
#include <span>

#include "test/support/program_builder.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

// Any bytes give a program. The number of arguments of each operator is looked up in `kernels`.
AlignedBytes random_program(std::span<const uint8_t> choices, const KernelRegistry& kernels);

}  // namespace vitrine::test
