#include "aot/operators/infer.h"
#include "aot/operators/promotion.h"
#include "aot/operators/results.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

enum class Result : uint8_t { kSame, kFloat, kBool };

ScalarType result_dtype(ScalarType operands, Result result) {
  if (result == Result::kBool) return ScalarType::kBool;
  if (result == Result::kFloat && !is_floating(operands) && !is_complex(operands)) {
    return ScalarType::kFloat;
  }
  return operands;
}

// The operands of the element-wise operator are its first `count` arguments.
TensorSpec pointwise(const Call& call, size_t count, Result result = Result::kSame) {
  ArgumentList operands;
  std::vector<const TensorSpec*> tensors;
  for (size_t i = 0; i < count; ++i) {
    const Argument* operand = call.find(i);
    if (operand == nullptr) continue;
    operands.push_back(*operand);
    const Node* node = operand->node();
    if (node != nullptr && node->tensor() != nullptr) tensors.push_back(node->tensor());
  }
  if (tensors.empty()) call.refuse("at least one operand must be a tensor");
  TensorSpec spec;
  spec.dtype = result_dtype(result_type(operands), result);
  spec.sizes = broadcast_sizes(call, tensors);
  spec.strides = elementwise_strides(tensors, spec.sizes);
  return spec;
}

}  // namespace

Value unary(const Call& call) { return pointwise(call, 1); }
Value unary_float(const Call& call) { return pointwise(call, 1, Result::kFloat); }
Value unary_bool(const Call& call) { return pointwise(call, 1, Result::kBool); }
Value binary(const Call& call) { return pointwise(call, 2); }
Value binary_float(const Call& call) { return pointwise(call, 2, Result::kFloat); }
Value binary_bool(const Call& call) { return pointwise(call, 2, Result::kBool); }
Value ternary(const Call& call) { return pointwise(call, 3); }

Value absolute(const Call& call) {
  TensorSpec spec = pointwise(call, 1);
  spec.dtype = real_type(spec.dtype);
  return spec;
}

Value divide(const Call& call) {
  const bool is_rounded = call.find("rounding_mode") != nullptr;
  return pointwise(call, 2, is_rounded ? Result::kSame : Result::kFloat);
}

// In where(condition, self, other), the condition does not affect the dtype.
Value where(const Call& call) {
  TensorSpec spec = pointwise(call, 3);
  const ArgumentList values = {call.value("self"), call.value("other")};
  spec.dtype = result_type(values);
  return spec;
}

// The result of masked_fill and similar operators has the dtype of self.
Value binary_dtype_of_self(const Call& call) {
  TensorSpec spec = pointwise(call, 2);
  spec.dtype = call.self().dtype;
  return spec;
}

Value glu(const Call& call) {
  TensorSpec spec = call.self();
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  spec.sizes.at(dim) = spec.sizes.at(dim) / SymInt(2);
  return contiguous_spec(spec.dtype, spec.sizes);
}

}  // namespace vitrine::aot::results
