// Results of element-wise operators.
#include <algorithm>

#include "aot/shapes/infer.h"
#include "aot/shapes/promotion.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {
namespace {

enum class Result : uint8_t { kSame, kFloat, kBool };

ScalarType result_dtype(ScalarType operands, Result result) {
  if (result == Result::kBool) return ScalarType::kBool;
  if (result == Result::kFloat && !is_floating(operands) && !is_complex(operands)) {
    return ScalarType::kFloat;
  }
  return operands;
}

constexpr std::array<std::string_view, 3> kOperandNames = {"self", "other", "end"};

// Of the arguments [first, first + count).
TensorSpec pointwise(const Call& call, size_t first, size_t count, Result result) {
  ArgumentList operands;
  std::vector<const TensorSpec*> tensors;
  for (size_t i = first; i < first + count; ++i) {
    const Argument* operand = call.find(i, kOperandNames[std::min<size_t>(i, 2)]);
    if (operand == nullptr) continue;
    operands.push_back(*operand);
    const Node* node = operand->node();
    if (node != nullptr && node->tensor() != nullptr) tensors.push_back(node->tensor());
  }
  if (tensors.empty()) call.refuse("none of its operands is a tensor");
  TensorSpec spec;
  spec.dtype = result_dtype(result_type(operands), result);
  spec.sizes = broadcast_sizes(call, tensors);
  spec.strides = elementwise_strides(tensors, spec.sizes);
  return spec;
}

template <size_t operands, Result result>
Value elementwise(const Call& call) {
  return pointwise(call, 0, operands, result);
}
constexpr Infer kUnary = elementwise<1, Result::kSame>;
constexpr Infer kUnaryFloat = elementwise<1, Result::kFloat>;
constexpr Infer kUnaryBool = elementwise<1, Result::kBool>;
constexpr Infer kBinary = elementwise<2, Result::kSame>;
constexpr Infer kBinaryFloat = elementwise<2, Result::kFloat>;
constexpr Infer kBinaryBool = elementwise<2, Result::kBool>;
constexpr Infer kTernary = elementwise<3, Result::kSame>;

Value absolute(const Call& call) {
  TensorSpec spec = pointwise(call, 0, 1, Result::kSame);
  if (spec.dtype == ScalarType::kComplexFloat) spec.dtype = ScalarType::kFloat;
  if (spec.dtype == ScalarType::kComplexDouble) spec.dtype = ScalarType::kDouble;
  return spec;
}

Value divide(const Call& call) {
  const bool is_rounded = call.find(2, "rounding_mode") != nullptr;
  return pointwise(call, 0, 2, is_rounded ? Result::kSame : Result::kFloat);
}

// where(condition, a, b): the dtype is of a and b.
Value where(const Call& call) {
  TensorSpec spec = pointwise(call, 0, 3, Result::kSame);
  const ArgumentList values = {
      call.find(1, "self") == nullptr ? Argument() : *call.find(1, "self"),
      call.find(2, "other") == nullptr ? Argument() : *call.find(2, "other")};
  spec.dtype = result_type(values);
  return spec;
}

// masked_fill and the like: as self, whatever the value is.
Value like_own_dtype(const Call& call) {
  TensorSpec spec = pointwise(call, 0, 2, Result::kSame);
  spec.dtype = call.tensor(0, "self").dtype;
  return spec;
}

Value prelu(const Call& call) { return pointwise(call, 0, 1, Result::kSame); }

Value glu(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  const size_t dim = wrapped(call.integer(1, "dim", -1), spec.rank());
  spec.sizes.at(dim) = spec.sizes.at(dim) / SymInt(2);
  return contiguous_spec(spec.dtype, spec.sizes);
}

constexpr InferRow kElementwiseResults[] = {
    {"aten.__lshift__.Scalar", kBinary},
    {"aten.__rshift__.Scalar", kBinary},
    {"aten.abs.default", absolute},
    {"aten.acos.default", kUnaryFloat},
    {"aten.acosh.default", kUnaryFloat},
    {"aten.add.Scalar", kBinary},
    {"aten.add.Tensor", kBinary},
    {"aten.addcdiv.default", kTernary},
    {"aten.addcmul.default", kTernary},
    {"aten.asin.default", kUnaryFloat},
    {"aten.asinh.default", kUnaryFloat},
    {"aten.atan.default", kUnaryFloat},
    {"aten.atan2.default", kBinaryFloat},
    {"aten.atanh.default", kUnaryFloat},
    {"aten.bitwise_and.Scalar", kBinary},
    {"aten.bitwise_and.Tensor", kBinary},
    {"aten.bitwise_left_shift.Tensor", kBinary},
    {"aten.bitwise_left_shift.Tensor_Scalar", kBinary},
    {"aten.bitwise_not.default", kUnary},
    {"aten.bitwise_or.Scalar", kBinary},
    {"aten.bitwise_or.Tensor", kBinary},
    {"aten.bitwise_right_shift.Tensor", kBinary},
    {"aten.bitwise_right_shift.Tensor_Scalar", kBinary},
    {"aten.bitwise_xor.Scalar", kBinary},
    {"aten.bitwise_xor.Tensor", kBinary},
    {"aten.ceil.default", kUnary},
    {"aten.celu.default", kUnary},
    {"aten.clamp.Tensor", kTernary},
    {"aten.clamp.default", kTernary},
    {"aten.clamp_max.Tensor", kBinary},
    {"aten.clamp_max.default", kBinary},
    {"aten.clamp_min.Tensor", kBinary},
    {"aten.clamp_min.default", kBinary},
    {"aten.copysign.Tensor", kBinaryFloat},
    {"aten.cos.default", kUnaryFloat},
    {"aten.cosh.default", kUnaryFloat},
    {"aten.div.Scalar", kBinaryFloat},
    {"aten.div.Scalar_mode", divide},
    {"aten.div.Tensor", kBinaryFloat},
    {"aten.div.Tensor_mode", divide},
    {"aten.dropout.default", kUnary},
    {"aten.elu.default", kUnary},
    {"aten.eq.Scalar", kBinaryBool},
    {"aten.eq.Tensor", kBinaryBool},
    {"aten.erf.default", kUnaryFloat},
    {"aten.erfc.default", kUnaryFloat},
    {"aten.exp.default", kUnaryFloat},
    {"aten.exp2.default", kUnaryFloat},
    {"aten.expm1.default", kUnaryFloat},
    {"aten.fill.Scalar", kUnary},
    {"aten.fill.Tensor", kUnary},
    {"aten.floor.default", kUnary},
    {"aten.fmax.default", kBinary},
    {"aten.fmin.default", kBinary},
    {"aten.floor_divide.default", kBinary},
    {"aten.fmod.Scalar", kBinary},
    {"aten.fmod.Tensor", kBinary},
    {"aten.frac.default", kUnary},
    {"aten.ge.Scalar", kBinaryBool},
    {"aten.ge.Tensor", kBinaryBool},
    {"aten.gelu.default", kUnary},
    {"aten.glu.default", glu},
    {"aten.gt.Scalar", kBinaryBool},
    {"aten.gt.Tensor", kBinaryBool},
    {"aten.hardshrink.default", kUnary},
    {"aten.hardsigmoid.default", kUnary},
    {"aten.hardswish.default", kUnary},
    {"aten.hardtanh.default", kUnary},
    {"aten.heaviside.default", kBinary},
    {"aten.hypot.default", kBinary},
    {"aten.isfinite.default", kUnaryBool},
    {"aten.isinf.default", kUnaryBool},
    {"aten.isnan.default", kUnaryBool},
    {"aten.le.Scalar", kBinaryBool},
    {"aten.le.Tensor", kBinaryBool},
    {"aten.leaky_relu.default", kUnary},
    {"aten.lerp.Scalar", kBinary},
    {"aten.lerp.Tensor", kTernary},
    {"aten.log.default", kUnaryFloat},
    {"aten.log10.default", kUnaryFloat},
    {"aten.log1p.default", kUnaryFloat},
    {"aten.log2.default", kUnaryFloat},
    {"aten.log_sigmoid.default", kUnary},
    {"aten.logaddexp.default", kBinary},
    {"aten.logaddexp2.default", kBinary},
    {"aten.logical_and.default", kBinaryBool},
    {"aten.logical_not.default", kUnaryBool},
    {"aten.logical_or.default", kBinaryBool},
    {"aten.logical_xor.default", kBinaryBool},
    {"aten.logit.default", kUnaryFloat},
    {"aten.lt.Scalar", kBinaryBool},
    {"aten.lt.Tensor", kBinaryBool},
    {"aten.masked_fill.Scalar", like_own_dtype},
    {"aten.masked_fill.Tensor", like_own_dtype},
    {"aten.maximum.default", kBinary},
    {"aten.minimum.default", kBinary},
    {"aten.mish.default", kUnary},
    {"aten.mul.Scalar", kBinary},
    {"aten.mul.Tensor", kBinary},
    {"aten.nan_to_num.default", kUnary},
    {"aten.ne.Scalar", kBinaryBool},
    {"aten.ne.Tensor", kBinaryBool},
    {"aten.neg.default", kUnary},
    {"aten.pow.Scalar", kBinary},
    {"aten.pow.Tensor_Scalar", kBinary},
    {"aten.pow.Tensor_Tensor", kBinary},
    {"aten.prelu.default", prelu},
    {"aten.reciprocal.default", kUnaryFloat},
    {"aten.relu.default", kUnary},
    {"aten.relu6.default", kUnary},
    {"aten.remainder.Scalar", kBinary},
    {"aten.remainder.Tensor", kBinary},
    {"aten.round.default", kUnary},
    {"aten.rsqrt.default", kUnaryFloat},
    {"aten.rsub.Scalar", kBinary},
    {"aten.selu.default", kUnary},
    {"aten.sigmoid.default", kUnaryFloat},
    {"aten.sign.default", kUnary},
    {"aten.silu.default", kUnary},
    {"aten.sin.default", kUnaryFloat},
    {"aten.sinc.default", kUnaryFloat},
    {"aten.sinh.default", kUnaryFloat},
    {"aten.softplus.default", kUnary},
    {"aten.softshrink.default", kUnary},
    {"aten.sqrt.default", kUnaryFloat},
    {"aten.square.default", kUnary},
    {"aten.sub.Scalar", kBinary},
    {"aten.sub.Tensor", kBinary},
    {"aten.tan.default", kUnaryFloat},
    {"aten.tanh.default", kUnaryFloat},
    {"aten.threshold.default", kUnary},
    {"aten.trunc.default", kUnary},
    {"aten.where.ScalarOther", where},
    {"aten.where.ScalarSelf", where},
    {"aten.where.self", where},
    {"aten.xlogy.Tensor", kBinaryFloat},
};

}  // namespace

std::span<const InferRow> elementwise_results() { return kElementwiseResults; }

}  // namespace vitrine::aot
