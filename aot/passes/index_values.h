// Describes the elements of a tensor as a function of their indices and of run-time numbers, such
// as the input position. The descriptions reveal causal masks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/operators/call.h"
#include "aot/passes/linear_sum.h"

namespace vitrine::aot {

// Describes the elements of a tensor. The conditions hold at the indices where all sums are >= 0.
struct IndexValue {
  enum class Kind : uint8_t {
    kInteger,       // integers: `integer` at the element's index
    kBoolMask,      // bools: true where the conditions hold
    kOneMask,       // floats: 1 where the conditions hold, otherwise 0
    kAdditiveMask,  // floats: 0 where the conditions hold, otherwise -inf or the lowest float
    kConstant       // floats: `number` everywhere
  };
  Kind kind = Kind::kInteger;
  LinearSum integer;
  std::vector<LinearSum> conditions;
  double number = 0;
  bool is_finite = false;  // for kAdditiveMask: true if it contains no -inf
};

// Computes the IndexValue of each tensor in a graph. The graph must not change during the lifetime
// of this object. Results are empty if the elements are unknown.
class IndexValues {
 public:
  explicit IndexValues(const ExportedProgram& program);

  std::optional<IndexValue> of(const Node* node);
  // Returns the value of an integer argument: a number, a node that computes a number, or a tensor.
  std::optional<LinearSum> integer(const Argument& argument);
  // Returns a size as a sum of its symbols: "s0 + 1".
  std::optional<LinearSum> size_sum(const SymInt& size);
  // Returns p if `mask` [..., query, key] lets query i see exactly the keys up to position p + i.
  std::optional<LinearSum> causal_from(const Node* mask);

 private:
  using Result = std::optional<IndexValue>;
  struct Rule;
  static const std::vector<Rule>& rules();

  Result compute(const Node& node);
  Result number_node(const Node& node);
  Result placeholder(const Node& node);
  static Result table(const TensorData& data);
  Result call(const Node& node);

  std::optional<double> number_of(const Argument& argument);
  std::optional<LinearSum> expression_sum(const Expression& expression);
  Result value_before_write(const Node& node, const Node& self);

  Result arange(const Node& node, const Call& call);
  Result add_or_subtract(const Node& node, const Call& call);
  Result compare(const Node& node, const Call& call);
  Result logical_not(const Node& node, const Call& call);
  Result logical_and(const Node& node, const Call& call);
  Result equal(const Node& node, const Call& call);
  Result where(const Node& node, const Call& call);
  Result masked_fill(const Node& node, const Call& call);
  Result rsub(const Node& node, const Call& call);
  Result multiply(const Node& node, const Call& call);
  Result triangle(const Node& node, const Call& call);
  Result add_masks(const Node& node, const Call& call);
  Result concatenate(const Node& node, const Call& call);
  Result uniform(const Node& node, const Call& call);
  Result same_elements(const Node& node, const Call& call);
  Result reshape(const Node& node, const Call& call);
  Result slice(const Node& node, const Call& call);
  Result select(const Node& node, const Call& call);
  Result index(const Node& node, const Call& call);

  const ExportedProgram& program_;
  std::map<std::string, Node*> items_;  // numbers read from tensors, keyed by their symbol in sizes
  std::unordered_map<const Node*, Result> known_;
  size_t depth_ = 0;
};

// True if a call may write to the tensor or to a view of it.
bool is_written(const Node& node);

}  // namespace vitrine::aot
