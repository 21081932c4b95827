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
  bool gives_bool = false;
  bool first_is_bool = false;  // Bool or Byte; the others are of the common dtype
};

// A tensor, or one number for all elements.
struct Operand {
  Operand(const Tensor& from) : tensor(&from) {}  // NOLINT(google-explicit-constructor)
  Operand(float number) : value(number) {}        // NOLINT(google-explicit-constructor)

  const Tensor* tensor = nullptr;
  float value = 0;
};

// out = op(inputs...), broadcast, `out` resized. False, and nothing done, unless the common dtype
// is Float, Half or BFloat16, all have it (`out`: or Bool), and rows lie alike. Half and BFloat16
// are computed in float.
[[nodiscard]] bool elementwise(KernelContext& context, const FloatOperator& op, ScalarType common,
                               std::initializer_list<Operand> inputs, Tensor& out);

// self with a tensor or Scalar as `other`, in their common dtype.
[[nodiscard]] bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
                          const Tensor& other, Tensor& out);
[[nodiscard]] bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
                          const Scalar& other, Tensor& out);

}  // namespace vitrine::optimized
