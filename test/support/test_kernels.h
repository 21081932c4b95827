// Provides kernels in the namespace "test", for programs of ProgramBuilder. Tensors must be f32 and
// have equal sizes.
//
//   test::add.out(Tensor a, Tensor b, Tensor out)         a + b
//   test::scale.out(Tensor self, Scalar factor, Tensor out)
//   test::scale_scratch.out                               like scale, with temporary memory
//   test::add_derived.out                                 like add, with a copy of b that is kept
//                                                         if b is a constant
//   test::fail.out(Tensor self, Tensor out)               always fails
//   test::sub.Scalar(int a, int b) -> int
//   test::less.Scalar(int a, int b) -> bool
//   test::size.int(Tensor self, int dim) -> int
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::test {

// Returns a registry with one table, "test".
const KernelRegistry& test_kernels();

}  // namespace vitrine::test
