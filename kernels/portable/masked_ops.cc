#include <algorithm>
#include <array>
#include <optional>

#include "kernels/util/broadcast.h"
#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Layouts of a tensor and a mask, broadcast to their common sizes. Non-zero mask bytes are true.
struct Masked {
  Layout self;
  Layout mask;

  // Calls visit(offset in self) for each true element of the mask, in row-major order.
  template <class Visit>
  void for_each_true(const uint8_t* mask_data, Visit&& visit) const {
    const BoxLoop<2> loop(mask.size_span(), {mask.strides.data(), self.strides.data()},
                          LoopOrder::kRowMajor);
    loop.run({0, 0}, [&](const auto& first, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        if (mask_data[first[0] + i * loop.row_stride(0)] != 0) {
          visit(first[1] + i * loop.row_stride(1));
        }
      }
    });
  }
};

// Fails if the mask is not Bool or Byte, the shapes do not broadcast, or a tensor has no memory.
std::optional<Masked> broadcast_mask(KernelContext& context, const Tensor& self,
                                     const Tensor& mask) {
  if (mask.dtype() != ScalarType::kBool && mask.dtype() != ScalarType::kByte) {
    context.fail(ErrorCode::kInvalidArgument, "mask has dtype %s, expected bool or u8",
                 scalar_type_name(mask.dtype()));
    return std::nullopt;
  }
  std::array<int32_t, kMaxRank> storage;
  const std::array<const Tensor*, 2> tensors{&self, &mask};
  const auto sizes = broadcast_sizes(context, tensors, storage);
  if (!sizes || !check_data(context, {&self, &mask})) return std::nullopt;
  std::array<int64_t, kMaxRank> wide;
  std::ranges::copy(*sizes, wide.begin());
  Masked result{Layout(self), Layout(mask)};
  const std::span<const int64_t> target(wide.data(), sizes->size());
  if (!result.self.broadcast_to(target) || !result.mask.broadcast_to(target)) return std::nullopt;
  return result;
}

void masked_select_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                       Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  const std::optional<Masked> masked = broadcast_mask(context, self, mask);
  if (!masked) return;
  int64_t count = 0;
  masked->for_each_true(mask.unchecked_data<uint8_t>(), [&](int64_t) { ++count; });
  if (!resize_to(context, out, std::array{count}) || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, {&self, &mask})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  int64_t to = 0;
  masked->for_each_true(mask.unchecked_data<uint8_t>(), [&](int64_t from) {
    mover->move(self.raw_data(), from, 1, out.mutable_raw_data(), to++, 1, 1);
  });
}

// Broadcasts self and the mask to a common shape and copies self to out. Then successive elements
// of source replace the masked elements.
void masked_scatter_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                        const Tensor& source, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !check_dtype(context, source, self.dtype(), "source") || !check_data(context, {&source})) {
    return;
  }
  const std::optional<Masked> shape = broadcast_mask(context, self, mask);
  if (!shape || !resize_to(context, out, shape->self.size_span()) ||
      !copy_broadcast(context, self, out, Layout(out))) {
    return;
  }
  const std::optional<Masked> masked = broadcast_mask(context, out, mask);
  const auto mover = ElementMover::make(context, source.dtype(), out.dtype());
  if (!masked || !mover) return;
  const Layout layout(source);
  int64_t used = 0;
  masked->for_each_true(mask.unchecked_data<uint8_t>(), [&](int64_t to) {
    if (used < source.numel()) {
      mover->move(source.raw_data(), layout.offset_of(used), 1, out.mutable_raw_data(), to, 1, 1);
    }
    ++used;
  });
  if (used > source.numel()) {
    context.fail(ErrorCode::kInvalidArgument, "the mask selects %lld elements, but source has %lld",
                 static_cast<long long>(used), static_cast<long long>(source.numel()));
  }
}

void masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                            const Scalar& value, Tensor& out) {
  if (!check_dtype(context, mask, ScalarType::kBool, "mask")) return;
  dispatch<RealBTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    const T fill = value.to<T>();
    elementwise<T, T, bool>(context, self.dtype(), {&self, &mask}, out,
                            [fill](T x, bool masked) { return masked ? fill : x; });
  });
}

void where_out(KernelContext& context, const Tensor& condition, const Tensor& self,
               const Tensor& other, Tensor& out) {
  if (!check_dtype_in<TypeList<bool, uint8_t>>(context, condition)) return;
  const std::optional<ScalarType> common = promote(context, self, other);
  if (!common) return;
  dispatch<RealBTypes>(context, compute_type(*common), [&]<class T>() {
    elementwise<T, bool, T, T>(context, *common, {&condition, &self, &other}, out,
                               [](bool chosen, T a, T b) { return chosen ? a : b; });
  });
}

}  // namespace

VITRINE_KERNEL(masked_select_out, "aten::masked_select.out", masked_select_out);
VITRINE_KERNEL(masked_scatter_out, "aten::masked_scatter.out", masked_scatter_out);
VITRINE_KERNEL(masked_fill_Scalar_out, "aten::masked_fill.Scalar_out", masked_fill_scalar_out);
VITRINE_KERNEL(where_self_out, "aten::where.self_out", where_out);

}  // namespace vitrine::portable
