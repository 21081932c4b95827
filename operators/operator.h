// The operator table, built from the rows of operators/operators.inc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operators/signature.h"

namespace vitrine {

// Tells how operands of different dtypes are converted before a kernel call.
enum class Promotion : uint8_t {
  kNone,        // no conversion: the kernel supports mixed dtypes
  kDefault,     // conversion to the common dtype
  kIntToFloat,  // conversion to the common dtype, or to f32 if that dtype is integral
};

// The count of items that is multiplied by Flops::per_item.
enum class FlopsRule : uint8_t {
  kUnknown,
  kNone,          // none: the operator only moves data
  kPerResult,     // elements of the first result
  kPerInput,      // elements of the first tensor argument
  kPerIndex,      // elements of the argument `index`
  kConvolution,   // elements of the result times elements of a filter
  kProduct,       // elements of the result times the inner size of a matrix product
  kAddedProduct,  // like kProduct, with the left matrix as the second tensor argument
  kPooling,       // elements of the result times elements of a window
};
struct Flops {
  FlopsRule rule = FlopsRule::kUnknown;
  int per_item = 1;
};

struct Operator {
  std::string_view name;  // "aten::add.Tensor", or "_operator.add" for Python's own functions
  std::string target;     // "aten.add.Tensor", "aten.view.default", "_operator.add"
  std::vector<OperatorArgument> arguments;
  std::vector<OperatorArgument> results;

  std::string kernel;  // "aten::add.out"; empty if the operator has no kernel
  // Arguments of the kernel, in the order of a program's call. The out arguments, to which the
  // kernel writes, are keyword-only. The out arguments replace the arguments for dtype, layout and
  // device.
  std::vector<OperatorArgument> kernel_arguments;
  bool is_core = false;  // has a kernel and belongs to core ATen

  std::optional<Promotion> promotion;  // set if callers may pass numbers instead of tensors
  bool is_never_kept = false;
  bool is_nondeterministic = false;
  std::string same_as;  // target of the operator that this alias names; empty if not an alias
  // The operator that returns a copy of the elements ("aten::view_copy"). Null if this operator
  // does not return a view, or if such an operator does not exist.
  const Operator* copy = nullptr;
  Flops flops;

  // Null if the operator does not have the argument.
  const OperatorArgument* argument(std::string_view argument_name) const;
  // True if a result may share memory with an argument that the operator does not write.
  bool may_alias() const;
  // True if the operator returns a view and another operator returns the same elements as a copy.
  bool is_view() const { return copy != nullptr; }
  // The out arguments of the kernel, for which the caller provides memory.
  std::vector<const OperatorArgument*> outs() const;
  // True if the operator writes its first argument and returns it, like ATen's in-place operators.
  bool is_in_place() const {
    return !arguments.empty() && arguments.front().is_written && results.size() == 1 &&
           results.front().is_written;
  }
};

// Returns all operators, in the order of the table. This function and the functions below are
// thread-safe. Operators are never freed.
std::span<const Operator> operators();
// Finds an operator by its target, such as "aten.add.Tensor". Null if unknown.
const Operator* find_operator(std::string_view target);
// Finds the functional form of an in-place target: "aten.add.Tensor" for "aten.add_.Tensor". Both
// operators have the same arguments. Null if not found.
const Operator* find_functional(std::string_view target);

// Returns an operator with this signature, which the table need not contain. Calls with the same
// text return the same operator. The kernel of "my::op" is "my::op.out". The kernel of "my::op.one"
// is "my::op.one_out". The kernel of an operator without results has the operator's name. Throws
// std::invalid_argument if `signature` is invalid, lacks a namespace, writes an argument that is
// not a single tensor, or has a result that is not a new tensor.
const Operator& declared_operator(std::string_view signature);

}  // namespace vitrine
