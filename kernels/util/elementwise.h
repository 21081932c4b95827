// Element-wise operators. A kernel passes a formula to elementwise(). The template arguments are
// the C++ types of the result and of each input:
//
//     elementwise<T, T, T>(context, common, {&self, &other}, out, [](T x, T y) { return x * y; });
//
// This call computes out = op(inputs...) with broadcasting, for any mix of REALHBBF16 dtypes and
// dim orders. Inputs are converted to the formula's parameter types, and results to the output's
// dtype. `common` is the common dtype of the inputs. As in PyTorch, inputs are first rounded to
// `common` if `common` is Half or BFloat16. The output is resized to the broadcast shape. Only the
// innermost loop is instantiated for each formula and type.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/util/dtype_dispatch.h"
#include "kernels/util/independent.h"
#include "kernels/util/promotion.h"
#include "kernels/util/scalar_value.h"
#include "vitrine/kernel_context.h"

namespace vitrine {

// An element-wise operator with its C++ types erased.
struct Elementwise {
  static constexpr size_t kMaxInputs = 3;
  // Applies `op` to `count` contiguous elements.
  using Run = void (*)(const void* op, const void* const* inputs, void* out, int64_t count);

  Run run;
  const void* op;
  ScalarType common;  // inputs are first rounded to this dtype
  ScalarType result;  // dtype of op's result, which limits the dtype of `out`
  ScalarType run_out;
  std::array<ScalarType, kMaxInputs> run_inputs;
};

// Fails with InvalidArgument if shapes do not broadcast, if the output cannot have the result's
// dtype or shape, or if a dtype is not REALHBBF16.
void run_elementwise(KernelContext& context, const Elementwise& call,
                     std::span<const Tensor* const> inputs, Tensor& out);

namespace elementwise_internal {

// Not inlined, so that direct and indirect calls use the same code.
template <class Op, class Out, class... In>
[[gnu::noinline]] void run(const void* op, const void* const* inputs, void* out, int64_t count) {
  const Op& function = *static_cast<const Op*>(op);
  Out* result = static_cast<Out*>(out);
  [&]<size_t... I>(std::index_sequence<I...>) {
    const std::tuple<const In*...> in{static_cast<const In*>(inputs[I])...};
    // `out` may be the same array as an input, but must not overlap an input otherwise.
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) result[i] = function(load(std::get<I>(in) + i)...);
  }
  (std::index_sequence_for<In...>());
}

}  // namespace elementwise_internal

// `Out` and `In...` are the return type and the parameter types of `op`.
template <class Out, class... In, class Op>
void elementwise(KernelContext& context, ScalarType common,
                 const std::array<const Tensor*, sizeof...(In)>& inputs, Tensor& out,
                 const Op& op) {
  static_assert(sizeof...(In) <= Elementwise::kMaxInputs);
  constexpr ScalarType kOut = scalar_type_of<Out>;
  // True if one call of `run` covers all elements, without conversion and broadcasting.
  const bool direct = compute_type(common) == common &&
                      out.dtype() == kOut&& [&]<size_t... I>(std::index_sequence<I...>) {
    return ((inputs[I]->dtype() == scalar_type_of<In> && inputs[I]->same_sizes(out) &&
             inputs[I]->same_dim_order(out)) &&
            ...);
  }
  (std::index_sequence_for<In...>());
  if (direct) {
    std::array<const void*, sizeof...(In)> data;
    for (size_t i = 0; i < inputs.size(); ++i) data[i] = inputs[i]->raw_data();
    return elementwise_internal::run<Op, Out, In...>(&op, data.data(), out.mutable_raw_data(),
                                                     out.numel());
  }
  const Elementwise call{
      &elementwise_internal::run<Op, Out, In...>,   &op,  common,
      compute_type(common) == kOut ? common : kOut, kOut, {scalar_type_of<In>...}};
  run_elementwise(context, call, inputs, out);
}

// --- Families of operators ---

// Applies op(T) -> T in self's dtype. For Half and BFloat16, T is float. `List` contains the
// allowed types T.
template <class List, class Op>
void unary(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  dispatch<List>(context, compute_type(self.dtype()),
                 [&]<class T>() { elementwise<T, T>(context, self.dtype(), {&self}, out, op); });
}

template <class Op>
void unary_floating(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  unary<FloatTypes>(context, self, out, op);
}

// Applies op(x), such as sin or exp, where x is float or double. Integers and Bool become Float.
// The output is floating.
template <class Op>
void unary_float(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  const ScalarType common = promote_to_float(self.dtype());
  dispatch<FloatTypes>(context, compute_type(common),
                       [&]<class T>() { elementwise<T, T>(context, common, {&self}, out, op); });
}

// Applies op(x), such as floor or round, where x is float or double. Integers stay unchanged.
template <class Op>
void rounding(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  unary<RealTypes>(context, self, out, [&op]<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return op(x);
    } else {
      return x;
    }
  });
}

// Applies op(x) -> bool, where x is float or double.
template <class Op>
void predicate_float(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  const ScalarType common = promote_to_float(self.dtype());
  dispatch<FloatTypes>(context, compute_type(common),
                       [&]<class T>() { elementwise<bool, T>(context, common, {&self}, out, op); });
}

// Applies op(T, T) -> Out<T> in the dtype `common`; `other` is a tensor or a Scalar.
template <class List, template <class> class Out, class Op>
void binary_in(KernelContext& context, ScalarType common, const Tensor& self, const Tensor& other,
               Tensor& out, const Op& op) {
  dispatch<List>(context, compute_type(common), [&]<class T>() {
    elementwise<Out<T>, T, T>(context, common, {&self, &other}, out, op);
  });
}
template <class List, template <class> class Out, class Op>
void binary_in(KernelContext& context, ScalarType common, const Tensor& self, const Scalar& other,
               Tensor& out, const Op& op) {
  dispatch<List>(context, compute_type(common), [&]<class T>() {
    const T value = other.to<T>();
    elementwise<Out<T>, T>(context, common, {&self}, out,
                           [&op, value](T x) { return op(x, value); });
  });
}
template <class T>
using SameType = T;
template <class T>
using AlwaysBool = bool;

// Applies op(T, T) -> T in the common dtype of `self` and `other`.
template <class List, class Other, class Op>
void binary(KernelContext& context, const Tensor& self, const Other& other, Tensor& out,
            const Op& op) {
  if (const std::optional<ScalarType> common = promote(context, self, other)) {
    binary_in<List, SameType>(context, *common, self, other, out, op);
  }
}

// Like `binary`, but integers and Bool become Float.
template <class Other, class Op>
void binary_float(KernelContext& context, const Tensor& self, const Other& other, Tensor& out,
                  const Op& op) {
  if (const std::optional<ScalarType> common = promote(context, self, other)) {
    binary_in<FloatTypes, SameType>(context, promote_to_float(*common), self, other, out, op);
  }
}

// Applies op(T, T) -> bool in the common dtype of `self` and `other`.
template <class Op>
void compare(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out,
             const Op& op) {
  if (const std::optional<ScalarType> common = promote(context, self, other)) {
    binary_in<RealBTypes, AlwaysBool>(context, *common, self, other, out, op);
  }
}
// Compares with a Scalar, rounded to the common dtype. Fails if that dtype cannot hold the Scalar.
template <class Op>
void compare(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out,
             const Op& op) {
  const ScalarType common = promote(self.dtype(), other);
  if (!check_scalar(context, other, common, "other")) return;
  binary_in<RealBTypes, AlwaysBool>(context, common, self, rounded(other, common), out, op);
}

// Applies op(bool, ...) -> bool. Any non-zero element is true.
template <class Op>
void logical(KernelContext& context, const Tensor& self, Tensor& out, const Op& op) {
  elementwise<bool, bool>(context, ScalarType::kBool, {&self}, out, op);
}
template <class Op>
void logical(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out,
             const Op& op) {
  elementwise<bool, bool, bool>(context, ScalarType::kBool, {&self, &other}, out, op);
}

}  // namespace vitrine
