// Element-wise operators in float, with broadcasting, on all threads.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>

#include "kernels/optimized/simd/elementwise.h"
#include "kernels/util/promotion.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

struct FloatOperator {
  simd::Run run;
  std::array<float, 3> parameters{};
  bool returns_bool = false;
  bool first_is_bool = false;
};

// A tensor, or one number for all elements.
struct Operand {
  Operand(const Tensor& from) : tensor(&from) {}  // NOLINT(google-explicit-constructor)
  Operand(float number) : value(number) {}        // NOLINT(google-explicit-constructor)

  const Tensor* tensor = nullptr;
  float value = 0;
};

// Computes out = op(inputs...) with broadcasting and resizes `out`. Half and BFloat16 are computed
// in float. The common dtype must be Float, Half or BFloat16. All tensors must have this dtype,
// except a Bool or Byte first input (op.first_is_bool) and a Bool `out` (op.returns_bool). Rows
// must be contiguous, and rows of inputs may also repeat one element. Otherwise, returns false and
// computes nothing, but may have resized `out`.
[[nodiscard]] bool elementwise(KernelContext& context, const FloatOperator& op, ScalarType common,
                               std::initializer_list<Operand> inputs, Tensor& out);

// out = op(self, other) in the common dtype. Returns false in the same cases as elementwise().
[[nodiscard]] bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
                          const Tensor& other, Tensor& out);
[[nodiscard]] bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
                          const Scalar& other, Tensor& out);

}  // namespace vitrine::optimized
