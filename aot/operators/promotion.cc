#include "aot/operators/promotion.h"

#include <fmt/format.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/node.h"
#include "runtime/core/promotion.h"

namespace vitrine::aot {
namespace {

void promote_into(std::optional<ScalarType>& group, ScalarType dtype) {
  group = group ? promote(*group, dtype) : dtype;
}

// The common dtypes of tensors with dims, 0-d tensors and numbers, in decreasing priority. A dtype
// is nullopt if its group is empty.
struct OperandGroups {
  std::optional<ScalarType> with_dims;
  std::optional<ScalarType> without_dims;
  std::optional<ScalarType> numbers;
};

ScalarType result(const OperandGroups& groups) {
  std::optional<ScalarType> found = groups.with_dims;
  for (const auto& lower : {groups.without_dims, groups.numbers}) {
    if (!lower) continue;
    if (!found) {
      found = lower;
    } else if (promotion_category(*lower) > promotion_category(*found)) {
      found = promote(*found, *lower);
    }
  }
  return found.value_or(ScalarType::kFloat);
}

}  // namespace

ScalarType promote(ScalarType a, ScalarType b) {
  const std::optional<ScalarType> common = promote_types(a, b);
  if (!common) {
    throw AotError(fmt::format("dtypes {} and {} have no common dtype", scalar_type_name(a),
                               scalar_type_name(b)));
  }
  return *common;
}

ScalarType result_type(std::span<const TensorSpec* const> tensors) {
  OperandGroups groups;
  for (const TensorSpec* tensor : tensors) {
    promote_into(tensor->rank() > 0 ? groups.with_dims : groups.without_dims, tensor->dtype);
  }
  return result(groups);
}

ScalarType result_type(std::span<const Argument> operands) {
  OperandGroups groups;
  for (const Argument& operand : operands) {
    const Node* node = operand.node();
    if (node != nullptr && node->tensor() != nullptr) {
      promote_into(node->tensor()->rank() > 0 ? groups.with_dims : groups.without_dims,
                   node->tensor()->dtype);
    } else if (operand.get<bool>() != nullptr) {
      promote_into(groups.numbers, ScalarType::kBool);
    } else if (operand.get<int64_t>() != nullptr) {
      promote_into(groups.numbers, ScalarType::kLong);
    } else if (operand.get<double>() != nullptr) {
      promote_into(groups.numbers, ScalarType::kFloat);
    } else if (operand.get<std::complex<double>>() != nullptr) {
      promote_into(groups.numbers, ScalarType::kComplexFloat);
    } else if (node != nullptr && node->meta.value.number() != nullptr) {
      const Value::Number::Kind kind = node->meta.value.number()->kind;
      promote_into(groups.numbers, kind == Value::Number::Kind::kInt     ? ScalarType::kLong
                                   : kind == Value::Number::Kind::kFloat ? ScalarType::kFloat
                                                                         : ScalarType::kBool);
    }
  }
  return result(groups);
}

}  // namespace vitrine::aot
