// Provides valid calls to every kernel, for tests that damage the arguments of these calls.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "test/kernels/op_arguments.h"
#include "vitrine/error.h"
#include "vitrine/kernel.h"

namespace vitrine::test {

inline constexpr size_t kMaxTemp = size_t{64}
                                   << 20;  // limit on a call's temporary memory, in bytes

// Returns true if the environment variable VITRINE_TEST_OPTIMIZED is set. This run then tests the
// optimized kernels.
bool tests_optimized_kernels();

// The kernels that this run tests.
const std::map<std::string_view, const Kernel*>& kernels_by_name();

// At least one valid call for each kernel.
const std::vector<OpCall>& op_calls();

// Runs a call and returns its error. Fails the test if an input changed, if the call took long, or
// if an error has no message.
Error run_checked(const OpCall& call);

// Prints the call that run_checked() is running, to explain a sanitizer's report.
void print_current_call();

}  // namespace vitrine::test
