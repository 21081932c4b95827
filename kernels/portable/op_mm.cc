#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/matrix_product.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

void mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!check_rank(context, self, 2, "self") || !check_rank(context, mat2, 2, "mat2") ||
      !context.resize(out, std::array{self.size(0), mat2.size(1)})) {
    return;
  }
  multiply_matrices(context, {self, Layout(self)}, {mat2, Layout(mat2)}, out, Layout(out));
}

}  // namespace

VITRINE_KERNEL(mm_out, "aten::mm.out", mm_out);

}  // namespace vitrine::portable
