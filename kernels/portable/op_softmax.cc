#include <cmath>
#include <limits>

#include "kernels/util/along_dim.h"
#include "kernels/util/arithmetic.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Subtracting the maximum keeps exp() from overflowing.
template <class T>
void softmax_line(const Line<T>& line, bool logarithm) {
  T line_max = -std::numeric_limits<T>::infinity();
  line.read([&](const T* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) line_max = larger(line_max, values[i]);
  });
  double sum = 0;
  line.read([&](const T* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(std::exp(values[i] - line_max));
  });
  if (logarithm) {
    const T log_sum = static_cast<T>(std::log(sum));
    line.map([&](const T* in, T* out, int64_t count) {
      for (int64_t i = 0; i < count; ++i) out[i] = in[i] - line_max - log_sum;
    });
  } else {
    const T scale = static_cast<T>(1.0 / sum);
    line.map([&](const T* in, T* out, int64_t count) {
      for (int64_t i = 0; i < count; ++i) out[i] = std::exp(in[i] - line_max) * scale;
    });
  }
}

// Computes exp(self - max) / sum(exp(self - max)) along `dim`, or the logarithm of this quotient.
// Half and BFloat16 are computed in float, other dtypes without conversion. If `half_to_float` is
// true, self is Half and out is Float. Otherwise, both have the same dtype.
void softmax(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
             bool logarithm, Tensor& out) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along || !check_dtype_in<FloatHBF16Types>(context, self) ||
      !check_dtype(context, out, half_to_float ? ScalarType::kFloat : self.dtype(), "out") ||
      !context.resize(out, self.sizes())) {
    return;
  }
  dispatch<FloatTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    // T is the common dtype. If `half_to_float` is true, self's dtype would round the results to
    // Half.
    for_each_line<T>(context, self, scalar_type_of<T>, *along, out,
                     [&](const Line<T>& line) { softmax_line(line, logarithm); });
  });
}

template <bool logarithm>
void softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                 Tensor& out) {
  softmax(context, self, dim, half_to_float, logarithm, out);
}

}  // namespace

VITRINE_KERNEL(log_softmax_out, "aten::_log_softmax.out", softmax_out<true>);
VITRINE_KERNEL(softmax_out, "aten::_softmax.out", softmax_out<false>);

}  // namespace vitrine::portable
