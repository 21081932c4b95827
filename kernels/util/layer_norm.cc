#include "kernels/util/layer_norm.h"

#include <algorithm>
#include <array>

#include "kernels/util/along_dim.h"
#include "kernels/util/moments.h"
#include "kernels/util/norm.h"

namespace vitrine {

namespace {

template <class T>
void normalize(KernelContext& context, const LayerNorm& a) {
  LineFormat format;
  if (!make_line_format(context, a.input, a.input.dtype(), scalar_type_of<T>, a.out, format))
    return;
  const T* weight = elements_as<T>(context, a.weight);
  const T* bias = elements_as<T>(context, a.bias);
  if (context.failed()) return;
  for (int64_t row = 0; row < a.rows; ++row) {
    const int64_t start = row * a.row_length;
    const Line<T> line(format, a.input.unchecked_data<std::byte>() + start * format.in_size, 1,
                       a.out.unchecked_mutable_data<std::byte>() + start * format.out_size, 1,
                       a.row_length);
    Moments moments;
    line.read([&](const T* values, int64_t count) { moments.add(values, count); });
    const double rstd = reciprocal_deviation(moments.variance(0.0), a.epsilon);
    write_element(a.mean, row, moments.mean);
    write_element(a.rstd, row, rstd);
    const T center = static_cast<T>(moments.mean);
    const T scale = static_cast<T>(rstd);
    int64_t column = 0;
    line.map([&](const T* in, T* result, int64_t count) {
      for (int64_t i = 0; i < count; ++i, ++column) {
        const T factor = weight != nullptr ? weight[column] : T(1);
        const T offset = bias != nullptr ? bias[column] : T(0);
        result[i] = (in[i] - center) * scale * factor + offset;
      }
    });
  }
}

}  // namespace

void normalize_rows(KernelContext& context, const LayerNorm& arguments) {
  dispatch<FloatTypes>(context, compute_type(arguments.input.dtype()),
                       [&]<class T>() { normalize<T>(context, arguments); });
}

void layer_norm(KernelContext& context, const Tensor& input,
                std::span<const int64_t> normalized_shape, const Tensor* weight, const Tensor* bias,
                double eps, Tensor& out0, Tensor& out1, Tensor& out2, NormalizeRows normalize) {
  const size_t trailing = normalized_shape.size();
  if (trailing == 0 || trailing > input.rank()) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "normalized_shape has %zu dimensions, expected 1 to %zu, the rank of input",
                        trailing, input.rank());
  }
  const size_t leading = input.rank() - trailing;
  const std::span<const int32_t> row_sizes = input.sizes().subspan(leading);
  if (!std::equal(row_sizes.begin(), row_sizes.end(), normalized_shape.begin())) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "normalized_shape differs from the last dimensions of input");
  }
  std::array<int32_t, kMaxRank> row_statistics;
  row_statistics.fill(1);
  std::copy_n(input.sizes().begin(), leading, row_statistics.begin());
  const std::span<const int32_t> statistics_sizes(row_statistics.data(), input.rank());
  const LayerNorm arguments{input,
                            weight,
                            bias,
                            eps,
                            size_product(input, 0, leading),
                            size_product(input, leading, input.rank()),
                            out0,
                            out1,
                            out2};
  if (!check_norm(context, input, weight, bias, row_sizes, statistics_sizes, {out0, out1, out2}))
    return;
  // If out0 is the same tensor as out1 or out2, out0 now has the shape of the statistics.
  if (!out0.same_sizes(input)) {
    return context.fail(ErrorCode::kInvalidArgument, "two outputs are the same tensor");
  }
  normalize(context, arguments);
}

}  // namespace vitrine
