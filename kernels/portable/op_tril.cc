#include <algorithm>
#include <cstring>
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Copies the elements on and below the diagonal. Other elements are zero.
void tril_out(KernelContext& context, const Tensor& self, int64_t diagonal, Tensor& out) {
  if (self.rank() < 2) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "tril needs 2 or more dimensions, but self has %zu", self.rank());
  }
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes()) ||
      !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  if (out.nbytes() == 0) return;
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
  Layout from(self);
  Layout to(out);
  const size_t rows = self.rank() - 2;
  const int64_t columns = self.size(rows + 1);
  const int64_t from_strides[] = {from.strides[rows], from.strides[rows + 1]};
  const int64_t to_strides[] = {to.strides[rows], to.strides[rows + 1]};
  diagonal = std::clamp<int64_t>(diagonal, -INT32_MAX, INT32_MAX);
  from.rank = rows;  // leaves the dimensions over matrices
  to.rank = rows;
  const BoxLoop<2> matrices(to.size_span(), {to.strides.data(), from.strides.data()});
  matrices.run({0, 0}, [&](const auto& offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t row = 0; row < self.size(rows); ++row) {
        mover->move(self.raw_data(),
                    offsets[1] + i * matrices.row_stride(1) + row * from_strides[0],
                    from_strides[1], out.mutable_raw_data(),
                    offsets[0] + i * matrices.row_stride(0) + row * to_strides[0], to_strides[1],
                    std::clamp<int64_t>(row + diagonal + 1, 0, columns));
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(tril_out, "aten::tril.out", tril_out);

}  // namespace vitrine::portable
