// Generates programs from a few bytes, each of which is a choice. A program has one or two methods.
// The instructions call random kernels, call delegates with valid payloads, jump, move values, or
// free values. Several instructions may use the same tensors, lists and memory. Programs are
// well-formed, but their content may be invalid.
#pragma once

#include <cstdint>
#include <span>

#include "test/support/program_builder.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

// Returns a program for any bytes. `kernels` determines the number of arguments of each operator.
AlignedBytes random_program(std::span<const uint8_t> choices, const KernelRegistry& kernels);

}  // namespace vitrine::test
