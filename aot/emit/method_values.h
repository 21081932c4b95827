// Creates each value of a method (a tensor, number or list) when it is first needed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/emit/execution_plan.h"
#include "aot/emit/method_tensors.h"
#include "aot/emit/program_parts.h"

namespace vitrine::aot {

class MethodValues {
 public:
  using Ids = std::vector<int32_t>;  // indices of the plan's values

  // Adds values to `plan`, and data to `parts`. All constructor arguments must outlive this object.
  MethodValues(ExecutionPlan& plan, const MethodTensors& tensors, const EmitOptions& options,
               ProgramParts& parts)
      : plan_(plan), tensors_(tensors), options_(options), parts_(parts) {}

  int32_t add(PlanValue value);
  // Adds the value for a number that is computed at run time.
  int32_t add_number(const Value::Number* number);
  // Adds a tensor value without data, for a view of another tensor.
  int32_t add_view(size_t tensor);

  bool is_external(size_t tensor) const;

  const Ids& make_results(const Node& node);
  void set_results(const Node& node, Ids ids) { results_[&node] = std::move(ids); }
  const Ids& results_of(const Node& node) const { return results_.at(&node); }
  // Returns the value of a node that is an argument of `user`. Throws AotError if the node does not
  // have exactly one value.
  int32_t value_of(const Node& user, const Node& node) const;
  // Returns the value of an argument, and adds the value if necessary. Throws AotError if the
  // argument does not match the parameter `to`.
  int32_t add_argument(const Node& user, const Argument& argument, const OperatorArgument& to);

 private:
  int32_t tensor_value(size_t id);
  void set_data(size_t id, TensorValue& value);
  void set_external(const InputSpec& weight, SharedBytes content, TensorValue& value);
  int32_t add_literal(const Node& user, const Argument& argument, ArgumentType type);
  int32_t add_list(const Node& user, const ArgumentList& items, const OperatorArgument& to);
  int32_t add_index_list(const Node& user, const ArgumentList& items, const OperatorArgument& to);
  int32_t item_value(const Node& user, const Argument& item, IndexList::Kind kind);

  ExecutionPlan& plan_;
  const MethodTensors& tensors_;
  const EmitOptions& options_;
  ProgramParts& parts_;
  std::unordered_map<const Node*, Ids> results_;
  std::unordered_map<size_t, int32_t> value_of_tensor_;
};

}  // namespace vitrine::aot
