#include <algorithm>

#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/simd/lines.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/batch_norm.h"
#include "kernels/util/checks.h"
#include "kernels/util/group_norm.h"
#include "kernels/util/layer_norm.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

void scale_and_shift(KernelContext& context, const Tensor& input, const Tensor& scale,
                     const Tensor& shift, Tensor& out) {
  if (input.dtype() == ScalarType::kFloat && scale.dtype() == ScalarType::kFloat &&
      out.dtype() == ScalarType::kFloat && input.is_contiguous() && out.is_contiguous()) {
    if (!context.resize(out, input.sizes())) return;
    const int64_t channels = input.size(1);
    const int64_t inner = size_product(input, 2, input.rank());
    if (inner == 0) return;  // without elements, the loop over the planes does nothing
    const simd::Run run = simd::affine();
    parallel_ranges(context, input.size(0) * channels, 1, 8 * inner,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t plane = begin; plane < end; ++plane) {
                        const int64_t channel = plane % channels;
                        const float parameters[] = {scale.unchecked_data<float>()[channel],
                                                    shift.unchecked_data<float>()[channel], 0};
                        const void* const from = input.unchecked_data<float>() + plane * inner;
                        run(&from, parameters, out.unchecked_mutable_data<float>() + plane * inner,
                            inner, inner * input.size(0) * channels);
                      }
                    });
    return;
  }
  if (input.dtype() != ScalarType::kFloat || scale.dtype() != ScalarType::kFloat ||
      !elementwise(context, {simd::multiply_add()}, ScalarType::kFloat, {input, scale, shift},
                   out)) {
    vitrine::scale_and_shift(context, input, scale, shift, out);
  }
}

void batch_norm_no_training_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                                const Tensor* bias, const Tensor& running_mean,
                                const Tensor& running_var, double /*momentum*/, double eps,
                                Tensor& out0, Tensor& out1, Tensor& out2) {
  batch_norm_no_training(context, {input, weight, bias, running_mean, running_var, eps}, out0, out1,
                         out2, scale_and_shift);
}

bool is_float_or_null(const Tensor* tensor) {
  return tensor == nullptr || tensor->dtype() == ScalarType::kFloat;
}

template <class Arguments>
bool all_float(const Arguments& a) {
  return is_float_or_null(&a.input) && is_float_or_null(a.weight) && is_float_or_null(a.bias) &&
         is_float_or_null(&a.out) && is_float_or_null(&a.mean) && is_float_or_null(&a.rstd) &&
         a.input.numel() != 0;
}

const float* data_or_null(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->unchecked_data<float>();
}

void normalize_rows(KernelContext& context, const LayerNorm& a) {
  if (!all_float(a)) return vitrine::normalize_rows(context, a);
  const int64_t length = a.row_length;
  parallel_ranges(context, a.rows, 1, 8 * length, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * length;
    simd::normalize(a.input.unchecked_data<float>() + first, end - begin, length, a.epsilon,
                    data_or_null(a.weight), data_or_null(a.bias),
                    a.out.unchecked_mutable_data<float>() + first,
                    a.mean.unchecked_mutable_data<float>() + begin,
                    a.rstd.unchecked_mutable_data<float>() + begin);
  });
}

void normalize_groups(KernelContext& context, const GroupNorm& a) {
  if (!all_float(a)) return vitrine::normalize_groups(context, a);
  const int64_t length = a.channels * a.plane;
  const simd::Run run = simd::affine();
  auto* const means = a.mean.unchecked_mutable_data<float>();
  auto* const rstds = a.rstd.unchecked_mutable_data<float>();
  parallel_ranges(context, a.rows, 1, 8 * length * a.parts, [&](int64_t begin, int64_t end) {
    const int64_t block = simd::lines_at_once(length * a.parts);
    float block_means[simd::kMaxLinesAtOnce];  // the results may share memory
    float block_rstds[simd::kMaxLinesAtOnce];
    for (int64_t row = begin; row < end; ++row) {
      const float* const from = a.input.unchecked_data<float>() + row * length;
      const int64_t item = (row - begin) % block;
      if (item == 0) {
        simd::statistics(from, std::min(block, end - row), length, a.parts, a.part_size(),
                         a.epsilon, block_means, block_rstds);
      }
      const float mean = means[row] = block_means[item];
      const float rstd = rstds[row] = block_rstds[item];
      float* const to = a.out.unchecked_mutable_data<float>() + row * length;
      const int64_t first_channel = row % a.groups * a.channels;
      for (int64_t c = 0; c < a.channels; ++c) {
        const int64_t channel = first_channel + c;
        const float scale =
            rstd * (a.weight == nullptr ? 1.0F : a.weight->unchecked_data<float>()[channel]);
        const float shift = a.bias == nullptr ? 0.0F : a.bias->unchecked_data<float>()[channel];
        const float parameters[] = {scale, shift - mean * scale, 0};
        for (int64_t part = 0; part < a.parts; ++part) {
          const int64_t at = part * a.part_size() + c * a.plane;
          const void* const plane = from + at;
          run(&plane, parameters, to + at, a.plane, a.input.numel());
        }
      }
    }
  });
}

struct Softmax {
  static constexpr auto* lines = simd::softmax;
  static constexpr auto* columns = simd::softmax_columns;
};
struct LogSoftmax {
  static constexpr auto* lines = simd::log_softmax;
  static constexpr auto* columns = simd::log_softmax_columns;
};

template <class Function>
bool softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                 Tensor& out) {
  constexpr int64_t kMaxRows = 256;
  constexpr int64_t kColumns = 64;
  const auto rank = static_cast<int64_t>(self.rank());
  if (half_to_float || self.dtype() != ScalarType::kFloat || out.dtype() != ScalarType::kFloat ||
      dim < -rank || dim >= rank || self.numel() == 0) {
    return false;
  }
  if (!context.resize(out, self.sizes())) return true;
  const auto along = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  const int64_t length = self.size(along);
  if (!self.same_dim_order(out)) return false;
  const auto* const from = self.unchecked_data<float>();
  auto* const to = out.unchecked_mutable_data<float>();
  if (self.dim_order().back() == along) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): self has elements
    const int64_t lines = self.numel() / length;
    parallel_ranges(context, lines, 1, 20 * length, [&](int64_t begin, int64_t end) {
      Function::lines(from + begin * length, to + begin * length, end - begin, length);
    });
    return true;
  }
  if (length > kMaxRows) return false;
  const int64_t stride = self.strides()[along];
  const int64_t blocks = (stride + kColumns - 1) / kColumns;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): self has elements
  const int64_t outer = self.numel() / (length * stride);
  parallel(context, outer * blocks, work_of({20, self.numel()}), [&](int64_t item, int64_t) {
    const int64_t column = item % blocks * kColumns;
    const int64_t first = item / blocks * length * stride + column;
    Function::columns(from + first, to + first, length, stride,
                      std::min(kColumns, stride - column));
  });
  return true;
}

}  // namespace

VITRINE_KERNEL(native_batch_norm_legit_no_training_out,
               "aten::_native_batch_norm_legit_no_training.out", batch_norm_no_training_out);
VITRINE_KERNEL(native_batch_norm_legit_no_stats_out, "aten::_native_batch_norm_legit.no_stats_out",
               batch_norm_no_stats_out<normalize_groups>);
VITRINE_KERNEL(native_group_norm_out, "aten::native_group_norm.out",
               native_group_norm_out<normalize_groups>);
VITRINE_KERNEL(native_layer_norm_out, "aten::native_layer_norm.out",
               native_layer_norm_out<normalize_rows>);

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(log_softmax_out, "aten::_log_softmax.out", softmax_out<LogSoftmax>,
                         portable)
VITRINE_OPTIMIZED_KERNEL(softmax_out, "aten::_softmax.out", softmax_out<Softmax>, portable)
