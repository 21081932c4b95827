#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// element(row-major number) for each element that is not zero, in that order.
template <class T, class Element>
void each_nonzero(const Tensor& self, Element&& element) {
  const Layout layout(self);
  const BoxLoop<1> loop(layout.size_span(), {layout.strides.data()}, LoopOrder::kRowMajor);
  int64_t number = 0;
  loop.run({0}, [&](const auto& first, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++number) {
      const T* value = self.unchecked_data<T>() + first[0] + i * loop.row_stride(0);
      if (convert<bool>(load(value))) element(number);
    }
  });
}

void nonzero_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_dtype(context, out, ScalarType::kLong, "out") || !check_rank(context, out, 2, "out") ||
      !check_data(context, {&self})) {
    return;
  }
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    int64_t count = 0;
    each_nonzero<T>(self, [&](int64_t) { ++count; });
    const int64_t rank = static_cast<int64_t>(self.rank());
    if (!resize_to(context, out, std::array{count, rank}) || !check_data(context, {&out}) ||
        !check_no_overlap(context, out, {&self})) {
      return;
    }
    const Layout result(out);
    int64_t row = 0;
    each_nonzero<T>(self, [&](int64_t number) {
      for (int64_t i = rank; i-- > 0;) {
        const int64_t size = self.size(static_cast<size_t>(i));
        out.unchecked_mutable_data<int64_t>()[row * result.strides[0] + i * result.strides[1]] =
            number % size;
        number /= size;
      }
      ++row;
    });
  });
}

}  // namespace

VITRINE_KERNEL(nonzero_out, "aten::nonzero.out", nonzero_out);

}  // namespace vitrine::portable
