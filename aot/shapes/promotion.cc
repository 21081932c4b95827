#include "aot/shapes/promotion.h"

#include "aot/graph/node.h"

namespace vitrine::aot {
namespace {

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

void join(std::optional<ScalarType>& group, ScalarType dtype) {
  group = group ? promote(*group, dtype) : dtype;
}

// The dtypes of what outweighs what.
struct Groups {
  std::optional<ScalarType> with_dims;
  std::optional<ScalarType> without;
  std::optional<ScalarType> numbers;
};

ScalarType result(const Groups& groups) {
  std::optional<ScalarType> found = groups.with_dims;
  for (const auto& lower : {groups.without, groups.numbers}) {
    if (!lower) continue;
    if (!found) {
      found = lower;
    } else if (kind_of(*lower) > kind_of(*found)) {
      found = promote(*found, *lower);
    }
  }
  return found.value_or(ScalarType::kFloat);
}

}  // namespace

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

ScalarType result_type(std::span<const TensorSpec* const> tensors) {
  Groups groups;
  for (const TensorSpec* tensor : tensors) {
    join(tensor->rank() > 0 ? groups.with_dims : groups.without, tensor->dtype);
  }
  return result(groups);
}

ScalarType result_type(std::span<const Argument> operands) {
  Groups groups;
  for (const Argument& operand : operands) {
    const Node* node = operand.node();
    if (node != nullptr && node->tensor() != nullptr) {
      join(node->tensor()->rank() > 0 ? groups.with_dims : groups.without, node->tensor()->dtype);
    } else if (operand.get<bool>() != nullptr) {
      join(groups.numbers, ScalarType::kBool);
    } else if (operand.get<int64_t>() != nullptr) {
      join(groups.numbers, ScalarType::kLong);
    } else if (operand.get<double>() != nullptr) {
      join(groups.numbers, ScalarType::kFloat);
    } else if (operand.get<std::complex<double>>() != nullptr) {
      join(groups.numbers, ScalarType::kComplexFloat);
    } else if (node != nullptr && node->meta.value.number() != nullptr) {
      const Value::Number::Kind kind = node->meta.value.number()->kind;
      join(groups.numbers, kind == Value::Number::Kind::kInt     ? ScalarType::kLong
                           : kind == Value::Number::Kind::kFloat ? ScalarType::kFloat
                                                                 : ScalarType::kBool);
    }
  }
  return result(groups);
}

}  // namespace vitrine::aot
