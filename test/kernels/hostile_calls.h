// Calls of every kernel, for tests that damage their arguments.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "test/kernels/op_arguments.h"
#include "vitrine/error.h"
#include "vitrine/kernel.h"

namespace vitrine::test {

inline constexpr size_t kMaxTemp = size_t{64} << 20;  // bytes that a call may use

// The optimised kernels are tested in a separate run.
bool of_optimised_kernels();

// Those of this run.
const std::map<std::string_view, const Kernel*>& kernels_by_name();

// A valid call or more for each kernel.
const std::vector<OpCall>& op_calls();

// Calls, and fails the test unless inputs are unchanged, the call was quick, and an error says why.
Error run_checked(const OpCall& call);

// What a sanitizer's report is about: prints the call that run_checked() is making.
void print_current_call();

}  // namespace vitrine::test
