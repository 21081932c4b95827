#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/matrix_product.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

void addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (!check_rank(context, mat1, 2, "mat1") || !check_rank(context, mat2, 2, "mat2") ||
      !context.resize(out, std::array{mat1.size(0), mat2.size(1)})) {
    return;
  }
  const Layout result(out);
  Layout added(self);
  if (!added.broadcast_to(result.size_span())) {
    context.fail(ErrorCode::kInvalidArgument, "self does not broadcast to the product, %d x %d",
                 out.size(0), out.size(1));
    return;
  }
  const Addend addend{self, added, beta};
  multiply_matrices(context, {mat1, Layout(mat1)}, {mat2, Layout(mat2)}, out, result, &addend,
                    alpha);
}

}  // namespace

VITRINE_KERNEL(addmm_out, "aten::addmm.out", addmm_out);

}  // namespace vitrine::portable
