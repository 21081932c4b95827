#include "backends/xnnpack/runtime/execution/own_kernels.h"

#if defined(VITRINE_XNNPACK_PRIVATE_HEADERS) && defined(VITRINE_XNNPACK_OWN_KERNELS)

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/optimized/simd/depthwise.h"
#include "kernels/optimized/simd/elementwise.h"
#include "kernels/optimized/simd/lines.h"

extern "C" {
#include "xnnpack/compute.h"
#include "xnnpack/config.h"
#include "xnnpack/operator-utils.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

namespace simd = optimized::simd;

// Larger windows stay with XNNPACK, because tasks keep two pointers per tap on the stack.
constexpr size_t kMaxTaps = 1024;
// Products that a task of a depthwise convolution computes at least.
constexpr size_t kTaskProducts = 65536;
// Floats that a task of softmax computes at least.
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

// --- exponential ---

bool is_exponential(const xnn_operator& op) {
  return op.type == xnn_operator_type_unary_elementwise &&
         op.unary_elementwise_config == xnn_init_f32_exp_config();
}

void exponentials(size_t bytes, const void* in, void* out, const xnn_unary_uparams*) {
  const auto count = static_cast<int64_t>(bytes / sizeof(float));
  simd::exp()(&in, nullptr, out, count, count);
}

void use_exponential(xnn_operator& op, const float*) {
  auto& contiguous = op.context.univector_contiguous;
  auto& strided = op.context.univector_strided;
  const xnn_vunary_ukernel_fn theirs = op.unary_elementwise_config->ukernel;
  if (contiguous.ukernel == theirs) {
    contiguous.ukernel = &exponentials;
  } else if (strided.ukernel == theirs) {
    strided.ukernel = &exponentials;
  }
}

// --- depthwise convolution ---

size_t taps_of(const xnn_operator& op) {
  return static_cast<size_t>(op.kernel_height) * op.kernel_width;
}

bool is_depthwise(const xnn_operator& op) {
  return op.type == xnn_operator_type_convolution_nhwc_f32 &&
         op.ukernel.type == xnn_microkernel_type_igemm && op.groups > 1 &&
         op.group_input_channels == 1 && op.group_output_channels == 1 && taps_of(op) <= kMaxTaps;
}

// XNNPACK's weights of a channel: a bias for each column of a tile, then a block for each tap. Only
// the first column is used.
void copy_weights(xnn_operator& op, float* to) {
  const size_t channels = op.groups;
  const size_t columns = op.ukernel.igemm.nr;
  const size_t block = columns * op.ukernel.igemm.kr * op.ukernel.igemm.sr;
  const auto* from = static_cast<const float*>(packed_weights(&op));
  for (size_t channel = 0; channel < channels; ++channel) {
    to[channel] = *from;
    from += columns;
    for (size_t tap = 0; tap < taps_of(op); ++tap, from += block) {
      to[(1 + tap) * channels + channel] = *from;
    }
  }
}

// The pixels of an operator's input that one output pixel reads. XNNPACK keeps pointers to them in
// tiles of several output pixels.
struct Window {
  Window(const igemm_context& context, size_t pixel)
      : rows(context.ks_scaled / (context.ks * sizeof(void*))),
        first(context.indirect_a + pixel / rows * rows * context.ks + pixel % rows),
        last(first + (context.ks - 1) * rows) {}

  const float* at(size_t tap) const { return static_cast<const float*>(first[tap * rows]); }
  // If two opposite corners are inside the image, the whole window is.
  bool is_inside(const void* zero) const { return *first != zero && *last != zero; }
  bool follows(const Window& other, ptrdiff_t step) const {
    return at(0) - other.at(0) == step &&
           static_cast<const float*>(*last) - static_cast<const float*>(*other.last) == step;
  }

  size_t rows;
  const void* const* first;
  const void* const* last;
};

void clamp_pixels(const simd::DepthwisePixels& pixels, const xnn_f32_minmax_params& bounds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (bounds.scalar.min == -kInfinity && bounds.scalar.max == kInfinity) return;
  const float parameters[] = {bounds.scalar.min, bounds.scalar.max, 0};
  const simd::Run clamp = simd::clamp();
  for (int64_t i = 0; i < pixels.count; ++i) {
    float* const out = pixels.out + i * pixels.out_step;
    const void* const in = out;
    clamp(&in, parameters, out, pixels.channels, pixels.channels);
  }
}

// The context is XNNPACK's, but `packed_w` points to our weights and `kc` counts all channels.
void depthwise_pixels(const igemm_context* context, size_t image, size_t first, size_t count) {
  const size_t channels = context->kc / sizeof(float);
  const auto* weights = static_cast<const float*>(context->packed_w);
  const size_t offset = context->a_offset + image * context->ba_stride;
  const float* in[kMaxTaps];
  const float* tap_weights[kMaxTaps];
  simd::DepthwisePixels pixels{.in = in,
                               .weights = tap_weights,
                               .taps = 0,
                               .in_step = 0,
                               .bias = weights,
                               .out = nullptr,
                               .out_step = static_cast<int64_t>(context->cm_stride / sizeof(float)),
                               .channels = static_cast<int64_t>(channels),
                               .count = 0};
  for (size_t pixel = first; pixel < first + count; pixel += static_cast<size_t>(pixels.count)) {
    Window window(*context, pixel);
    pixels.taps = 0;
    for (size_t tap = 0; tap < context->ks; ++tap) {
      if (window.at(tap) == context->zero) continue;  // padding
      in[pixels.taps] = at_byte(window.at(tap), offset);
      tap_weights[pixels.taps++] = weights + (1 + tap) * channels;
    }
    pixels.out = at_byte(static_cast<float*>(context->c),
                         image * context->bc_stride + pixel * context->cm_stride);
    pixels.count = 1;
    // The next pixels read the same taps if their windows are inside the image, too.
    for (size_t next = pixel + 1; next < first + count && window.is_inside(context->zero); ++next) {
      const Window following(*context, next);
      if (!following.is_inside(context->zero)) break;
      if (pixels.count == 1) pixels.in_step = following.at(0) - window.at(0);
      if (!following.follows(window, pixels.in_step)) break;
      window = following;
      ++pixels.count;
    }
    simd::depthwise_pixels(pixels);
    clamp_pixels(pixels, context->params.f32);
  }
}

void use_depthwise(xnn_operator& op, const float* weights) {
  igemm_context& context = op.context.igemm.igemm;
  context.packed_w = weights;
  context.kc = op.groups * sizeof(float);
  const size_t products = taps_of(op) * op.groups;
  const bool makes_table = (op.flags & XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER) != 0;
  compute_parameters& compute = op.compute[makes_table ? 1 : 0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(&depthwise_pixels);
  compute.range[0] = op.batch_size;
  compute.range[1] = op.output_height * op.output_width;
  compute.tile[0] = std::max<size_t>(1, kTaskProducts / products);
}

constexpr Replacement kReplacements[] = {
    {"Vitrine Softmax (NC, F32)", &is_softmax, &use_softmax},
    {"Vitrine Exponential (NC, F32)", &is_exponential, &use_exponential},
    {"Vitrine Depthwise Convolution (NHWC, F32)", &is_depthwise, &use_depthwise},
};

const Replacement* replacement(const xnn_operator* op) {
  if (op == nullptr) return nullptr;
  const auto* const found =
      std::ranges::find_if(kReplacements, [op](const Replacement& r) { return r.fits(*op); });
  return found != std::end(kReplacements) ? found : nullptr;
}

size_t count_weights(const xnn_operator& op) {
  return is_depthwise(op) ? (1 + taps_of(op)) * op.groups : 0;
}

}  // namespace

Error OwnKernels::load(xnn_runtime_t runtime) {
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    const size_t start = weights_.size();
    if (op == nullptr || count_weights(*op) == 0) continue;
    VITRINE_RETURN_IF_ERROR(weights_.resize(start + count_weights(*op)));
    copy_weights(*op, weights_.data() + start);
  }
  return Error();
}

void OwnKernels::use(xnn_runtime_t runtime) const {
  const float* weights = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    const Replacement* const own = replacement(op);
    if (own == nullptr) continue;
    if (op->state != xnn_run_state_skip) own->install(*op, weights);
    weights += count_weights(*op);
  }
}

const char* own_kernel_name(const xnn_operator_data& data) {
  const Replacement* const own = replacement(data.operator_objects[0]);
  return own != nullptr ? own->name : nullptr;
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

Error OwnKernels::load(xnn_runtime_t) { return Error(); }
void OwnKernels::use(xnn_runtime_t) const {}
const char* own_kernel_name(const xnn_operator_data&) { return nullptr; }

}  // namespace vitrine::xnnpack

#endif
