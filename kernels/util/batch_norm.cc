#include "kernels/util/batch_norm.h"

#include <array>
#include <bit>

#include "kernels/util/elementwise.h"
#include "kernels/util/moments.h"
#include "kernels/util/norm.h"
#include "kernels/util/packing_key.h"
#include "runtime/core/checked_math.h"

namespace vitrine {

namespace {

// A tensor of shape [C, 1, ...] with an element for each channel.
template <class T>
class ChannelVector {
 public:
  ChannelVector(std::span<T> data, size_t rank) : data_(data) {
    sizes_.fill(1);
    sizes_[0] = static_cast<int32_t>(data.size());
    for (size_t i = 0; i < kMaxRank; ++i) order_[i] = static_cast<uint8_t>(i);
    tensor_ = Tensor(scalar_type_of<T>, {sizes_.data(), rank}, {order_.data(), rank},
                     {strides_.data(), rank}, data.data());
  }
  ChannelVector(const ChannelVector&) = delete;
  ChannelVector& operator=(const ChannelVector&) = delete;

  T& operator[](size_t i) { return data_[i]; }
  Tensor& tensor() { return tensor_; }

 private:
  std::span<T> data_;
  std::array<int32_t, kMaxRank> sizes_;
  std::array<uint8_t, kMaxRank> order_;
  std::array<int64_t, kMaxRank> strides_;
  Tensor tensor_;
};

constexpr size_t kChannelDim = 1;

bool check_input(KernelContext& context, const Tensor& input) {
  if (!check_dtype_in<FloatHBF16Types>(context, input)) return false;
  if (input.rank() > kChannelDim) return true;
  context.fail(ErrorCode::kInvalidArgument, "input has rank %zu, but it needs a channel dimension",
               input.rank());
  return false;
}

// Returns memory for the scales of all channels, followed by the shifts. The method keeps the
// memory for later executions if all parameters are constants of type T and the memory budget is
// large enough. Returns null data if the context has failed.
template <class T>
KernelContext::Derived scales_and_shifts(KernelContext& context, const BatchNormArguments& a,
                                         size_t channels) {
  const auto count = static_cast<int64_t>(channels);
  const int64_t bytes = checked_product({count, 2, int64_t{sizeof(T)}}).value_or(0);
  PackingKey key;
  key.add(std::bit_cast<int64_t>(a.epsilon));
  bool may_keep = bytes != 0;
  for (const Tensor* parameter : {a.weight, a.bias, &a.mean, &a.variance}) {
    if (parameter == nullptr) {
      key.add(0);
    } else {
      // Memory for converted parameters is not kept, because a failed conversion would leave the
      // memory uninitialized.
      may_keep &= parameter->is_constant() && parameter->dtype() == scalar_type_of<T>;
      key.add(reinterpret_cast<intptr_t>(parameter->raw_data()));
    }
  }
  if (may_keep) {
    const auto kept = context.derive(a.variance, key.value(), static_cast<size_t>(bytes));
    if (kept.data != nullptr || context.failed()) return kept;
  }
  return {context.allocate_temp({count, 2, int64_t{sizeof(T)}}), true};
}

template <class T>
void normalize(KernelContext& context, const BatchNormArguments& a, ScaleAndShift apply,
               Tensor& out) {
  const size_t channels = static_cast<size_t>(a.input.size(kChannelDim));
  const auto memory = scales_and_shifts<T>(context, a, channels);
  if (memory.data == nullptr) return;
  T* const first = static_cast<T*>(memory.data);
  ChannelVector<T> scale({first, channels}, a.input.rank() - kChannelDim);
  ChannelVector<T> shift({first + channels, channels}, a.input.rank() - kChannelDim);
  if (memory.is_new) {
    const T* mean = elements_as<T>(context, &a.mean);
    const T* variance = elements_as<T>(context, &a.variance);
    const T* weight = elements_as<T>(context, a.weight);
    const T* bias = elements_as<T>(context, a.bias);
    if (context.failed()) return;
    for (size_t c = 0; c < channels; ++c) {
      const double rstd = reciprocal_deviation(static_cast<double>(variance[c]), a.epsilon);
      const double factor = rstd * (weight != nullptr ? static_cast<double>(weight[c]) : 1.0);
      const double offset = bias != nullptr ? static_cast<double>(bias[c]) : 0.0;
      scale[c] = static_cast<T>(factor);
      shift[c] = static_cast<T>(offset - static_cast<double>(mean[c]) * factor);
    }
  }
  apply(context, a.input, scale.tensor(), shift.tensor(), out);
}

}  // namespace

void scale_and_shift(KernelContext& context, const Tensor& input, const Tensor& scale,
                     const Tensor& shift, Tensor& out) {
  dispatch<FloatTypes>(context, scale.dtype(), [&]<class T>() {
    // T is the common dtype, so that scale and shift are not rounded to Half if `input` is Half.
    elementwise<T, T, T, T>(context, scalar_type_of<T>, {&input, &scale, &shift}, out,
                            [](T x, T factor, T offset) { return x * factor + offset; });
  });
}

void batch_norm_no_training(KernelContext& context, const BatchNormArguments& arguments,
                            Tensor& out, Tensor& save_mean, Tensor& save_invstd,
                            ScaleAndShift apply) {
  constexpr std::array<int32_t, 1> kNothing{0};  // nothing is saved for a backward pass
  if (!context.resize(save_mean, kNothing) || !context.resize(save_invstd, kNothing)) return;
  batch_norm(context, arguments, out, apply);
}

void batch_norm(KernelContext& context, const BatchNormArguments& a, Tensor& out,
                ScaleAndShift apply) {
  if (!check_input(context, a.input) || !check_dtype(context, out, a.input.dtype(), "out")) return;
  const std::span<const int32_t> channels = a.input.sizes().subspan(kChannelDim, 1);
  if (!check_parameter(context, a.weight, channels, "weight") ||
      !check_parameter(context, a.bias, channels, "bias") ||
      !check_parameter(context, &a.mean, channels, "running_mean") ||
      !check_parameter(context, &a.variance, channels, "running_var")) {
    return;
  }
  dispatch<FloatTypes>(context, compute_type(a.input.dtype()),
                       [&]<class T>() { normalize<T>(context, a, apply, out); });
}

void batch_norm_of_batch(KernelContext& context, const Tensor& input, const Tensor* weight,
                         const Tensor* bias, double epsilon, Tensor& out, Tensor& save_mean,
                         Tensor& save_invstd, NormalizeGroups normalize_groups) {
  if (!check_input(context, input)) return;
  const std::span<const int32_t> channels = input.sizes().subspan(kChannelDim, 1);
  if (input.numel() != 0 && is_row_major(input) && is_row_major(out)) {
    if (!check_norm(context, input, weight, bias, channels, channels,
                    {out, save_mean, save_invstd})) {
      return;
    }
    const int64_t plane = size_product(input, kChannelDim + 1, input.rank());
    return normalize_groups(context, {input, weight, bias, epsilon, channels[0], channels[0], 1,
                                      plane, out, save_mean, save_invstd, input.size(0)});
  }
  const size_t count = static_cast<size_t>(channels[0]);
  // With too many channels, resizing fails before the allocations below take much memory.
  if (!context.resize(save_mean, channels) || !context.resize(save_invstd, channels)) return;
  ChannelVector<double> mean(context.allocate_temp_array<double>(count), 1);
  ChannelVector<double> var(context.allocate_temp_array<double>(count), 1);
  if (context.failed()) return;
  variance(context, input, ~(1u << kChannelDim), 0.0, false, &var.tensor(), &mean.tensor());
  if (context.failed()) return;
  batch_norm(context, {input, weight, bias, mean.tensor(), var.tensor(), epsilon}, out);
  elementwise<double, double>(context, ScalarType::kDouble, {&mean.tensor()}, save_mean,
                              [](double x) { return x; });
  elementwise<double, double>(context, ScalarType::kDouble, {&var.tensor()}, save_invstd,
                              [epsilon](double x) { return reciprocal_deviation(x, epsilon); });
}

}  // namespace vitrine
