// Runs softmax in f32.
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/lines.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Minimum number of floats in a task.
constexpr size_t kTaskFloats = 1024;

bool is_softmax(const xnn_operator& op) { return op.type == xnn_operator_type_softmax_nc_f32; }

// This kernel holds a row of up to four vectors in registers, but must read a longer row three
// times. With AVX-512, XNNPACK's kernel for long rows is faster.
bool is_faster_softmax(const xnn_operator& op) {
  const auto lanes = static_cast<size_t>(optimized::simd::gemm_shape().lanes);
  return !has_wide_vectors() || op.context.floating_point_softmax.n <= 4 * lanes * sizeof(float);
}

void softmax_rows(const floating_point_softmax_context* context, size_t first, size_t count) {
  const auto* in = static_cast<const float*>(context->x);
  auto* out = static_cast<float*>(context->y);
  const auto length = static_cast<int64_t>(context->n / sizeof(float));
  if (context->x_stride == context->n && context->y_stride == context->n) {
    simd::softmax(at_byte(in, first * context->n), at_byte(out, first * context->n),
                  static_cast<int64_t>(count), length);
    return;
  }
  for (size_t row = first; row < first + count; ++row) {
    simd::softmax(at_byte(in, row * context->x_stride), at_byte(out, row * context->y_stride), 1,
                  length);
  }
}

void use_softmax(xnn_operator& op, const std::byte*) {
  compute_parameters& compute = op.compute[0];
  const size_t length = op.context.floating_point_softmax.n / sizeof(float);
  compute.type = xnn_parallelization_type_1d_tile_1d;
  compute.task_1d_tile_1d = reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(&softmax_rows);
  compute.tile[0] = std::max<size_t>(1, kTaskFloats / std::max<size_t>(length, 1));
}

}  // namespace

const Replacement kSoftmax = {.name = "Vitrine Softmax (NC, F32)",
                              .fits = &is_softmax,
                              .install = &use_softmax,
                              .is_faster = &is_faster_softmax};

}  // namespace vitrine::xnnpack::own_kernels
