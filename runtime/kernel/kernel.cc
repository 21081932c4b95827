#include "runtime/kernel/kernel.h"

namespace vitrine::boxing {

bool read_inputs(const EValue& value, std::span<const Tensor* const>& out) {
  std::span<Tensor* const> list;
  if (!value.read_tensor_list(&list)) return false;
  for (const Tensor* tensor : list) {
    if (tensor != nullptr && !tensor->is_readable()) return false;
  }
  out = {const_cast<const Tensor* const*>(list.data()), list.size()};
  return true;
}

void wrong_kind(KernelContext& context, size_t index, const EValue& value) {
  if (value.is_tensor() && value.tensor().is_read_only()) {
    context.fail(ErrorCode::kInvalidProgram,
                 "argument %zu is an output of the operator but a constant of the program", index);
  } else if (value.is_tensor() && value.tensor().raw_data() == nullptr) {
    context.fail(ErrorCode::kInvalidState,
                 "argument %zu is a tensor without memory: is it an input or output of the method "
                 "that was not set, or freed?",
                 index);
  } else {
    context.fail(ErrorCode::kInvalidProgram,
                 "argument %zu is of kind %s, which the operator does not take there", index,
                 tag_name(value.tag()));
  }
}

}  // namespace vitrine::boxing
