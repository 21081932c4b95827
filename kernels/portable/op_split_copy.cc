
#include "kernels/util/split.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void split_copy_Tensor_out(KernelContext& context, const Tensor& self, int64_t split_size,
                           int64_t dim, std::span<Tensor* const> out) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return;
  const int64_t size = self.size(*place);
  if (split_size < 0 || (split_size == 0 && size != 0)) {
    context.fail(ErrorCode::kInvalidArgument, "split_size %lld cannot cut %lld elements",
                 static_cast<long long>(split_size), static_cast<long long>(size));
    return;
  }
  const int64_t parts = size == 0 ? 1 : (size - 1) / split_size + 1;
  split_tensor(context, self, dim, out, parts, [&](int64_t i) {
    return i + 1 < parts ? split_size : size - split_size * (parts - 1);
  });
}

}  // namespace

VITRINE_KERNEL(split_copy_Tensor_out, "aten::split_copy.Tensor_out", split_copy_Tensor_out);

}  // namespace vitrine::portable
