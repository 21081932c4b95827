#include <algorithm>
#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/matrix_product.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

// out[..., n] = input[..., k] x weight[n, k]^T + bias[n]; a bias of one element serves all columns.
void linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                const Tensor* bias, Tensor& out) {
  if (input.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "input is 0-d: it has no features");
    return;
  }
  if (!check_rank(context, weight, 2, "weight") || !check_contiguous(context, input, "input")) {
    return;
  }
  const size_t last = input.rank() - 1;
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(input.sizes(), sizes.begin());
  sizes[last] = weight.size(0);
  if (!context.resize(out, std::span(sizes).first(input.rank())) ||
      !check_contiguous(context, out, "out")) {
    return;
  }
  const int64_t rows = size_product(input, 0, last);
  const Layout left(std::array<int64_t, 2>{rows, input.size(last)});
  const Layout result(std::array<int64_t, 2>{rows, weight.size(0)});
  Layout right(weight);
  right.swap(0, 1);
  if (bias == nullptr) {
    multiply_matrices(context, {input, left}, {weight, right}, out, result);
    return;
  }
  Layout added(*bias);
  if (bias->rank() != 1 || !added.broadcast_to(result.size_span())) {
    context.fail(ErrorCode::kInvalidArgument, "bias does not have %d elements in one dimension",
                 weight.size(0));
    return;
  }
  const Addend addend{*bias, added, int64_t{1}};
  multiply_matrices(context, {input, left}, {weight, right}, out, result, &addend);
}

}  // namespace

VITRINE_KERNEL(linear_out, "aten::linear.out", linear_out);

}  // namespace vitrine::portable
