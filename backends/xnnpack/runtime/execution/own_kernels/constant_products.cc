// Runs f32 matrix products with constant weights: linear layers and convolutions with windows of
// one pixel. XNNPACK computes tiles with a fixed number of rows, such as 7. This kernel computes
// only the rows that exist. It reads the weights that XNNPACK packed.
#include <algorithm>
#include <iterator>
#include <limits>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/elementwise.h"
#include "kernels/optimized/simd/gemm.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Limits of the number of rows in a task. All rows of a task share a panel of weights. With fewer
// rows than the minimum, the task would not fill a tile of the kernel.
constexpr size_t kMaxTaskRows = 64;
constexpr size_t kMinTaskRows = 8;
// Number of tasks with which several threads finish at about the same time.
constexpr size_t kWantedTasks = 16;
// Minimum number of multiplications in a task. Smaller tasks are not worth their calls.
constexpr size_t kMinTaskProducts = 8192;

size_t lane_count() { return static_cast<size_t>(simd::gemm_shape().lanes); }

// True if this kernel can read XNNPACK's panels of weights. A panel has `nr` columns: first the
// biases of the columns, then the weights, input by input.
template <xnn_operator_type kType>
bool has_panels(const xnn_operator& op) {
  const bool has_sizes = op.state == xnn_run_state_needs_setup || op.state == xnn_run_state_ready;
  if (op.type != kType || !has_sizes || op.compute[0].type != xnn_parallelization_type_2d_tile_2d) {
    return false;
  }
  if (op.type == xnn_operator_type_convolution_nhwc_f32 &&
      op.ukernel.type != xnn_microkernel_type_gemm) {
    return false;
  }
  const xnn_ukernel_gemm& kernel = gemm_kernel_of(op);
  return has_wide_vectors() && kernel.kr == 1 && kernel.sr == 1 &&
         (kernel.nr == lane_count() || kernel.nr == 2 * lane_count());
}

// Returns true if this kernel is probably faster because it computes fewer rows. The estimated time
// is the number of vectors of sums. A tile takes at least the time of kMinSums vectors, because
// each addition waits for the previous addition to the same sum.
bool saves_rows(const xnn_operator& op) {
  constexpr size_t kMinSums = 8;
  constexpr size_t kTails[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {4, 1}, {4, 2}, {4, 3}};
  constexpr size_t kRows = std::size(kTails);
  const compute_parameters& compute = op.compute[0];
  const size_t rows = compute.range[0];
  if (rows == 1 || simd::gemm_shape().rows != int64_t{kRows}) return false;
  const size_t vectors = gemm_kernel_of(op).nr / lane_count();
  size_t ours = rows / kRows * kRows * vectors;
  for (const size_t tail : kTails[rows % kRows]) {
    if (tail != 0) ours += std::max(tail * vectors, kMinSums);
  }
  const size_t theirs = divide_up(rows, compute.tile[0]) * compute.tile[0] * vectors;
  return 100 * ours <= 96 * theirs;
}

void clamp_row(float* row, size_t count, const float* bounds) {
  const void* const in = row;
  const auto length = static_cast<int64_t>(count);
  simd::clamp()(&in, bounds, row, length, length);
}

void multiply_panels(const gemm_context* context, size_t first_row, size_t first_column,
                     size_t rows, size_t columns) {
  const size_t width = context->cn_stride / sizeof(float);
  const size_t depth = context->k_scaled / sizeof(float);
  const size_t step = static_cast<size_t>(simd::gemm_shape().rows);
  const float bounds[] = {context->params.f32.scalar.min, context->params.f32.scalar.max, 0};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool has_bounds = bounds[0] != -kInfinity || bounds[1] != kInfinity;
  const float* const left =
      at_byte(static_cast<const float*>(context->a), first_row * context->a_stride);
  float* const out = at_byte(static_cast<float*>(context->c), first_row * context->cm_stride);
  simd::GemmTile tile{};
  tile.left_stride = static_cast<int64_t>(context->a_stride / sizeof(float));
  tile.right_stride = static_cast<int64_t>(width);
  tile.depth = static_cast<int64_t>(depth);
  tile.sums_stride = static_cast<int64_t>(context->cm_stride / sizeof(float));
  for (size_t column = first_column; column < first_column + columns; column += width) {
    const size_t count = std::min(width, first_column + columns - column);
    tile.bias = at_byte(static_cast<const float*>(context->packed_w), column * context->w_stride);
    tile.right = tile.bias + width;
    tile.vectors = static_cast<int64_t>(divide_up(count, lane_count()));
    tile.columns = static_cast<int64_t>(count);
    for (size_t row = 0; row < rows; row += step) {
      tile.rows = static_cast<int64_t>(std::min(step, rows - row));
      tile.left = at_byte(left, row * context->a_stride);
      tile.sums = at_byte(out, row * context->cm_stride) + column;
      simd::multiply_tile(tile);
      for (int64_t i = 0; has_bounds && i < tile.rows; ++i) {
        clamp_row(tile.sums + i * tile.sums_stride, count, bounds);
      }
    }
  }
}

void use_panels(xnn_operator& op, const std::byte*) {
  compute_parameters& compute = op.compute[0];
  const gemm_context& context = gemm_context_of(op);
  const size_t width = context.cn_stride / sizeof(float);
  const size_t row_products = std::max<size_t>(1, width * (context.k_scaled / sizeof(float)));
  const size_t panels = divide_up(compute.range[1], width);
  size_t rows = std::clamp<size_t>(compute.range[0], 1, kMaxTaskRows);
  size_t task_panels = std::max<size_t>(1, kTaskProducts / (rows * row_products));
  const bool has_threads = compute.tile[1] < compute.range[1];
  if (has_threads) {  // XNNPACK divided the columns, which it does only for threads
    const size_t products = compute.range[0] * panels * row_products;
    const size_t wanted = std::clamp(products / kWantedTasks, kMinTaskProducts, kTaskProducts);
    while (rows >= 2 * kMinTaskRows && rows * row_products > wanted &&
           divide_up(compute.range[0], rows) * panels < kWantedTasks) {
      rows = (rows / 2 + kMinTaskRows - 1) / kMinTaskRows * kMinTaskRows;
    }
    task_panels = std::max<size_t>(1, wanted / (rows * row_products));
  }
  compute.task_2d_tile_2d = reinterpret_cast<pthreadpool_task_2d_tile_2d_t>(&multiply_panels);
  compute.tile[0] = rows;
  compute.tile[1] = task_panels * width;
}

template <xnn_operator_type kType>
constexpr Replacement replacement(const char* name) {
  return {
      .name = name, .fits = &has_panels<kType>, .install = &use_panels, .is_faster = &saves_rows};
}

}  // namespace

const Replacement kLinear =
    replacement<xnn_operator_type_fully_connected_nc_f32>("Vitrine Fully Connected (NC, F32)");
const Replacement kPointwise = replacement<xnn_operator_type_convolution_nhwc_f32>(
    "Vitrine Pointwise Convolution (NHWC, F32)");

}  // namespace vitrine::xnnpack::own_kernels
