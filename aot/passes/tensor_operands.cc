#include "aot/passes/tensor_operands.h"

#include <algorithm>
#include <array>
#include <optional>

namespace vitrine::aot {
namespace {

constexpr uint32_t kBoth = 0b11;
constexpr std::array kOperands = {
    TensorOperands{"aten.add.Tensor", kBoth, Promotion::kDefault},
    TensorOperands{"aten.sub.Tensor", kBoth, Promotion::kDefault},
    TensorOperands{"aten.mul.Tensor", kBoth, Promotion::kDefault},
    TensorOperands{"aten.div.Tensor", kBoth, Promotion::kIntToFloat},
    TensorOperands{"aten.minimum.default", kBoth, Promotion::kDefault},
    TensorOperands{"aten.maximum.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.div.Tensor_mode", kBoth, Promotion::kNone},
    TensorOperands{"aten.floor_divide.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.remainder.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.fmod.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.atan2.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.pow.Tensor_Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.eq.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.ne.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.lt.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.le.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.gt.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.ge.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.bitwise_and.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.bitwise_or.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.bitwise_xor.Tensor", kBoth, Promotion::kNone},
    TensorOperands{"aten.logical_and.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.logical_or.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.logical_xor.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.where.self", 0b111, Promotion::kNone},
    TensorOperands{"aten.copy.default", kBoth, Promotion::kNone},
    TensorOperands{"aten.fill.Tensor", kBoth, Promotion::kNone},
};

enum class Kind : uint8_t { kBool, kInteger, kFloat, kComplex };

Kind kind_of(ScalarType type) {
  if (type == ScalarType::kBool) return Kind::kBool;
  if (is_complex(type)) return Kind::kComplex;
  return is_floating(type) ? Kind::kFloat : Kind::kInteger;
}

bool is_unsigned(ScalarType type) {
  return type == ScalarType::kByte || type == ScalarType::kUInt16 || type == ScalarType::kUInt32 ||
         type == ScalarType::kUInt64;
}

// torch.promote_types, of types whose values torch computes with.
ScalarType promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (kind_of(a) != kind_of(b)) {
    const ScalarType higher = kind_of(a) > kind_of(b) ? a : b;
    const ScalarType lower = higher == a ? b : a;
    // complex64 and double are complex128 together.
    if (higher == ScalarType::kComplexFloat && lower == ScalarType::kDouble) {
      return ScalarType::kComplexDouble;
    }
    return higher;
  }
  if (kind_of(a) == Kind::kFloat && element_size(a) == 2 && element_size(b) == 2) {
    return ScalarType::kFloat;  // f16 and bf16
  }
  if (element_size(a) != element_size(b)) {
    const ScalarType wider = element_size(a) > element_size(b) ? a : b;
    return wider;
  }
  // u8 and i8 fit into i16.
  if (is_unsigned(a) != is_unsigned(b) && element_size(a) == 1) return ScalarType::kShort;
  return a;
}

std::optional<ScalarType> promote(std::optional<ScalarType> a, std::optional<ScalarType> b) {
  if (!a || !b) return a ? a : b;
  return promote(*a, *b);
}

}  // namespace

const TensorOperands* tensor_operands(Target target) {
  const auto found = std::ranges::find(kOperands, target.name(), &TensorOperands::name);
  return found == kOperands.end() ? nullptr : &*found;
}

ScalarType result_type(std::span<const TensorSpec* const> tensors) {
  std::optional<ScalarType> with_dims;
  std::optional<ScalarType> without;
  for (const TensorSpec* tensor : tensors) {
    auto& group = tensor->rank() > 0 ? with_dims : without;
    group = promote(group, tensor->dtype);
  }
  if (!with_dims) return without.value_or(ScalarType::kFloat);
  if (!without || kind_of(*with_dims) >= kind_of(*without)) return *with_dims;
  return promote(*with_dims, *without);
}

}  // namespace vitrine::aot
