#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/matrix_product.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

void bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!check_rank(context, self, 3, "self") || !check_rank(context, mat2, 3, "mat2") ||
      !check_rank(context, out, 3, "out")) {
    return;
  }
  if (self.size(0) != mat2.size(0)) {
    context.fail(ErrorCode::kInvalidArgument, "self has %d matrices, mat2 %d", self.size(0),
                 mat2.size(0));
    return;
  }
  if (!context.resize(out, std::array{self.size(0), self.size(1), mat2.size(2)})) return;
  for (int64_t i = 0; i < self.size(0) && !context.failed(); ++i) {
    Layout left(self);
    Layout right(mat2);
    Layout result(out);
    for (Layout* layout : {&left, &right, &result}) layout->select(0, i);
    multiply_matrices(context, {self, left}, {mat2, right}, out, result);
  }
}

}  // namespace

VITRINE_KERNEL(bmm_out, "aten::bmm.out", bmm_out);

}  // namespace vitrine::portable
