#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// [...] complex -> [..., 2]: real and imaginary parts.
void view_as_real_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!is_complex(self.dtype())) return fail_unsupported_dtype(context, self.dtype());
  const ScalarType part = real_type(self.dtype());
  Layout parts(self);
  for (size_t i = 0; i < parts.rank; ++i) parts.strides[i] *= 2;
  parts.insert(parts.rank, 2, 1);
  if (!check_dtype(context, out, part, "out") || !resize_to(context, out, parts.size_span()) ||
      !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, part, part);
  if (!mover) return;
  const Layout result(out);
  const BoxLoop<2> loop(parts.size_span(), {result.strides.data(), parts.strides.data()});
  loop.run({0, 0}, [&](const auto& offsets, int64_t count) {
    mover->move(self.raw_data(), offsets[1], loop.row_stride(1), out.mutable_raw_data(), offsets[0],
                loop.row_stride(0), count);
  });
}

}  // namespace

VITRINE_KERNEL(view_as_real_copy_out, "aten::view_as_real_copy.out", view_as_real_copy_out);

}  // namespace vitrine::portable
