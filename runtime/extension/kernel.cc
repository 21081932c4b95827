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
                        "argument %zu is a tensor without memory: set all inputs of the method, "
                        "and all outputs that have no planned memory",
                        index);
  }
  const bool is_list =
      value.tag() == EValue::Tag::kListTensor || value.tag() == EValue::Tag::kListOptionalTensor;
  if (list && is_list) {
    return context.fail(
        ErrorCode::kInvalidProgram,
        "argument %zu is a list with an item that the operator does not accept: a tensor "
        "without memory, a constant as an output, or None instead of a tensor",
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
