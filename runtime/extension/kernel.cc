#include "vitrine/kernel.h"

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

void wrong_argument(KernelContext& context, size_t index, const EValue& value, TensorUse use) {
  const bool one = use == TensorUse::kInput || use == TensorUse::kOutput;
  const bool list = use == TensorUse::kInputList || use == TensorUse::kOutputList;
  if (one && value.is_tensor()) {
    if (use == TensorUse::kOutput && value.unchecked_tensor().is_read_only()) {
      return context.fail(
          ErrorCode::kInvalidProgram,
          "argument %zu is an output of the operator, but it is a constant of the program", index);
    }
    return context.fail(ErrorCode::kInvalidState,
                        "argument %zu is a tensor without memory: is it an input or output of the "
                        "method that was not set?",
                        index);
  }
  const bool is_list =
      value.tag() == EValue::Tag::kListTensor || value.tag() == EValue::Tag::kListOptionalTensor;
  if (list && is_list) {
    return context.fail(
        ErrorCode::kInvalidProgram,
        "argument %zu is a list in which a tensor has no memory, is a constant that "
        "the operator writes, or is None where None is not allowed",
        index);
  }
  if (value.is_int()) {
    return context.fail(ErrorCode::kInvalidProgram,
                        "argument %zu is the Int %lld, which the operator does not accept", index,
                        static_cast<long long>(value.unchecked_int()));
  }
  context.fail(ErrorCode::kInvalidProgram,
               "argument %zu is of kind %s, which the operator does not accept", index,
               tag_name(value.tag()));
}

}  // namespace vitrine::boxing
