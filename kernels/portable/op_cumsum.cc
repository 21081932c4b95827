#include <optional>

#include "kernels/util/along_dim.h"
#include "kernels/util/sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void cumsum_out(KernelContext& context, const Tensor& self, int64_t dim,
                std::optional<ScalarType> dtype, Tensor& out) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along || (dtype && !check_dtype(context, out, *dtype, "out")) ||
      !context.resize(out, self.sizes())) {
    return;
  }
  dispatch<SumTypes>(context, sum_type(out.dtype()), [&]<class T>() {
    for_each_line<T>(context, self, out.dtype(), *along, out, [](const Line<T>& line) {
      typename Sum<T>::Total total{};
      line.map([&total](const T* in, T* sums, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          total = Sum<T>::plus(total, in[i]);
          sums[i] = static_cast<T>(total);
        }
      });
    });
  });
}

}  // namespace

VITRINE_KERNEL(cumsum_out, "aten::cumsum.out", cumsum_out);

}  // namespace vitrine::portable
