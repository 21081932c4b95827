// What is known of each operator: the rows of operators/operators.inc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operators/signature.h"

namespace vitrine {

// How operands of several dtypes are converted before a kernel takes them.
enum class Promotion : uint8_t {
  kNone,        // not at all: the kernel takes mixed dtypes
  kDefault,     // to their common dtype
  kIntToFloat,  // to that, or to f32 if it is integral
};

// What an operator's floating point operations are counted by.
enum class FlopsRule : uint8_t {
  kUnknown,
  kNone,  // it only moves data
  kPerResult,
  kPerInput,
  kPerIndex,      // of the argument `index`
  kConvolution,   // elements of the result times those of a filter
  kProduct,       // elements of the result times the inner size
  kAddedProduct,  // the same; the left matrix is the second argument
  kPooling,       // elements of the result times those of a window
};
struct Flops {
  FlopsRule rule = FlopsRule::kUnknown;
  int each = 1;
};

struct Operator {
  std::string_view name;  // "aten::add.Tensor"; of Python's own functions "_operator.add"
  std::string target;     // "aten.add.Tensor", "aten.view.default", "_operator.add"
  std::vector<OperatorArgument> arguments;
  std::vector<OperatorArgument> results;

  std::string kernel;  // "aten::add.out"; empty: there is none
  // Arguments of the kernel, in the order in which a program gives them. Its outs are written and
  // keyword-only. The outs give place and dtype of the results, not arguments.
  std::vector<OperatorArgument> kernel_arguments;
  bool is_core = false;  // has a kernel, and belongs to core ATen

  std::optional<Promotion> promotion;  // if numbers may stand in place of its tensors
  bool is_never_kept = false;
  bool is_nondeterministic = false;
  std::string same_as;  // the target that it is another name of; empty: none
  // For a view: the operator that copies ("aten::view_copy"). Null if there is none.
  const Operator* copy = nullptr;
  Flops flops;

  // Null if it has no such argument.
  const OperatorArgument* argument(std::string_view argument_name) const;
  // Whether a result may share memory with an argument that is not written.
  bool may_alias() const;
  // Whether it is a view that a copy can stand for.
  bool is_view() const { return copy != nullptr; }
  // Arguments of the kernel that the caller provides memory for.
  std::vector<const OperatorArgument*> outs() const;
  // Whether it writes its first argument, which is its result, as those of ATen do.
  bool is_in_place() const {
    return !arguments.empty() && arguments.front().is_written && results.size() == 1 &&
           results.front().is_written;
  }
};

// All operators, in the order of their rows. Thread-safe, as are the functions below; what they
// return lives for ever.
std::span<const Operator> operators();
// By target, "aten.add.Tensor". Null if it is not known.
const Operator* find_operator(std::string_view target);
// The functional form of an in-place one, "aten.add_.Tensor"; both take the same arguments. Null if
// there is none in the table, or the target is not an in-place form.
const Operator* find_functional(std::string_view target);

// The operator of a signature, which need not be in the table. Its kernel is named by rule: that of
// "my::op" is "my::op.out", that of "my::op.one" is "my::op.one_out"; without results it is the
// operator itself. std::invalid_argument if results are not new tensors, or for what
// parse_signature() refuses. One text gives one operator.
const Operator& declared_operator(std::string_view signature);

}  // namespace vitrine
