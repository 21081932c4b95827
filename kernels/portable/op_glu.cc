// a * sigmoid(b) of the halves a and b along a dimension
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/util/along_dim.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
void gate(const Tensor& self, size_t dim, Tensor& out) {
  using C = Compute<T>;
  const LineNest nest(out, dim);
  const std::array<int64_t, kMaxRank> out_strides = line_strides(out, dim);
  const std::array<int64_t, kMaxRank> in_strides = line_strides(self, dim);
  const BoxLoop<2> loop(nest.shape(), {out_strides.data(), in_strides.data()});
  const int64_t half = out.size(dim);
  const int64_t in_stride = self.strides()[dim];
  const int64_t out_stride = out.strides()[dim];
  loop.run({}, [&](const BoxLoop<2>::Offsets& first, int64_t lines) {
    for (int64_t line = 0; line < lines; ++line) {
      T* to = out.unchecked_mutable_data<T>() + first[0] + line * loop.row_stride(0);
      const T* a = self.unchecked_data<T>() + first[1] + line * loop.row_stride(1);
      const T* b = a + half * in_stride;
      for (int64_t i = 0; i < half; ++i) {
        const C open = C(1) / (C(1) + std::exp(-static_cast<C>(b[i * in_stride])));
        to[i * out_stride] = static_cast<T>(static_cast<C>(a[i * in_stride]) * open);
      }
    }
  });
}

void glu_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along || !check_dtype(context, out, self.dtype(), "out")) return;
  if (self.rank() == 0 || self.size(*along) % 2 != 0) {
    return context.fail(ErrorCode::kInvalidArgument, "dimension %zu of self does not halve",
                        *along);
  }
  if (&self == &out) {
    return context.fail(ErrorCode::kInvalidArgument, "the output is also the argument");
  }
  std::array<int32_t, kMaxRank> sizes;
  std::copy(self.sizes().begin(), self.sizes().end(), sizes.begin());
  sizes[*along] /= 2;
  if (!context.resize(out, {sizes.data(), self.rank()}) || out.numel() == 0) return;
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() { gate<T>(self, *along, out); });
}

}  // namespace

VITRINE_KERNEL(glu_out, "aten::glu.out", glu_out);

}  // namespace vitrine::portable
