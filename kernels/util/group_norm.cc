#include "kernels/util/group_norm.h"

#include <array>

#include "kernels/util/along_dim.h"
#include "kernels/util/moments.h"
#include "kernels/util/norm.h"

namespace vitrine {

namespace {

template <class T>
void normalize(KernelContext& context, const GroupNorm& a) {
  LineFormat format;
  if (!make_line_format(context, a.input, a.input.dtype(), scalar_type_of<T>, a.out, format))
    return;
  const T* weight = elements_as<T>(context, a.weight);
  const T* bias = elements_as<T>(context, a.bias);
  if (context.failed()) return;
  const auto line_at = [&](int64_t start, int64_t length) {
    return Line<T>(format, a.input.unchecked_data<std::byte>() + start * format.in_size, 1,
                   a.out.unchecked_mutable_data<std::byte>() + start * format.out_size, 1, length);
  };
  for (int64_t row = 0; row < a.rows; ++row) {
    const int64_t start = row * a.channels * a.plane;
    Moments moments;
    for (int64_t part = 0; part < a.parts; ++part) {
      line_at(start + part * a.part_size(), a.channels * a.plane)
          .read([&](const T* values, int64_t count) { moments.add(values, count); });
    }
    const double rstd = reciprocal_deviation(moments.variance(0.0), a.epsilon);
    write_element(a.mean, row, moments.mean);
    write_element(a.rstd, row, rstd);
    if (a.plane == 0) continue;
    for (int64_t c = 0; c < a.channels; ++c) {
      const int64_t channel = row % a.groups * a.channels + c;
      const double factor = rstd * (weight != nullptr ? static_cast<double>(weight[channel]) : 1.0);
      const double bias_value = bias != nullptr ? static_cast<double>(bias[channel]) : 0.0;
      const T scale = static_cast<T>(factor);
      const T shift = static_cast<T>(bias_value - moments.mean * factor);
      for (int64_t part = 0; part < a.parts; ++part) {
        line_at(start + part * a.part_size() + c * a.plane, a.plane)
            .map([&](const T* in, T* result, int64_t count) {
              for (int64_t i = 0; i < count; ++i) result[i] = in[i] * scale + shift;
            });
      }
    }
  }
}

}  // namespace

void normalize_groups(KernelContext& context, const GroupNorm& arguments) {
  dispatch<FloatTypes>(context, compute_type(arguments.input.dtype()),
                       [&]<class T>() { normalize<T>(context, arguments); });
}

void group_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                const Tensor* bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                Tensor& out0, Tensor& out1, Tensor& out2, NormalizeGroups normalize) {
  if (input.rank() < 2 || input.size(0) != N || input.size(1) != C ||
      size_product(input, 2, input.rank()) != HxW) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "input does not match the arguments: expected shape [%lld,%lld,...] with "
                        "%lld elements per channel",
                        static_cast<long long>(N), static_cast<long long>(C),
                        static_cast<long long>(HxW));
  }
  if (group <= 0 || group > INT32_MAX || C % group != 0) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "%lld channels cannot be divided into %lld groups",
                        static_cast<long long>(C), static_cast<long long>(group));
  }
  const std::array<int32_t, 2> statistics{input.size(0), static_cast<int32_t>(group)};
  const std::span<const int32_t> channels = input.sizes().subspan(1, 1);
  if (!check_norm(context, input, weight, bias, channels, statistics, {out0, out1, out2})) return;
  normalize(context,
            {input, weight, bias, eps, N * group, group, C / group, HxW, out0, out1, out2});
}

}  // namespace vitrine
