#include "aot/emit/method_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "aot/emit/method_tensors.h"
#include "aot/emit/operator_schema.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/passes/out_variants.h"

namespace vitrine::aot {
namespace {

constexpr int32_t kNoValue = -1;

// A literal that is a number, in the kind that the kernel takes. Other kinds stay as they are.
PlanValue number_of(const Argument& argument, ArgumentType type) {
  const bool is_float = type == ArgumentType::kFloat || type == ArgumentType::kFloats;
  const bool is_int = type == ArgumentType::kInt || type == ArgumentType::kInts;
  if (const bool* value = argument.get<bool>()) {
    if (is_int) return int64_t{*value};
    if (is_float) return *value ? 1.0 : 0.0;
    return *value;
  }
  if (const int64_t* value = argument.get<int64_t>()) {
    if (is_float) return static_cast<double>(*value);
    if (type == ArgumentType::kBool) return *value != 0;
    return *value;
  }
  if (const double* value = argument.get<double>()) return *value;
  return std::monostate();
}

// What a number that is computed at run time is until then.
PlanValue placeholder_of(const Value::Number* number) {
  using Kind = Value::Number::Kind;
  if (number == nullptr) return std::monostate();
  if (number->kind == Kind::kBool) return false;
  if (number->kind == Kind::kFloat) return 0.0;
  return int64_t{0};
}

// A literal, or a number that is computed when the program runs.
bool takes_number(ArgumentType type) {
  return type == ArgumentType::kInt || type == ArgumentType::kFloat ||
         type == ArgumentType::kBool || type == ArgumentType::kScalar;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

class MethodEmitter {
 public:
  MethodEmitter(const std::string& name, const ExportedProgram& program, const EmitOptions& options,
                ProgramParts& parts)
      : program_(program),
        options_(options),
        parts_(parts),
        tensors_(program, options.memory_planning) {
    plan_.name = name;
  }

  MethodDebugInfo emit() {
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      if (!entry.path.empty() || !entry.has_signature) continue;
      plan_.input_tree = entry.in_spec;
      plan_.output_tree = entry.out_spec;
    }
    plan_.planned_bytes = tensors_.planned_bytes();
    emit_graph(*program_.graph, nullptr);
    emit_outputs();
    debug_.planned_bytes = tensors_.planned_bytes();
    debug_.naive_bytes = tensors_.naive_bytes();
    parts_.plans.push_back(std::move(plan_));
    return std::move(debug_);
  }

 private:
  using Ids = std::vector<int32_t>;

  // ---- Values

  int32_t add_value(PlanValue value) {
    plan_.values.push_back(std::move(value));
    return static_cast<int32_t>(plan_.values.size() - 1);
  }

  // The value of a tensor: made where it is first needed.
  int32_t tensor_value(size_t id) {
    const auto [place, is_new] = value_of_tensor_.try_emplace(id, kNoValue);
    if (!is_new) return place->second;
    const MethodTensor& tensor = tensors_.tensor(id);
    TensorValue value = tensor.value;
    if (tensor.data != nullptr) set_data(tensor, tensors_.storage_of(id).is_planned, value);
    return value_of_tensor_[id] = add_value(std::move(value));
  }

  void set_data(const MethodTensor& tensor, bool is_planned, TensorValue& value) {
    SharedBytes content = bytes_in_order(*tensor.data, tensor.data_order);
    if (is_planned) {
      // Runtimes begin with zeros.
      if (is_zero(content.bytes)) return;
      value.data_index = static_cast<uint32_t>(parts_.initial_states.add(std::move(content)) + 1);
    } else if (options_.external_constants && tensor.weight != nullptr) {
      value.external_name = tensor.weight->target;
      const ExternalTensor external{value.dtype, value.sizes, value.dim_order, content};
      const auto [place, is_new] = parts_.external_tensors.emplace(value.external_name, external);
      if (!is_new && !std::ranges::equal(place->second.content.bytes, content.bytes)) {
        throw AotError(fmt::format("method {}: {} is in another method too, with other numbers",
                                   plan_.name, value.external_name));
      }
    } else {
      value.data_index = static_cast<uint32_t>(parts_.constants.add(std::move(content)) + 1);
    }
  }

  // Of each result of a node, in order.
  const Ids& make_values(const Node& node) {
    Ids ids;
    for (const size_t id : tensors_.of(node)) {
      ids.push_back(id != kNoTensor ? tensor_value(id)
                                    : add_value(placeholder_of(node.meta.value.number())));
    }
    return values_[&node] = std::move(ids);
  }

  // The one value of a node that is an argument.
  int32_t value_of(const Node& user, const Node& node) const {
    const auto found = values_.find(&node);
    if (found == values_.end() || found->second.size() != 1) {
      fail_at(user, fmt::format("takes {}, which is not one value", node.name()));
    }
    return found->second[0];
  }

  int32_t emit_argument(const Node& user, const Argument& argument, const OperatorArgument& to) {
    const bool is_tensor = to.type == ArgumentType::kTensor;
    if (const Node* node = argument.node()) {
      const bool is_number = node->meta.value.number() != nullptr;
      if (is_tensor ? is_number : takes_number(to.type) && !is_number) {
        fail_at(user, fmt::format("its {} is {}, which is {}", to.name, node->name(),
                                  is_number ? "no tensor" : "no number"));
      }
      return value_of(user, *node);
    }
    if (is_tensor && !argument.is_none()) {
      fail_at(user, fmt::format("its {} is a literal, not a tensor", to.name));
    }
    if (const ArgumentList* items = argument.list()) return emit_list(user, *items, to.type);
    if (argument.is_none()) {
      if (to.type != ArgumentType::kTensor || to.is_optional) return add_value(std::monostate());
      // Kernels that ask for a tensor get one without elements.
      TensorValue empty;
      empty.dtype = ScalarType::kByte;
      empty.sizes = {0};
      empty.dim_order = {0};
      return add_value(std::move(empty));
    }
    return emit_literal(user, argument, to.type);
  }

  int32_t emit_literal(const Node& user, const Argument& argument, ArgumentType type) {
    if (argument.get<bool>() || argument.get<int64_t>() || argument.get<double>()) {
      return add_value(number_of(argument, type));
    }
    if (const auto* text = argument.get<std::string>()) return add_value(*text);
    if (const auto* dtype = argument.get<ScalarType>()) {
      return add_value(int64_t{static_cast<int8_t>(*dtype)});
    }
    if (const auto* layout = argument.get<Layout>()) {
      if (*layout == Layout::kStrided) return add_value(int64_t{0});
      fail_at(user, "takes a layout that is not strided");
    }
    if (const auto* format = argument.get<MemoryFormat>()) {
      if (*format == MemoryFormat::kContiguous) return add_value(int64_t{0});
      if (*format == MemoryFormat::kPreserve) return add_value(int64_t{1});
      fail_at(user, "takes a memory format that programs cannot hold");
    }
    fail_at(user, "takes an argument of a kind that programs cannot hold");
  }

  int32_t emit_list(const Node& user, const ArgumentList& items, ArgumentType type) {
    const auto is_float = [](const Argument& item) { return item.get<double>() != nullptr; };
    const auto is_bool = [](const Argument& item) { return item.get<bool>() != nullptr; };
    if (type == ArgumentType::kFloats ||
        (type == ArgumentType::kOther && std::ranges::any_of(items, is_float))) {
      std::vector<double> numbers;
      for (const Argument& item : items) {
        const PlanValue number = number_of(item, ArgumentType::kFloat);
        if (!std::holds_alternative<double>(number)) fail_at(user, "a list item is no number");
        numbers.push_back(std::get<double>(number));
      }
      return add_value(std::move(numbers));
    }
    if (type == ArgumentType::kBools ||
        (type == ArgumentType::kOther && std::ranges::any_of(items, is_bool))) {
      std::vector<bool> flags;
      for (const Argument& item : items) {
        if (!is_bool(item)) fail_at(user, "a list item is no bool");
        flags.push_back(*item.get<bool>());
      }
      return add_value(std::move(flags));
    }
    IndexList list;
    const bool is_optional =
        type == ArgumentType::kOptionalTensors || std::ranges::any_of(items, &Argument::is_none);
    if (is_optional) {
      list.kind = IndexList::Kind::kOptionalTensors;
    } else if (type == ArgumentType::kTensors ||
               (type == ArgumentType::kOther && has_tensor(items))) {
      list.kind = IndexList::Kind::kTensors;
    }
    for (const Argument& item : items) {
      if (const Node* node = item.node()) {
        const Value::Number* number = node->meta.value.number();
        const bool fits = list.kind != IndexList::Kind::kInts
                              ? number == nullptr
                              : number != nullptr && number->kind == Value::Number::Kind::kInt;
        if (!fits) fail_at(user, fmt::format("its list holds {}, of another kind", node->name()));
        list.items.push_back(value_of(user, *node));
      } else if (item.is_none() && is_optional) {
        list.items.push_back(-1);
      } else if (list.kind == IndexList::Kind::kInts) {
        const PlanValue number = number_of(item, ArgumentType::kInt);
        if (!std::holds_alternative<int64_t>(number)) fail_at(user, "a list item is no integer");
        list.items.push_back(add_value(number));
      } else {
        fail_at(user, "a list item is no tensor");
      }
    }
    return add_value(std::move(list));
  }

  static bool has_tensor(const ArgumentList& items) {
    return std::ranges::any_of(items, [](const Argument& item) {
      return item.node() != nullptr && item.node()->tensor() != nullptr;
    });
  }

  // ---- Instructions

  // `results`: where the results of a branch go; null for the method itself.
  void emit_graph(const Graph& graph, const Ids* results) {
    for (const Node& node : graph.nodes()) {
      switch (node.kind()) {
        case Node::Kind::kPlaceholder:
          if (results == nullptr) emit_input(node);
          break;
        case Node::Kind::kGetAttr:
          if (!tensors_.of(node).empty()) make_values(node);
          break;
        case Node::Kind::kCall:
          emit_call(node);
          break;
        case Node::Kind::kOutput:
          if (results != nullptr) emit_moves(node, *results);
          break;
      }
    }
  }

  void emit_input(const Node& node) {
    const InputSpec& spec = *program_.input_of(node.name());
    using Kind = InputSpec::Kind;
    if (spec.kind == Kind::kCustomObject || spec.kind == Kind::kToken) {
      fail_at(node, "is an input of a kind that programs cannot hold");
    }
    if (!tensors_.of(node).empty()) {
      make_values(node);
    } else if (const Value::Number* number = node.meta.value.number();
               number != nullptr && spec.literal.is_none()) {
      values_[&node] = {add_value(placeholder_of(number))};
    } else {
      OperatorArgument any;
      values_[&node] = {emit_argument(node, spec.literal, any)};
    }
    if (spec.kind == Kind::kUserInput || spec.kind == Kind::kConstantInput) {
      plan_.inputs.push_back(values_[&node].at(0));
    }
  }

  void emit_call(const Node& node) {
    if (node.target() == getitem()) {
      // That there is such a result the memory plan has seen.
      const Ids all = values_[&node.need_node(0)];
      values_[&node] = {all.at(static_cast<size_t>(*node.need(1).get<int64_t>()))};
    } else if (is_condition(node)) {
      emit_condition(node);
    } else if (is_delegate_call(node)) {
      emit_delegate_call(node);
    } else if (is_memory_view(node)) {
      emit_view(node);
    } else {
      emit_kernel_call(node);
    }
  }

  void add_instruction(const Node& node, PlanInstruction instruction) {
    plan_.instructions.push_back(std::move(instruction));
    if (!options_.emit_stacktrace) return;
    plan_.stacktrace.push_back(node.meta.origin == nullptr
                                   ? std::vector<StackFrame>()
                                   : parse_stack_trace(node.meta.origin->stack_trace));
  }

  void add_handle(const Node& node) {
    if (node.meta.debug_handle == 0) return;
    debug_.handles[static_cast<uint32_t>(plan_.instructions.size())] = {node.meta.debug_handle};
  }

  int32_t operator_index(const std::string& kernel) {
    const size_t dot = kernel.find('.');
    std::pair<std::string, std::string> op(kernel.substr(0, dot), "");
    if (dot != std::string::npos) op.second = kernel.substr(dot + 1);
    if (op.second == "default") op.second.clear();
    const auto found = std::ranges::find(plan_.operators, op);
    const auto index = static_cast<int32_t>(found - plan_.operators.begin());
    if (found == plan_.operators.end()) plan_.operators.push_back(std::move(op));
    return index;
  }

  // A view whose shape or memory is known only at run time.
  void emit_view(const Node& node) {
    const size_t id = tensors_.of(node).at(0);
    // Data in a file of their own are found by name and shape: those of what is viewed.
    const MethodTensor& viewed = tensors_.tensor(id);
    const bool is_external = options_.external_constants && viewed.weight != nullptr &&
                             !tensors_.storage_of(id).is_planned;
    if (tensors_.is_free_view(node) && !is_external) {
      make_values(node);
      return;
    }
    OperatorArgument sizes;
    sizes.type = ArgumentType::kInts;
    KernelCall call;
    call.op = view_operator();
    call.args.push_back(value_of(node, node.need_node(0)));
    call.args.push_back(emit_argument(node, node.need(1), sizes));
    values_[&node] = {value_of_tensor_[id] = add_value(viewed.value)};
    call.args.push_back(values_[&node][0]);
    add_handle(node);
    add_instruction(node, std::move(call));
  }

  // Unlike other names, this one is stored with its overload.
  int32_t view_operator() {
    const std::pair<std::string, std::string> op("executorch_prim::et_view", "default");
    const auto found = std::ranges::find(plan_.operators, op);
    const auto index = static_cast<int32_t>(found - plan_.operators.begin());
    if (found == plan_.operators.end()) plan_.operators.push_back(op);
    return index;
  }

  void emit_kernel_call(const Node& node) {
    std::string kernel;
    try {
      kernel = out_variant(node.target());
    } catch (const AotError& error) {
      fail_at(node, error.what());
    }
    const OperatorSchema* schema = find_operator_schema(kernel);
    if (schema == nullptr) fail_at(node, fmt::format("the arguments of {} are not known", kernel));
    const std::vector<const OperatorArgument*> outs = schema->outs();
    const bool out_is_list = outs.size() == 1 && outs[0]->type == ArgumentType::kTensors;

    // Memory for results comes before arguments, as ExecuTorch's programs have it.
    Ids results;
    if (schema->is_in_place()) {
      results = values_[&node] = {value_of(node, node.need_node(0))};
    } else if (!outs.empty()) {
      results = make_values(node);
      if (!out_is_list && results.size() != outs.size()) {
        fail_at(node,
                fmt::format("has {} results; {} writes {}", results.size(), kernel, outs.size()));
      }
    }
    KernelCall call;
    call.op = operator_index(kernel);
    size_t next_out = 0;
    size_t position = 0;
    check_arguments(node, *schema);
    for (const OperatorArgument& to : schema->arguments) {
      if (to.is_written && to.is_keyword) {
        call.args.push_back(out_is_list ? add_value(IndexList{IndexList::Kind::kTensors, results})
                                        : results[next_out++]);
        continue;
      }
      const Argument* given = to.is_keyword ? nullptr : node.arg(position++);
      if (given == nullptr) given = node.kwarg(to.name);
      if (given == nullptr && !to.has_default && !to.is_optional) {
        fail_at(node, fmt::format("gives no {}", to.name));
      }
      const Argument& argument = given == nullptr ? to.default_value : *given;
      // The order of the result as it is stored, which may be simpler than that of the export.
      const bool is_order =
          to.name == "dim_order" && argument.list() != nullptr && tensors_.of(node).size() == 1;
      call.args.push_back(emit_argument(node, is_order ? order_of_result(node) : argument, to));
    }
    if (outs.empty() && !schema->is_in_place()) results = make_values(node);
    if (results.size() == 1 && !out_is_list) {
      call.args.push_back(results[0]);
    } else {
      call.args.push_back(add_value(IndexList{IndexList::Kind::kTensors, results}));
    }
    add_handle(node);
    add_instruction(node, std::move(call));
  }

  Argument order_of_result(const Node& node) const {
    const std::vector<uint8_t>& order = tensors_.tensor(tensors_.of(node)[0]).value.dim_order;
    return std::vector<int64_t>(order.begin(), order.end());
  }

  // What has no place in the kernel's arguments must not be lost, but for where and how tensors are
  // stored, which the result's own description tells.
  static void check_arguments(const Node& node, const OperatorSchema& schema) {
    constexpr std::array<std::string_view, 5> kOfStorage = {"dtype", "layout", "device",
                                                            "pin_memory", "memory_format"};
    const auto positional =
        std::ranges::count(schema.arguments, false, &OperatorArgument::is_keyword);
    if (node.args().size() > static_cast<size_t>(positional)) {
      fail_at(node, fmt::format("gives {} arguments, the kernel takes {}", node.args().size(),
                                positional));
    }
    for (const auto& [name, value] : node.kwargs()) {
      const bool is_known =
          std::ranges::count(schema.arguments, name, &OperatorArgument::name) != 0;
      if (!is_known && std::ranges::count(kOfStorage, name) == 0) {
        fail_at(node, fmt::format("gives {}, which the kernel does not take", name));
      }
    }
  }

  void emit_delegate_call(const Node& node) {
    const LoweredBackendModule& module = lowered_module_of(node);
    Ids results = make_values(node);
    DelegateCall call;
    call.delegate = delegate_index(module);
    const OperatorArgument any;
    for (size_t i = 1; i < node.args().size(); ++i) {
      call.args.push_back(emit_argument(node, node.args()[i], any));
    }
    call.args.insert(call.args.end(), results.begin(), results.end());
    const auto instruction = static_cast<uint32_t>(plan_.instructions.size());
    std::vector<uint32_t>& handles = debug_.handles[instruction];
    for (const Node& taken : module.original.graph->nodes()) {
      if (taken.is_call() && taken.meta.debug_handle != 0) {
        handles.push_back(taken.meta.debug_handle);
      }
    }
    debug_.delegates[instruction] = {module.backend_id, module.delegate_map};
    debug_.num_outputs[instruction] = static_cast<uint32_t>(results.size());
    add_instruction(node, std::move(call));
  }

  int32_t delegate_index(const LoweredBackendModule& module) {
    PlanDelegate delegate;
    delegate.backend_id = module.backend_id;
    delegate.payload = parts_.payloads.add(
        {module.processed_bytes == nullptr ? std::span<const std::byte>() : *module.processed_bytes,
         module.processed_bytes});
    for (const CompileSpec& spec : module.compile_specs) {
      delegate.compile_specs.emplace_back(
          spec.key,
          std::string(reinterpret_cast<const char*>(spec.value.data()), spec.value.size()));
    }
    for (const NamedData& named : module.named_data) {
      const auto [place, is_new] = parts_.named_data.emplace(named.key, named);
      if (!is_new && *place->second.bytes != *named.bytes) {
        throw AotError(fmt::format("method {}: two delegates give other bytes for \"{}\"",
                                   plan_.name, named.key));
      }
    }
    const auto found = std::ranges::find(plan_.delegates, delegate);
    const auto index = static_cast<int32_t>(found - plan_.delegates.begin());
    if (found == plan_.delegates.end()) plan_.delegates.push_back(std::move(delegate));
    return index;
  }

  // A jump over the branch if true, and one over the other branch.
  void emit_condition(const Node& node) {
    const Argument* given = node.arg(0);
    const Ids results = make_values(node);
    int32_t condition = kNoValue;
    if (given != nullptr && given->node() != nullptr) {
      condition = value_of(node, *given->node());
    } else if (given != nullptr && given->get<bool>() != nullptr) {
      condition = add_value(*given->get<bool>());
    } else {
      fail_at(node, "its condition is neither a tensor nor a bool");
    }
    const size_t skip_true = plan_.instructions.size();
    add_instruction(node, JumpFalseCall{condition, 0});
    emit_branch(node, 0, results);
    const size_t skip_false = plan_.instructions.size();
    add_instruction(node, JumpFalseCall{kNoValue, 0});
    destination_of(skip_true) = static_cast<int32_t>(plan_.instructions.size());
    emit_branch(node, 1, results);
    std::get<JumpFalseCall>(plan_.instructions[skip_false]).condition = add_value(false);
    destination_of(skip_false) = static_cast<int32_t>(plan_.instructions.size());
  }

  int32_t& destination_of(size_t jump) {
    return std::get<JumpFalseCall>(plan_.instructions[jump]).destination;
  }

  void emit_branch(const Node& condition, size_t which, const Ids& results) {
    const Graph& graph = branch_of(condition, which);
    const Argument* given = condition.arg(3);
    size_t next = 0;
    for (const Node& node : graph.nodes()) {
      if (node.kind() != Node::Kind::kPlaceholder) continue;
      if (given == nullptr || given->list() == nullptr || next >= given->list()->size()) {
        fail_at(condition, fmt::format("gives its branches no {}", node.name()));
      }
      const Argument& operand = (*given->list())[next++];
      const OperatorArgument any;
      values_[&node] = {emit_argument(condition, operand, any)};
    }
    emit_graph(graph, &results);
  }

  void emit_moves(const Node& output, const Ids& results) {
    const Argument& given = output.need(0);
    const ArgumentList one = {given};
    const ArgumentList& items = given.list() == nullptr ? one : *given.list();
    if (items.size() != results.size()) fail_at(output, "the branches have different results");
    const OperatorArgument any;
    for (size_t i = 0; i < items.size(); ++i) {
      add_instruction(output, MoveCall{emit_argument(output, items[i], any), results[i]});
    }
  }

  // Mutated buffers and parameters stay inside.
  void emit_outputs() {
    const Node& output = *program_.graph->output();
    const ArgumentList* items = output.need(0).list();
    if (items == nullptr) fail_at(output, "the results are no list");
    for (size_t i = 0; i < items->size(); ++i) {
      using Kind = OutputSpec::Kind;
      const OutputSpec& spec = program_.signature.outputs.at(i);
      if (spec.kind == Kind::kBufferMutation || spec.kind == Kind::kParameterMutation) continue;
      if (spec.kind != Kind::kUserOutput && spec.kind != Kind::kLossOutput &&
          spec.kind != Kind::kUserInputMutation) {
        fail_at(output, fmt::format("result {} is of a kind that programs cannot hold", i));
      }
      const OperatorArgument any;
      plan_.outputs.push_back(emit_argument(output, (*items)[i], any));
    }
  }

  const ExportedProgram& program_;
  const EmitOptions& options_;
  ProgramParts& parts_;
  MethodTensors tensors_;
  ExecutionPlan plan_;
  MethodDebugInfo debug_;
  std::unordered_map<const Node*, Ids> values_;
  std::unordered_map<size_t, int32_t> value_of_tensor_;
};

}  // namespace

MethodDebugInfo emit_method(const std::string& name, const ExportedProgram& program,
                            const EmitOptions& options, ProgramParts& parts) {
  try {
    return MethodEmitter(name, program, options, parts).emit();
  } catch (const AotError& error) {
    throw AotError(fmt::format("method {}: {}", name, error.what()));
  }
}

}  // namespace vitrine::aot
