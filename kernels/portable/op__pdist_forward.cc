#include <array>

#include "kernels/util/distance.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void pdist_forward_out(KernelContext& context, const Tensor& self, double p, Tensor& out) {
  if (!check_rank(context, self, 2, "self") || !check_contiguous(context, self, "self") ||
      !check_distance(context, self, self, p, out)) {
    return;
  }
  const int64_t rows = self.size(0);
  const int64_t length = self.size(1);
  const int64_t pairs = rows * (rows - 1) / 2;
  if (pairs > INT32_MAX) {
    return context.fail(ErrorCode::kInvalidArgument, "%lld pairs of rows are too many",
                        static_cast<long long>(pairs));
  }
  const std::array<int32_t, 1> sizes{static_cast<int32_t>(pairs)};
  if (!context.resize(out, sizes)) return;
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() {
    const T* data = self.data<T>();
    T* result = out.mutable_data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = i + 1; j < rows; ++j) {
        *result++ = distance(data + i * length, data + j * length, length, p);
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(pdist_forward_out, "aten::_pdist_forward.out", pdist_forward_out);

}  // namespace vitrine::portable
