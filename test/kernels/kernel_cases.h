// Tests kernels with tables of calls and results.
#pragma once

#include <initializer_list>
#include <string>

#include "vitrine/error.h"

namespace vitrine::test {

// A call of a kernel. Arguments are written as in op_arguments.inc, but without names. Additions:
//   f32[1,2,1,2]:0231{1,2,3,4}  a tensor with dim order 0, 2, 3, 1 and elements in memory order
//   !~f32[4]                    an output that can be resized; other outputs are static
//   nan  -inf  min  max         numbers; min and max are the limits of int64
struct KernelCase {
  std::string arguments;
  // The elements of each output in memory order, such as "1,2.5,nan 0,1,0", or the returned number.
  // "?" matches any element or any output. "empty" matches an output without elements. A call that
  // must fail has "error: " and a part of the message.
  std::string expected;
  ErrorCode code = ErrorCode::kInvalidArgument;  // the code of the error
};

// Runs the cases with each kernel of this operator: the portable one, and the optimized one if it
// exists. Results may differ from the expected values by `tolerance`.
void check_kernel(const std::string& op, std::initializer_list<KernelCase> cases,
                  double tolerance = 0);

}  // namespace vitrine::test
