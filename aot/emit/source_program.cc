#include "aot/emit/source_program.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "aot/emit/control_flow.h"
#include "aot/emit/method_tensors.h"
#include "aot/emit/source_signature.h"
#include "aot/emit/source_values.h"
#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaMajor = 5;
constexpr int kSchemaMinor = 4;

ordered_json ancestors_json(const std::vector<Ancestor>& ancestors) {
  ordered_json made = ordered_json::array();
  for (const Ancestor& ancestor : ancestors) {
    made.push_back({{"name", ancestor.name},
                    {"target", ancestor.target},
                    {"graph_id", ancestor.graph_id},
                    {"pass_name", ancestor.pass_name},
                    {"action", ancestor.action},
                    {"from_node", ancestors_json(ancestor.from)}});
  }
  return made;
}

std::string target_text(Target target) {
  // Each memory.view was a view_copy in the source program.
  if (target.is("memory.view")) return "executorch.exir.dialects.edge.ops.aten.view_copy.default";
  if (target.dialect() == Dialect::kEdge) {
    return fmt::format("executorch.exir.dialects.edge.ops.{}", target.name());
  }
  return target.text().starts_with("<") ? target.name() : target.text();
}

class SourceProgramWriter {
 public:
  SourceProgramWriter(const ExportedProgram& program, const SourceProgramOptions& options)
      : program_(program), options_(options) {}

  std::string write() {
    ordered_json graph = write_graph(*program_.graph);
    ordered_json ranges = ordered_json::object();
    for (const auto& [symbol, range] : program_.range_constraints) {
      ranges[symbol] = {{"min_val", range.min ? ordered_json(*range.min) : ordered_json()},
                        {"max_val", range.max ? ordered_json(*range.max) : ordered_json()}};
    }
    ordered_json calls = ordered_json::array();
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      ordered_json made = {{"fqn", entry.path}};
      if (entry.has_signature) {
        made["signature"] = {{"inputs", ordered_json::array()},
                             {"outputs", ordered_json::array()},
                             {"in_spec", entry.in_spec},
                             {"out_spec", entry.out_spec}};
      }
      calls.push_back(std::move(made));
    }
    ordered_json opsets = ordered_json::object();
    for (const auto& [name, version] : program_.opset_version) opsets[name] = version;
    const ordered_json json = {
        {"graph_module",
         {{"graph", std::move(graph)},
          {"signature", signature_json(program_, values_)},
          {"module_call_graph", std::move(calls)}}},
        {"opset_version", std::move(opsets)},
        {"range_constraints", std::move(ranges)},
        {"schema_version", {{"major", kSchemaMajor}, {"minor", kSchemaMinor}}},
        {"dialect", ""},
        {"verifiers", {"EDGE"}}};
    // The names and source lines may contain invalid UTF-8.
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

 private:
  struct Parts {
    ordered_json nodes = ordered_json::array();
    ordered_json tensors = ordered_json::object();
    ordered_json integers = ordered_json::object();
    ordered_json bools = ordered_json::object();
    std::unordered_set<std::string> names;  // keys of the three objects
  };

  // Appends new keys directly, because ordered_json searches all keys on each insertion.
  static void set(ordered_json& object, const std::string& name, ordered_json value, Parts& parts) {
    if (parts.names.insert(name).second) {
      auto& members = object.get_ref<ordered_json::object_t&>();
      static_cast<ordered_json::object_t::Container&>(members).emplace_back(name, std::move(value));
    } else {
      object[name] = std::move(value);
    }
  }

  ordered_json write_graph(const Graph& graph) {
    Parts parts;
    ordered_json inputs = ordered_json::array();
    for (const Node& node : graph.nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder) {
        add_value(node.meta.value, values_.name_of(node), parts);
        const InputSpec* spec =
            &graph == program_.graph.get() ? program_.input_of(node.name()) : nullptr;
        inputs.push_back(spec != nullptr && !spec->literal.is_none()
                             ? values_.argument(spec->literal)
                             : values_.reference(node));
      } else {
        add_node(node, parts);
      }
    }
    ordered_json outputs = ordered_json::array();
    const Argument& results = graph.output()->need(0);
    const bool is_list = results.list() != nullptr;
    if (is_list) {
      for (const Argument& item : *results.list()) outputs.push_back(values_.argument(item));
    } else {
      outputs.push_back(values_.argument(results));
    }
    return {{"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)},
            {"nodes", std::move(parts.nodes)},
            {"tensor_values", std::move(parts.tensors)},
            {"sym_int_values", std::move(parts.integers)},
            {"sym_bool_values", std::move(parts.bools)},
            {"is_single_tensor_return", !is_list},
            {"custom_obj_values", ordered_json::object()}};
  }

  static void add_value(const Value& value, const std::string& name, Parts& parts) {
    if (const TensorSpec* spec = value.tensor()) {
      set(parts.tensors, name, tensor_json(*spec), parts);
    } else if (const Value::Number* number = value.number()) {
      ordered_json expression = union_json("as_expr", {{"expr_str", to_text(number->value)}});
      if (number->kind == Value::Number::Kind::kBool) {
        set(parts.bools, name, std::move(expression), parts);
      } else {
        set(parts.integers, name, std::move(expression), parts);
      }
    }
  }

  void add_node(const Node& node, Parts& parts) {
    if (!node.is_call() || node.target() == getitem()) return;
    if (is_delegate_call(node)) return add_delegate(node, parts);
    if (is_condition(node) && options_.flat) return add_branches(node, parts);
    if (is_loop(node) && options_.flat) return add_body(node, parts);
    if (is_while_loop(node) && options_.flat) return add_while_loop(node, parts);
    parts.nodes.push_back({{"name", values_.name_of(node)},
                           {"target", target_text(node.target())},
                           {"inputs", inputs_of(node)},
                           {"outputs", outputs_of(node, parts)},
                           {"metadata", metadata_of(node)}});
  }

  ordered_json inputs_of(const Node& node) {
    ordered_json inputs = ordered_json::array();
    const Operator* op = operator_of(node.target());
    for (size_t i = 0; i < node.args().size(); ++i) {
      const bool has_name =
          op != nullptr && i < op->arguments.size() && !op->arguments[i].is_keyword_only;
      const Node* given = node.args()[i].node();
      const bool is_branch = given != nullptr && given->kind() == Node::Kind::kGetAttr &&
                             node.graph().subgraphs().contains(given->attribute());
      inputs.push_back(
          {{"name", has_name ? op->arguments[i].name : ""},
           {"arg", is_branch ? branch(*given, node.graph()) : values_.argument(node.args()[i])}});
    }
    for (const auto& [name, value] : node.kwargs()) {
      inputs.push_back({{"name", name}, {"arg", values_.argument(value)}});
    }
    return inputs;
  }

  ordered_json branch(const Node& getter, const Graph& graph) {
    return union_json("as_graph",
                      {{"name", getter.attribute()},
                       {"graph", write_graph(*graph.subgraphs().at(getter.attribute()))}});
  }

  // A result is named after the first getitem node that selects this result. Without such a node,
  // the name is "<call>_unused_<index>".
  ordered_json outputs_of(const Node& node, Parts& parts) {
    const Value::Items* items = node.meta.value.items();
    ordered_json outputs = ordered_json::array();
    if (items == nullptr) {
      add_value(node.meta.value, values_.name_of(node), parts);
      outputs.push_back(values_.reference(node));
      return outputs;
    }
    const Operator* op = operator_of(node.target());
    const bool is_list = op != nullptr && op->results.size() == 1;
    ordered_json names = ordered_json::array();
    for (size_t i = 0; i < items->size(); ++i) {
      const std::string name = name_of_item(node, i);
      add_value((*items)[i], name, parts);
      names.push_back({{"name", name}});
      outputs.push_back(union_json("as_tensor", {{"name", name}}));
    }
    if (!is_list) return outputs;
    return ordered_json::array({union_json("as_tensors", std::move(names))});
  }

  std::string name_of_item(const Node& node, size_t index) {
    std::string name;
    for (const Node* user : node.users()) {
      if (!user->calls(getitem())) continue;
      const int64_t* item = user->need(1).get<int64_t>();
      if (item == nullptr || static_cast<size_t>(*item) != index) continue;
      if (name.empty()) name = values_.name_of(*user);
      values_.set_name(*user, name);
    }
    return name.empty() ? fmt::format("{}_unused_{}", values_.name_of(node), index) : name;
  }

  ordered_json metadata_of(const Node& node) const {
    ordered_json made = ordered_json::object();
    const Origin* origin = node.meta.origin.get();
    if (origin != nullptr) {
      if (!origin->stack_trace.empty()) made["stack_trace"] = origin->stack_trace;
      if (!origin->module_stack.empty()) {
        std::string stack;
        for (const ModuleStackEntry& entry : origin->module_stack) {
          if (!stack.empty()) stack += ';';
          stack += fmt::format("{},{},{}", entry.key, entry.path, entry.type_name);
        }
        made["nn_module_stack"] = std::move(stack);
      }
      if (options_.ancestors) {
        if (!origin->source_fn_stack.empty()) made["source_fn_stack"] = origin->source_fn_stack;
        if (!origin->torch_fn.empty()) made["torch_fn"] = origin->torch_fn;
      }
    }
    if (node.meta.debug_handle != 0) made["debug_handle"] = std::to_string(node.meta.debug_handle);
    if (origin != nullptr && options_.ancestors && !origin->from_node.empty()) {
      made["from_node"] = ancestors_json(origin->from_node)
                              .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    }
    return made;
  }

  // Adds the nodes of the delegate's original program. The delegate call's operands and results
  // replace the inputs and outputs of this program.
  void add_delegate(const Node& node, Parts& parts) {
    if (!options_.flat) fail_at(node, "is a delegate call; write the record before lowering");
    const ExportedProgram& original = lowered_module_of(node).original;
    size_t next = 1;
    for (const Node& inner : original.graph->nodes()) {
      if (inner.kind() == Node::Kind::kPlaceholder) {
        const InputSpec* spec = original.input_of(inner.name());
        const bool is_given = spec == nullptr || spec->kind == InputSpec::Kind::kUserInput;
        if (is_given && next < node.args().size()) {
          values_.alias(inner, node.args()[next++].node());
        } else {
          add_value(inner.meta.value, values_.name_of(inner), parts);
        }
      } else {
        add_node(inner, parts);
      }
    }
    std::vector<const Node*> results;
    for_each_result(*original.graph, [&](const Node* result) { results.push_back(result); });
    size_t next_user_output = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const OutputSpec* spec =
          i < original.signature.outputs.size() ? &original.signature.outputs[i] : nullptr;
      if (spec != nullptr && spec->kind == OutputSpec::Kind::kBufferMutation) continue;
      alias_result(node, next_user_output++, results[i]);
    }
  }

  void add_branches(const Node& node, Parts& parts) {
    const Argument* given = node.arg(3);
    const ArgumentList* operands = given == nullptr ? nullptr : given->list();
    for (const size_t index : {size_t{0}, size_t{1}}) {
      const Graph& graph = branch_of(node, index);
      add_inner(graph, operands == nullptr ? ArgumentList() : *operands, parts);
      // The condition's results refer to the results of the first branch.
      if (index == 0) alias_results(node, graph);
    }
  }

  void add_body(const Node& node, Parts& parts) {
    const Loop loop = loop_of(node);
    ArgumentList operands = loop.inits;
    operands.insert(operands.end(), loop.xs.begin(), loop.xs.end());
    operands.insert(operands.end(), loop.others.begin(), loop.others.end());
    add_inner(*loop.body, operands, parts);
    alias_results(node, *loop.body);
  }

  void add_while_loop(const Node& node, Parts& parts) {
    const WhileLoop loop = while_loop_of(node);
    ArgumentList operands = loop.inits;
    operands.insert(operands.end(), loop.others.begin(), loop.others.end());
    add_inner(*loop.condition, operands, parts);
    add_inner(*loop.body, operands, parts);
    alias_results(node, *loop.body);
  }

  void add_inner(const Graph& graph, const ArgumentList& operands, Parts& parts) {
    size_t next = 0;
    for (const Node& inner : graph.nodes()) {
      if (inner.kind() == Node::Kind::kPlaceholder) {
        if (next >= operands.size()) break;
        values_.alias(inner, operands[next++].node());
      } else {
        if (inner.kind() == Node::Kind::kGetAttr) {
          add_value(inner.meta.value, values_.name_of(inner), parts);
        }
        add_node(inner, parts);
      }
    }
  }

  void alias_results(const Node& call, const Graph& graph) {
    size_t index = 0;
    for_each_result(graph, [&](const Node* result) { alias_result(call, index++, result); });
  }

  template <class Visit>
  static void for_each_result(const Graph& graph, Visit visit) {
    const Argument& results = graph.output()->need(0);
    if (results.list() == nullptr) {
      visit(results.node());
    } else {
      for (const Argument& item : *results.list()) visit(item.node());
    }
  }

  // In the JSON, gives result `index` of the call the name of the node `result`.
  void alias_result(const Node& call, size_t index, const Node* result) {
    if (result == nullptr) return;
    if (call.meta.value.items() == nullptr) {
      values_.alias(call, result);
      return;
    }
    for (const Node* user : call.users()) {
      if (!user->calls(getitem())) continue;
      const int64_t* item = user->need(1).get<int64_t>();
      if (item != nullptr && static_cast<size_t>(*item) == index) values_.alias(*user, result);
    }
  }

  const ExportedProgram& program_;
  const SourceProgramOptions& options_;
  SourceValues values_;
};

}  // namespace

std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options) {
  return SourceProgramWriter(program, options).write();
}

}  // namespace vitrine::aot
