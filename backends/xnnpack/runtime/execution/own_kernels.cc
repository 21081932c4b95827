#include "backends/xnnpack/runtime/execution/own_kernels.h"

#ifdef VITRINE_XNNPACK_OWN_KERNELS

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/optimized/simd/depthwise.h"
#include "kernels/optimized/simd/elementwise.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/optimized/simd/lines.h"
#include "vitrine/half.h"

extern "C" {
#include "xnnpack/compute.h"
#include "xnnpack/config.h"
#include "xnnpack/operator-utils.h"
#include "xnnpack/operator.h"
#include "xnnpack/reference-config.h"
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

namespace simd = optimized::simd;

// Larger windows stay with XNNPACK, because tasks keep two pointers per tap on the stack.
constexpr size_t kMaxTaps = 1024;
// Minimum number of products in a task of a depthwise convolution or a matrix product.
constexpr size_t kTaskProducts = 65536;
// Minimum number of floats in a task of softmax.
constexpr size_t kTaskFloats = 1024;

template <class T>
T* at_byte(T* base, size_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(base) + bytes);
}

// A kernel of ours in place of one of XNNPACK's.
struct Replacement {
  const char* name;
  bool (*fits)(const xnn_operator& op);
  void (*install)(xnn_operator& op, const float* weights);
};

// --- softmax ---

bool is_softmax(const xnn_operator& op) { return op.type == xnn_operator_type_softmax_nc_f32; }

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

void use_softmax(xnn_operator& op, const float*) {
  compute_parameters& compute = op.compute[0];
  const size_t length = op.context.floating_point_softmax.n / sizeof(float);
  compute.type = xnn_parallelization_type_1d_tile_1d;
  compute.task_1d_tile_1d = reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(&softmax_rows);
  compute.tile[0] = std::max<size_t>(1, kTaskFloats / std::max<size_t>(length, 1));
}

// --- exponential, sine and cosine ---

template <xnn_unary_operator kFunction>
const xnn_unary_elementwise_config* config_of() {
  if (kFunction == xnn_unary_exp) return xnn_init_f32_exp_config();
  return xnn_init_unary_reference_config(kFunction, xnn_datatype_fp32, xnn_datatype_fp32);
}

template <xnn_unary_operator kFunction>
bool is_function(const xnn_operator& op) {
  return op.type == xnn_operator_type_unary_elementwise &&
         op.unary_elementwise_config == config_of<kFunction>();
}

template <xnn_unary_operator kFunction>
void compute_function(size_t bytes, const void* in, void* out, const xnn_unary_uparams*) {
  const auto count = static_cast<int64_t>(bytes / sizeof(float));
  const float parameters[] = {kFunction == xnn_unary_cosine ? 1.0F : 0.0F, 0, 0};
  const simd::Run run = kFunction == xnn_unary_exp ? simd::exp() : simd::sine();
  run(&in, parameters, out, count, count);
}

template <xnn_unary_operator kFunction>
void use_function(xnn_operator& op, const float*) {
  auto& contiguous = op.context.univector_contiguous;
  auto& strided = op.context.univector_strided;
  const xnn_vunary_ukernel_fn theirs = op.unary_elementwise_config->ukernel;
  if (contiguous.ukernel == theirs) {
    contiguous.ukernel = &compute_function<kFunction>;
  } else if (strided.ukernel == theirs) {
    strided.ukernel = &compute_function<kFunction>;
  }
}

template <xnn_unary_operator kFunction>
constexpr Replacement function_replacement(const char* name) {
  return {name, &is_function<kFunction>, &use_function<kFunction>};
}

// --- depthwise convolution ---

size_t taps_of(const xnn_operator& op) {
  return static_cast<size_t>(op.kernel_height) * op.kernel_width;
}

template <class T>
bool is_depthwise(const xnn_operator& op) {
  return op.type == (std::is_same_v<T, Half> ? xnn_operator_type_convolution_nhwc_f16
                                             : xnn_operator_type_convolution_nhwc_f32) &&
         op.ukernel.type == xnn_microkernel_type_igemm && op.groups > 1 &&
         op.group_input_channels == 1 && op.group_output_channels == 1 && taps_of(op) <= kMaxTaps;
}

// XNNPACK's weights of a channel: a bias for each column of a tile, then a block for each tap. Only
// the first column is used.
template <class T>
void copy_weights(xnn_operator& op, float* to) {
  const size_t channels = op.groups;
  const size_t columns = op.ukernel.igemm.nr;
  const size_t block = columns * op.ukernel.igemm.kr * op.ukernel.igemm.sr;
  const auto* from = static_cast<const T*>(packed_weights(&op));
  for (size_t channel = 0; channel < channels; ++channel) {
    to[channel] = static_cast<float>(*from);
    from += columns;
    for (size_t tap = 0; tap < taps_of(op); ++tap, from += block) {
      to[(1 + tap) * channels + channel] = static_cast<float>(*from);
    }
  }
}

// The pixels of an operator's input that one output pixel reads. XNNPACK keeps pointers to them in
// tiles of several output pixels.
template <class T>
struct Window {
  Window(const igemm_context& context, size_t pixel)
      : rows(context.ks_scaled / (context.ks * sizeof(void*))),
        first(context.indirect_a + pixel / rows * rows * context.ks + pixel % rows),
        last(first + (context.ks - 1) * rows) {}

  const T* at(size_t tap) const { return static_cast<const T*>(first[tap * rows]); }
  // If two opposite corners are inside the image, the whole window is.
  bool is_inside(const void* zero) const { return *first != zero && *last != zero; }
  bool follows(const Window& other, ptrdiff_t step) const {
    return at(0) - other.at(0) == step &&
           static_cast<const T*>(*last) - static_cast<const T*>(*other.last) == step;
  }

  size_t rows;
  const void* const* first;
  const void* const* last;
};

// The bounds of the result, which are of its dtype.
template <class T>
struct OutputBounds {
  explicit OutputBounds(const igemm_context& context) {
    T bounds[2];
    std::memcpy(static_cast<void*>(bounds), &context.params, sizeof(bounds));
    min = bounds[0];
    max = bounds[1];
  }
  bool are_infinite() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return static_cast<float>(min) == -kInfinity && static_cast<float>(max) == kInfinity;
  }
  T min, max;
};

void clamp_line(float* line, int64_t count, const OutputBounds<float>& bounds) {
  const float parameters[] = {bounds.min, bounds.max, 0};
  const void* const in = line;
  simd::clamp()(&in, parameters, line, count, count);
}

[[gnu::noinline]] void clamp_line(Half* line, int64_t count, const OutputBounds<Half>& bounds) {
  const auto min = static_cast<float>(bounds.min);
  const auto max = static_cast<float>(bounds.max);
  for (Half& value : std::span(line, static_cast<size_t>(count))) {
    const auto number = static_cast<float>(value);
    if (number < min) value = bounds.min;
    if (number > max) value = bounds.max;
  }
}

// The context is XNNPACK's, but `packed_w` points to our weights and `kc` counts all channels.
template <class T>
void depthwise_pixels(const igemm_context* context, size_t image, size_t first, size_t count) {
  const size_t channels = context->kc / sizeof(T);
  const auto* weights = static_cast<const float*>(context->packed_w);
  const size_t offset = context->a_offset + image * context->ba_stride;
  const OutputBounds<T> bounds(*context);
  const T* in[kMaxTaps];
  const float* tap_weights[kMaxTaps];
  simd::DepthwisePixels<T> pixels{.in = in,
                                  .weights = tap_weights,
                                  .taps = 0,
                                  .in_step = 0,
                                  .bias = weights,
                                  .out = nullptr,
                                  .out_step = static_cast<int64_t>(context->cm_stride / sizeof(T)),
                                  .channels = static_cast<int64_t>(channels),
                                  .count = 0};
  for (size_t pixel = first; pixel < first + count; pixel += static_cast<size_t>(pixels.count)) {
    Window<T> window(*context, pixel);
    pixels.taps = 0;
    for (size_t tap = 0; tap < context->ks; ++tap) {
      if (window.at(tap) == context->zero) continue;  // padding
      in[pixels.taps] = at_byte(window.at(tap), offset);
      tap_weights[pixels.taps++] = weights + (1 + tap) * channels;
    }
    pixels.out = at_byte(static_cast<T*>(context->c),
                         image * context->bc_stride + pixel * context->cm_stride);
    pixels.count = 1;
    // The next pixels read the same taps if their windows are inside the image, too.
    for (size_t next = pixel + 1; next < first + count && window.is_inside(context->zero); ++next) {
      const Window<T> following(*context, next);
      if (!following.is_inside(context->zero)) break;
      if (pixels.count == 1) pixels.in_step = following.at(0) - window.at(0);
      if (!following.follows(window, pixels.in_step)) break;
      window = following;
      ++pixels.count;
    }
    simd::depthwise_pixels(pixels);
    for (int64_t i = 0; i < pixels.count && !bounds.are_infinite(); ++i) {
      clamp_line(pixels.out + i * pixels.out_step, pixels.channels, bounds);
    }
  }
}

template <class T>
void use_depthwise(xnn_operator& op, const float* weights) {
  igemm_context& context = op.context.igemm.igemm;
  context.packed_w = weights;
  context.kc = op.groups * sizeof(T);
  const size_t products = taps_of(op) * op.groups;
  const bool makes_table = (op.flags & XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER) != 0;
  compute_parameters& compute = op.compute[makes_table ? 1 : 0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(&depthwise_pixels<T>);
  compute.range[0] = op.batch_size;
  compute.range[1] = op.output_height * op.output_width;
  compute.tile[0] = std::max<size_t>(1, kTaskProducts / products);
}

// --- matrix product of two inputs ---

// XNNPACK packs the right matrix in each run. For up to 64 rows, our kernel is faster (0.2 to 0.9
// of the time on a Xeon with AVX-512). Half of that leaves room for other processors.
constexpr size_t kMaxProductRows = 32;

using ProductContexts =
    std::remove_reference_t<decltype(std::declval<xnn_operator>().context.gemm)>;

struct ProductSizes {
  explicit ProductSizes(const gemm_context& context)
      : rows(context.gc_stride / std::max<size_t>(context.cm_stride, 1)),
        columns(context.cm_stride / sizeof(float)),
        depth(context.k_scaled / sizeof(float)) {}
  size_t rows, columns, depth;
};

// True if the operator has its sizes, and no matrix is constant or transposed.
bool is_plain_product(const xnn_operator& op) {
  const bool has_sizes = op.state == xnn_run_state_needs_setup || op.state == xnn_run_state_ready;
  return op.type == xnn_operator_type_batch_matrix_multiply_nc_f32 && has_sizes &&
         (op.flags & XNN_FLAG_TRANSPOSE_B) == 0 && !op.context.gemm.const_weights;
}

// True for a product with a column vector.
bool is_vector_product(const xnn_operator& op) {
  return is_plain_product(op) && ProductSizes(op.context.gemm.gemm.gemm).columns == 1;
}

// True for a product of a few rows with a matrix whose rows consist of whole SIMD vectors.
bool is_small_product(const xnn_operator& op) {
  if (!is_plain_product(op)) return false;
  const ProductSizes sizes(op.context.gemm.gemm.gemm);
  const auto lanes = static_cast<size_t>(simd::gemm_shape().lanes);
  return sizes.rows <= kMaxProductRows && sizes.columns % lanes == 0;
}

// Returns the index of a matrix of an input, whose batch dimensions may be 1.
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

// The matrices of one product of the batch.
struct Product {
  [[gnu::noinline]] Product(const ProductContexts& contexts, size_t batch)
      : Product(contexts.gemm.gemm, batch) {
    const gemm_context& context = contexts.gemm.gemm;
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

// Replaces packing by the whole product. `count` is that of rows or columns, which tasks share in
// multiples of `step`; `products` is the work for one of them.
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

void use_vector_product(xnn_operator& op, const float*) {
  const ProductSizes sizes(op.context.gemm.gemm.gemm);
  use_product(op, &product_rows, sizes.rows, 1, sizes.depth);
}

void use_small_product(xnn_operator& op, const float*) {
  const ProductSizes sizes(op.context.gemm.gemm.gemm);
  const int64_t step = simd::gemm_shape().lanes * simd::kGemmMaxVectors;
  use_product(op, &product_columns, sizes.columns, static_cast<size_t>(step),
              sizes.rows * sizes.depth);
}

constexpr Replacement kReplacements[] = {
    {"Vitrine Softmax (NC, F32)", &is_softmax, &use_softmax},
    function_replacement<xnn_unary_exp>("Vitrine Exponential (NC, F32)"),
    function_replacement<xnn_unary_sine>("Vitrine Sine (NC, F32)"),
    function_replacement<xnn_unary_cosine>("Vitrine Cosine (NC, F32)"),
    {"Vitrine Depthwise Convolution (NHWC, F32)", &is_depthwise<float>, &use_depthwise<float>},
    {"Vitrine Depthwise Convolution (NHWC, F16)", &is_depthwise<Half>, &use_depthwise<Half>},
    {"Vitrine Matrix-Vector Product (NC, F32)", &is_vector_product, &use_vector_product},
    {"Vitrine Matrix Product (NC, F32)", &is_small_product, &use_small_product},
};

const Replacement* replacement(const xnn_operator& op) {
  const auto* const found =
      std::ranges::find_if(kReplacements, [&op](const Replacement& r) { return r.fits(op); });
  return found != std::end(kReplacements) ? found : nullptr;
}

[[gnu::noinline]] size_t count_weights(const xnn_operator& op) {
  const bool is_any = is_depthwise<float>(op) || is_depthwise<Half>(op);
  return is_any ? (1 + taps_of(op)) * op.groups : 0;
}

}  // namespace

bool OwnKernels::are_built() { return true; }

Error OwnKernels::load(xnn_runtime_t runtime) {
  size_t floats = 0;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op != nullptr) floats += count_weights(*op);
  }
  VITRINE_RETURN_IF_ERROR(names_.resize(runtime->num_ops));  // fused operators have none
  VITRINE_RETURN_IF_ERROR(weights_.resize(floats));
  float* weights = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op == nullptr || count_weights(*op) == 0) continue;
    const auto copy = is_depthwise<Half>(*op) ? &copy_weights<Half> : &copy_weights<float>;
    copy(*op, weights);
    weights += count_weights(*op);
  }
  return Error();
}

void OwnKernels::use(xnn_runtime_t runtime) {
  const char** name = names_.data();
  const float* weights = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op == nullptr) continue;
    const Replacement* const own = replacement(*op);
    *name++ = own != nullptr ? own->name : nullptr;
    if (own != nullptr && op->state != xnn_run_state_skip) own->install(*op, weights);
    weights += count_weights(*op);
  }
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

bool OwnKernels::are_built() { return false; }
Error OwnKernels::load(xnn_runtime_t) { return Error(); }
void OwnKernels::use(xnn_runtime_t) {}

}  // namespace vitrine::xnnpack

#endif
