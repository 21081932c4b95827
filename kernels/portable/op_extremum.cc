#include "kernels/util/extremum.h"
#include "kernels/util/reduction.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <Extremum which>
void amax_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
              bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, &out, nullptr);
}

template <Extremum which>
void argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, nullptr, &out);
}

template <Extremum which>
void max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 Tensor& values, Tensor& indices) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, &values, &indices);
}

template <Extremum which>
void max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  extremum(context, which, self, kAllDims, false, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(amax_out, "aten::amax.out", amax_out<Extremum::kLargest>);
VITRINE_KERNEL(argmax_out, "aten::argmax.out", argmax_out<Extremum::kLargest>);
VITRINE_KERNEL(max_dim_max, "aten::max.dim_max", max_dim_out<Extremum::kLargest>);
VITRINE_KERNEL(max_unary_out, "aten::max.unary_out", max_unary_out<Extremum::kLargest>);
VITRINE_KERNEL(amin_out, "aten::amin.out", amax_out<Extremum::kSmallest>);
VITRINE_KERNEL(argmin_out, "aten::argmin.out", argmax_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_dim_min, "aten::min.dim_min", max_dim_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_unary_out, "aten::min.unary_out", max_unary_out<Extremum::kSmallest>);

}  // namespace vitrine::portable
