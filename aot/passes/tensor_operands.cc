#include "aot/passes/tensor_operands.h"

#include <algorithm>
#include <array>

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

}  // namespace

const TensorOperands* tensor_operands(Target target) {
  const auto found = std::ranges::find(kOperands, target.name(), &TensorOperands::name);
  return found == kOperands.end() ? nullptr : &*found;
}

}  // namespace vitrine::aot
