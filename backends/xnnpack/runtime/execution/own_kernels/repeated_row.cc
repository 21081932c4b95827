// Runs binary operators that combine a tensor with a short repeated row, such as a bias for few
// channels. XNNPACK calls its kernel once per row. Vitrine repeats the row in a buffer and calls
// the same kernel for many rows at a time.
#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

constexpr size_t kBufferBytes = 1024;
constexpr size_t kMaxRowBytes = kBufferBytes / 4;
constexpr size_t kMinRows = 4;
constexpr size_t kTaskBytes = 65536;

// True if one input has a single row, and the other input and the result are contiguous.
bool has_repeated_row(const xnn_operator& op) {
  if (op.type != xnn_operator_type_binary_elementwise ||
      op.compute[0].type != xnn_parallelization_type_1d || op.compute[0].range[0] < kMinRows) {
    return false;
  }
  const elementwise_binary_context& context = op.context.elementwise_binary;
  const size_t bytes = context.elements;
  const size_t a = context.a_stride[4];
  const size_t b = context.b_stride[4];
  return bytes > 0 && bytes <= kMaxRowBytes && context.y_stride[4] == bytes &&
         ((a == bytes && b == 0) || (a == 0 && b == bytes));
}

void compute_rows(const elementwise_binary_context* context, size_t first, size_t count) {
  alignas(64) std::byte buffer[kBufferBytes + XNN_EXTRA_BYTES];
  const size_t row = context->elements;
  const bool repeats_a = context->a_stride[4] == 0;
  const size_t rows = std::min(kBufferBytes / row, count);
  for (size_t i = 0; i < rows; ++i) {
    std::memcpy(buffer + i * row, repeats_a ? context->a : context->b, row);
  }
  const auto* const from = static_cast<const std::byte*>(repeats_a ? context->b : context->a);
  auto* const to = static_cast<std::byte*>(context->y);
  for (size_t i = first; i < first + count; i += rows) {
    const size_t bytes = std::min(rows, first + count - i) * row;
    const void* const part = from + i * row;
    context->ukernel(bytes, repeats_a ? buffer : part, repeats_a ? part : buffer, to + i * row,
                     &context->params);
  }
}

void use_repeated_row(xnn_operator& op, const std::byte*) {
  compute_parameters& compute = op.compute[0];
  compute.type = xnn_parallelization_type_1d_tile_1d;
  compute.task_1d_tile_1d = reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(&compute_rows);
  compute.tile[0] = kTaskBytes / op.context.elementwise_binary.elements;
}

}  // namespace

const Replacement kRepeatedRow = {.name = "Vitrine Binary Elementwise with a Repeated Row (ND)",
                                  .fits = &has_repeated_row,
                                  .install = &use_repeated_row};

}  // namespace vitrine::xnnpack::own_kernels
