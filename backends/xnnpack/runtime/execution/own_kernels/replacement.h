// A Vitrine kernel that replaces XNNPACK's kernel in operators of a runtime. Each file of this
// folder adapts one family of operators; list.inc names all replacements.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef VITRINE_XNNPACK_UPSTREAM
#include "backends/xnnpack/runtime/execution/own_kernels/operator_access_upstream.h"
#else
#include "backends/xnnpack/runtime/execution/own_kernels/operator_access_debian.h"
#endif
#include "backends/xnnpack/runtime/reader/graph.h"
#include "kernels/optimized/simd/gemm.h"

namespace vitrine::xnnpack::own_kernels {

class RawWeights;

// The functions for weights are called once, after the operator was created. The other functions
// are called after each reshape of the operator.
struct Replacement {
  const char* name;  // name in profiles
  // True if the kernel can run the operator. Depends only on the operator and its sizes.
  bool (*fits)(const xnn_operator& op);
  void (*install)(xnn_operator& op, const std::byte* weights);
  // Returns the size of Vitrine's copy of the weights in bytes, or 0 if the kernel cannot run the
  // operator. Otherwise, the kernel must be able to run the operator at all sizes. Null if the
  // kernel does not copy weights.
  size_t (*weight_bytes)(const xnn_operator& op) = nullptr;
  // Writes Vitrine's copy of the weights to `to`, which is zeroed and aligned to 64 bytes.
  void (*copy_weights)(xnn_operator& op, const RawWeights& weights, std::byte* to) = nullptr;
  // True if the kernel runs the operator of `node` at all sizes, so that XNNPACK need not pack the
  // weights. Null if XNNPACK always packs the weights.
  bool (*owns_weights)(const Graph& graph, const Node& node) = nullptr;
  // Returns true if the kernel is probably faster than XNNPACK's kernel. Called only if the kernel
  // fits and the table of choices does not contain the kernel (kernel_choices.h). For a kernel that
  // copies weights, the result must not depend on the sizes of a call. Null if the kernel is always
  // faster.
  bool (*is_faster)(const xnn_operator& op) = nullptr;
  // True if only this kernel can run the operator.
  bool is_required = false;
};

// Minimum number of multiplications in a task of a depthwise convolution or a matrix product.
constexpr size_t kTaskProducts = 65536;

template <class T>
constexpr T divide_up(T count, std::type_identity_t<T> by) {
  return (count + by - 1) / by;
}

// True if vectors are wider than 16 bytes, and the channels of a pixel fill at least `count`
// vectors. XNNPACK's kernels for batch norms, poolings and bilinear resizing always use vectors of
// 16 bytes.
template <class T>
bool fill_vectors(size_t channels, size_t count) {
  const auto lanes = static_cast<size_t>(optimized::simd::gemm_shape().lanes);  // number of floats
                                                                                // in a vector
  return lanes > 4 && channels * sizeof(T) >= count * lanes * sizeof(float);
}

// True if vectors are at least 64 bytes wide. The rules for such vectors are based on measurements
// with AVX-512 (`bench --choices`).
inline bool has_wide_vectors() { return optimized::simd::gemm_shape().lanes >= 16; }

// Makes a unary elementwise operator call `kernel` instead of XNNPACK's kernel. Does not change
// copies, which do not call a kernel.
inline void use_unary_kernel(xnn_operator& op, xnn_vunary_ukernel_fn kernel) {
  auto& contiguous = op.context.univector_contiguous;
  auto& strided = op.context.univector_strided;
  const xnn_vunary_ukernel_fn theirs = op.unary_elementwise_config->ukernel;
  if (contiguous.ukernel == theirs) {
    contiguous.ukernel = kernel;
  } else if (strided.ukernel == theirs) {
    strided.ukernel = kernel;
  }
}

template <class T>
T* at_byte(T* base, size_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(base) + bytes);
}

#define VITRINE_REPLACEMENT(name) extern const Replacement name;
#include "backends/xnnpack/runtime/execution/own_kernels/list.inc"
#undef VITRINE_REPLACEMENT

}  // namespace vitrine::xnnpack::own_kernels
