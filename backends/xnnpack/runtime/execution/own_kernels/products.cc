// Runs f32 matrix products of two inputs.
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/gemm.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Maximum number of rows for this kernel. XNNPACK packs the right matrix in each run, which takes
// relatively long for few rows. With up to 128 rows and AVX-512, this kernel took 20 to 98 % of
// XNNPACK's time. kMaxNarrowProductRows is for narrower vectors, which were not measured.
constexpr size_t kMaxProductRows = 128;
constexpr size_t kMaxNarrowProductRows = 32;

struct ProductSizes {
  explicit ProductSizes(const gemm_context& context)
      : rows(context.gc_stride / std::max<size_t>(context.cm_stride, 1)),
        columns(context.cm_stride / sizeof(float)),
        depth(context.k_scaled / sizeof(float)) {}
  size_t rows, columns, depth;
};

// True for a product of two inputs with known sizes, if neither input is constant or transposed.
bool is_plain_product(const xnn_operator& op) {
  const bool has_sizes = op.state == xnn_run_state_needs_setup || op.state == xnn_run_state_ready;
  return op.type == xnn_operator_type_batch_matrix_multiply_nc_f32 && has_sizes &&
         (op.flags & XNN_FLAG_TRANSPOSE_B) == 0 && !product_contexts_of(op).const_weights;
}

bool is_vector_product(const xnn_operator& op) {
  return is_plain_product(op) &&
         ProductSizes(gemm_context_of(product_contexts_of(op))).columns == 1;
}

// True for a product whose right matrix has rows that fill whole SIMD vectors.
bool is_small_product(const xnn_operator& op) {
  if (!is_plain_product(op)) return false;
  const ProductSizes sizes(gemm_context_of(product_contexts_of(op)));
  const auto lanes = static_cast<size_t>(simd::gemm_shape().lanes);
  return sizes.columns % lanes == 0;
}

// With AVX-512, XNNPACK's kernel always computes at least two vectors of columns.
bool is_faster_product(const xnn_operator& op) {
  const ProductSizes sizes(gemm_context_of(product_contexts_of(op)));
  if (!has_wide_vectors()) return sizes.rows <= kMaxNarrowProductRows;
  const auto lanes = static_cast<size_t>(simd::gemm_shape().lanes);
  return sizes.rows <= kMaxProductRows || sizes.columns == lanes;
}

// Returns the index of the input matrix that product `batch` reads. `input_dims` are the batch dims
// of the input. Batch dims of size 1 are broadcast.
[[gnu::noinline]] size_t matrix_index(const gemm_context& context, const size_t* input_dims,
                                      size_t batch) {
  size_t index = 0;
  for (uint32_t i = 0; i < context.num_batch_dims; ++i) {
    const size_t at = batch / context.batch_strides_c[i];
    batch %= context.batch_strides_c[i];
    index = index * input_dims[i] + (input_dims[i] == 1 ? 0 : at);
  }
  return index;
}

struct Product {
  [[gnu::noinline]] Product(const ProductContexts& contexts, size_t batch)
      : Product(gemm_context_of(contexts), batch) {
    const gemm_context& context = gemm_context_of(contexts);
    right = at_byte(
        static_cast<const float*>(contexts.packw_gemm_gio.kernel),
        matrix_index(context, context.batch_dims_b, batch) * contexts.packw_gemm_gio.gk_stride);
  }

  ProductSizes sizes;
  const float* left;
  const float* right = nullptr;
  float* out;

 private:
  Product(const gemm_context& context, size_t batch)
      : sizes(context),
        left(at_byte(static_cast<const float*>(context.a),
                     matrix_index(context, context.batch_dims_a, batch) * context.ga_stride)),
        out(at_byte(static_cast<float*>(context.c), batch * context.gc_stride)) {}
};

void product_rows(const ProductContexts* contexts, size_t batch, size_t first, size_t count) {
  const Product product(*contexts, batch);
  const auto depth = static_cast<int64_t>(product.sizes.depth);
  simd::multiply_vector(product.left + first * product.sizes.depth, depth,
                        static_cast<int64_t>(count), product.right, depth, product.out + first);
}

void product_columns(const ProductContexts* contexts, size_t batch, size_t first, size_t count) {
  const Product product(*contexts, batch);
  const ProductSizes& sizes = product.sizes;
  const simd::GemmShape shape = simd::gemm_shape();
  const auto lanes = static_cast<size_t>(shape.lanes);
  for (size_t column = first; column < first + count;) {
    const auto vectors =
        std::min((first + count - column) / lanes, static_cast<size_t>(simd::kGemmMaxVectors));
    for (size_t row = 0; row < sizes.rows; row += static_cast<size_t>(shape.rows)) {
      simd::multiply_tile({.left = product.left + row * sizes.depth,
                           .left_stride = static_cast<int64_t>(sizes.depth),
                           .rows = std::min(static_cast<int64_t>(sizes.rows - row), shape.rows),
                           .right = product.right + column,
                           .right_stride = static_cast<int64_t>(sizes.columns),
                           .vectors = static_cast<int64_t>(vectors),
                           .depth = static_cast<int64_t>(sizes.depth),
                           .sums = product.out + row * sizes.columns + column,
                           .sums_stride = static_cast<int64_t>(sizes.columns),
                           .start = nullptr});
    }
    column += vectors * lanes;
  }
}

// Makes the operator run `task` instead of XNNPACK's two steps (pack, then multiply). Tasks divide
// the `count` rows or columns in multiples of `step`. `products` is the number of multiplications
// for one row or column.
void use_product(xnn_operator& op,
                 void (*task)(const ProductContexts*, size_t batch, size_t first, size_t count),
                 size_t count, size_t step, size_t products) {
  compute_parameters& compute = op.compute[0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(task);
  compute.context_offset = 0;
  compute.range[0] = op.compute[1].range[0];
  compute.range[1] = count;
  compute.tile[0] = std::max<size_t>(kTaskProducts / (products * step), 1) * step;
  op.compute[1].type = xnn_parallelization_type_invalid;
}

void use_vector_product(xnn_operator& op, const std::byte*) {
  const ProductSizes sizes(gemm_context_of(product_contexts_of(op)));
  use_product(op, &product_rows, sizes.rows, 1, sizes.depth);
}

void use_small_product(xnn_operator& op, const std::byte*) {
  const ProductSizes sizes(gemm_context_of(product_contexts_of(op)));
  const int64_t step = simd::gemm_shape().lanes * simd::kGemmMaxVectors;
  use_product(op, &product_columns, sizes.columns, static_cast<size_t>(step),
              sizes.rows * sizes.depth);
}

}  // namespace

const Replacement kVectorProduct = {.name = "Vitrine Matrix-Vector Product (NC, F32)",
                                    .fits = &is_vector_product,
                                    .install = &use_vector_product};
const Replacement kSmallProduct = {.name = "Vitrine Matrix Product (NC, F32)",
                                   .fits = &is_small_product,
                                   .install = &use_small_product,
                                   .is_faster = &is_faster_product};

}  // namespace vitrine::xnnpack::own_kernels
