#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sym_size(KernelContext& context, TensorSlot self, int64_t dim, EValue& result) {
  const size_t rank = self.tensor->rank();
  if (rank == 0) return context.fail(ErrorCode::kInvalidArgument, "a 0-d tensor has no sizes");
  const std::optional<size_t> index = normalize_dim(context, dim, rank);
  if (index) result = EValue(int64_t{self.tensor->size(*index)});
}

void sym_numel(KernelContext&, TensorSlot self, EValue& result) {
  result = EValue(self.tensor->numel());
}

void local_scalar_dense(KernelContext& context, const Tensor& self, EValue& result) {
  if (self.numel() < 1) {
    return context.fail(ErrorCode::kInvalidArgument, "self has no elements to read");
  }
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    const T value = load(self.unchecked_data<T>());
    if constexpr (std::is_same_v<T, bool>) {
      result = EValue(value);
    } else if constexpr (std::is_integral_v<T>) {
      result = EValue(static_cast<int64_t>(value));
    } else {
      result = EValue(convert<double>(value));
    }
  });
}

}  // namespace

VITRINE_KERNEL(local_scalar_dense, "aten::_local_scalar_dense", local_scalar_dense);
VITRINE_KERNEL(sym_numel, "aten::sym_numel", sym_numel);
VITRINE_KERNEL(sym_size_int, "aten::sym_size.int", sym_size);

}  // namespace vitrine::portable
