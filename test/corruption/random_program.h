// Programs made of a few bytes, each a choice: calls of every kernel, delegates with real payloads,
// jumps and moves, chained through shared tensors, lists and memory, in one method or two. They are
// well-formed; what they mean may be wrong in every way that a format cannot rule out.
#pragma once

#include <cstdint>
#include <span>

#include "test/support/program_builder.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

// `kernels` says how many arguments each operator takes. Any bytes make a program.
AlignedBytes random_program(std::span<const uint8_t> choices, const KernelRegistry& kernels);

}  // namespace vitrine::test
