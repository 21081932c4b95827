#include "aot/emit/method_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "aot/emit/control_flow.h"
#include "aot/emit/kernel_arguments.h"
#include "aot/emit/method_tensors.h"
#include "aot/emit/method_values.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/operators/call.h"

namespace vitrine::aot {
namespace {

constexpr int32_t kNoValue = -1;

class MethodEmitter {
 public:
  MethodEmitter(const std::string& name, const ExportedProgram& program, const EmitOptions& options,
                ProgramParts& parts)
      : program_(program),
        options_(options),
        parts_(parts),
        tensors_(program, options.memory_planning, parts.shared_buffers),
        values_(plan_, tensors_, options, parts) {
    plan_.name = name;
  }

  MethodDebugInfo emit() {
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      if (!entry.path.empty() || !entry.has_signature) continue;
      plan_.input_tree = entry.in_spec;
      plan_.output_tree = entry.out_spec;
    }
    plan_.planned_bytes = tensors_.planned_bytes();
    if (tensors_.has_shared_buffers()) plan_.shared_bytes = parts_.shared_buffers.bytes;
    for (const Node& node : program_.graph->nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder) emit_input(node);
    }
    emit_calls(*program_.graph);
    emit_outputs();
    debug_.planned_bytes = tensors_.planned_bytes();
    debug_.naive_bytes = tensors_.naive_bytes();
    parts_.plans.push_back(std::move(plan_));
    return std::move(debug_);
  }

 private:
  using Ids = MethodValues::Ids;

  void emit_calls(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (node.kind() == Node::Kind::kGetAttr && !tensors_.of(node).empty()) {
        values_.make_results(node);
      } else if (node.is_call()) {
        emit_call(node);
      }
    }
  }

  void emit_input(const Node& node) {
    const InputSpec& spec = *program_.input_of(node.name());
    using Kind = InputSpec::Kind;
    if (spec.kind == Kind::kCustomObject || spec.kind == Kind::kToken) {
      fail_at(node,
              "is a custom object or token; program inputs must be tensors, numbers or strings");
    }
    if (!tensors_.of(node).empty()) {
      values_.make_results(node);
    } else if (const Value::Number* number = node.meta.value.number();
               number != nullptr && spec.literal.is_none()) {
      values_.set_results(node, {values_.add_number(number)});
    } else {
      OperatorArgument any;
      values_.set_results(node, {values_.add_argument(node, spec.literal, any)});
    }
    if (spec.kind == Kind::kUserInput || spec.kind == Kind::kConstantInput) {
      plan_.inputs.push_back(values_.results_of(node).at(0));
    }
  }

  void emit_call(const Node& node) {
    if (node.target() == getitem()) {
      // MethodTensors has checked the index of the getitem call.
      const auto index = static_cast<size_t>(*node.need(1).get<int64_t>());
      values_.set_results(node, {values_.results_of(node.need_node(0)).at(index)});
    } else if (is_condition(node)) {
      emit_condition(node);
    } else if (is_loop(node)) {
      emit_loop(node);
    } else if (is_while_loop(node)) {
      emit_while_loop(node);
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

  // Emits an instruction for a view if its shape or memory is known only at run time.
  void emit_view(const Node& node) {
    const size_t id = tensors_.of(node).at(0);
    // A view of external data needs et_view: the loader rejects shapes other than the file's.
    if (tensors_.is_free_view(node) && !values_.is_external(id)) {
      values_.make_results(node);
      return;
    }
    // et_view gives a view the address of its base, so et_view cannot create a view at an offset.
    if (tensors_.tensor(id).begin != 0)
      fail_at(node, "is a view of part of a tensor, and that tensor has no planned memory");
    OperatorArgument sizes;
    sizes.type = ArgumentType::kInt;
    sizes.is_list = true;
    KernelCall call;
    call.op = view_operator();
    call.args.push_back(values_.value_of(node, node.need_node(0)));
    call.args.push_back(values_.add_argument(node, node.need(1), sizes));
    call.args.push_back(values_.add_view(id));
    values_.set_results(node, {call.args.back()});
    add_handle(node);
    add_instruction(node, std::move(call));
  }

  // The format stores the overload name "default" only for et_view. Otherwise it stores "".
  int32_t view_operator() {
    const std::pair<std::string, std::string> op("executorch_prim::et_view", "default");
    const auto found = std::ranges::find(plan_.operators, op);
    const auto index = static_cast<int32_t>(found - plan_.operators.begin());
    if (found == plan_.operators.end()) plan_.operators.push_back(op);
    return index;
  }

  static const Operator& kernel_of(const Node& node) {
    const Operator* op = operator_of(node.target());
    if (op == nullptr && node.target().dialect() == Dialect::kHigherOrder) {
      fail_at(
          node,
          fmt::format(
              "the higher-order operator {} is not supported; use cond, map, scan or while_loop",
              node.target().name()));
    }
    if (op == nullptr || op->kernel.empty()) {
      fail_at(node,
              fmt::format("{} has no out variant, so no kernel can run it; only a backend that "
                          "supports it can",
                          node.target().name()));
    }
    check_arguments(node, *op);
    return *op;
  }

  void emit_kernel_call(const Node& node) {
    const Operator& op = kernel_of(node);
    const std::vector<const OperatorArgument*> outs = op.outs();
    const bool out_is_list = outs.size() == 1 && outs[0]->is_list;

    // Creates the values of out arguments before those of other arguments, as ExecuTorch does.
    Ids results;
    if (op.is_in_place()) {
      results = {values_.value_of(node, node.need_node(0))};
      values_.set_results(node, results);
    } else if (!outs.empty()) {
      results = values_.make_results(node);
      if (!out_is_list && results.size() != outs.size()) {
        fail_at(node, fmt::format("has {} results, but {} writes {}", results.size(), op.kernel,
                                  outs.size()));
      }
    }
    const auto list_of_results = [&] {
      return values_.add(IndexList{IndexList::Kind::kTensors, results});
    };
    KernelCall call;
    call.op = operator_index(op.kernel);
    size_t next_out = 0;
    size_t position = 0;
    for (const OperatorArgument& to : op.kernel_arguments) {
      if (to.is_written && to.is_keyword_only) {
        call.args.push_back(out_is_list ? list_of_results() : results[next_out++]);
        continue;
      }
      const Argument* given = to.is_keyword_only ? nullptr : node.arg(position++);
      call.args.push_back(values_.add_argument(node, argument_for(node, given, to, tensors_), to));
    }
    if (outs.empty() && !op.is_in_place()) results = values_.make_results(node);
    call.args.push_back(results.size() == 1 && !out_is_list ? results[0] : list_of_results());
    add_handle(node);
    add_instruction(node, std::move(call));
  }

  void emit_delegate_call(const Node& node) {
    const LoweredBackendModule& module = lowered_module_of(node);
    Ids results = values_.make_results(node);
    DelegateCall call;
    call.delegate = delegate_index(module);
    const OperatorArgument any;
    for (size_t i = 1; i < node.args().size(); ++i) {
      call.args.push_back(values_.add_argument(node, node.args()[i], any));
    }
    call.args.insert(call.args.end(), results.begin(), results.end());
    call.scratch = tensors_.scratch_of(node);
    const auto instruction = static_cast<uint32_t>(plan_.instructions.size());
    std::vector<uint32_t>& handles = debug_.handles[instruction];
    for (const Node& inner : module.original.graph->nodes()) {
      const uint32_t handle = inner.meta.debug_handle;
      if (inner.is_call() && handle != 0) handles.push_back(handle);
    }
    debug_.delegates[instruction] = {module.backend_id, module.delegate_map};
    debug_.num_outputs[instruction] = static_cast<uint32_t>(results.size());
    add_instruction(node, std::move(call));
  }

  int32_t delegate_index(const LoweredBackendModule& module) {
    PlanDelegate delegate;
    delegate.backend_id = module.backend_id;
    delegate.payload = parts_.payloads.add(
        {module.payload == nullptr ? std::span<const std::byte>() : *module.payload,
         module.payload});
    for (const CompileSpec& spec : module.compile_specs) {
      delegate.compile_specs.emplace_back(
          spec.key,
          std::string(reinterpret_cast<const char*>(spec.value.data()), spec.value.size()));
    }
    for (const NamedData& named : module.named_data) {
      const auto [first, is_new] = parts_.named_data.emplace(named.key, named);
      if (!is_new && *first->second.bytes != *named.bytes) {
        throw AotError(
            fmt::format("method {}: two delegates have different named data for the key \"{}\"",
                        plan_.name, named.key));
      }
    }
    const auto found = std::ranges::find(plan_.delegates, delegate);
    const auto index = static_cast<int32_t>(found - plan_.delegates.begin());
    if (found == plan_.delegates.end()) plan_.delegates.push_back(std::move(delegate));
    return index;
  }

  // Emits, in this order: a jump to branch 2 that is taken if the condition is false, branch 1, a
  // jump to the end, and branch 2.
  void emit_condition(const Node& node) {
    const Argument* given = node.arg(0);
    const Ids results = values_.make_results(node);
    int32_t condition = kNoValue;
    if (given != nullptr && given->node() != nullptr) {
      condition = values_.value_of(node, *given->node());
    } else if (given != nullptr && given->get<bool>() != nullptr) {
      condition = values_.add(*given->get<bool>());
    } else {
      fail_at(node, "its condition must be a tensor or a bool");
    }
    const size_t skip_true = plan_.instructions.size();
    add_instruction(node, JumpFalseCall{condition, 0});
    emit_branch(node, 0, results);
    const size_t skip_false = plan_.instructions.size();
    add_instruction(node, JumpFalseCall{kNoValue, 0});
    destination_of(skip_true) = static_cast<int32_t>(plan_.instructions.size());
    emit_branch(node, 1, results);
    std::get<JumpFalseCall>(plan_.instructions[skip_false]).condition = values_.add(false);
    destination_of(skip_false) = static_cast<int32_t>(plan_.instructions.size());
  }

  int32_t& destination_of(size_t jump) {
    return std::get<JumpFalseCall>(plan_.instructions[jump]).destination;
  }

  void emit_branch(const Node& condition, size_t index, const Ids& results) {
    const Graph& graph = branch_of(condition, index);
    const Argument* given = condition.arg(3);
    const bool has_operands = given != nullptr && given->list() != nullptr;
    emit_graph(condition, graph, {}, has_operands ? *given->list() : ArgumentList());
    const Node& output = *graph.output();
    const ArgumentList items = results_of(graph);
    if (items.size() != results.size())
      fail_at(output, "its branches have different numbers of results");
    for (size_t i = 0; i < items.size(); ++i) {
      add_instruction(output, MoveCall{argument(output, items[i]), results[i]});
    }
  }

  // The inputs of the subgraph are the values `first`, followed by the values of `operands`.
  void emit_graph(const Node& call, const Graph& graph, const Ids& first,
                  const ArgumentList& operands) {
    size_t next = 0;
    for (const Node& input : graph.nodes()) {
      if (input.kind() != Node::Kind::kPlaceholder) continue;
      const size_t at = next++;
      if (at >= first.size() + operands.size()) {
        fail_at(call, fmt::format("has no operand for the input {} of its branch", input.name()));
      }
      values_.set_results(
          input, {at < first.size() ? first[at] : argument(call, operands[at - first.size()])});
    }
    emit_calls(graph);
  }

  int32_t argument(const Node& node, const Argument& given) {
    const OperatorArgument any;
    return values_.add_argument(node, given, any);
  }

  // Emits the same instructions as ExecuTorch, which tests the counter after the body. A loop that
  // may have no iterations gets a second test before the body.
  void emit_loop(const Node& node) {
    const Loop loop = loop_of(node);
    const Ids results = values_.make_results(node);
    const auto value = [&](const Argument& given) { return argument(node, given); };
    const int32_t counter = values_.add(int64_t{0});
    const int32_t length = values_.add(int64_t{0});
    const int32_t zero = values_.add(int64_t{0});
    const int32_t one = values_.add(int64_t{1});
    const int32_t is_blocking = values_.add(false);
    const int32_t is_done = values_.add(false);
    const auto copy = [&](int32_t to, int32_t from) {
      add_kernel_call(node, "aten.copy_.default", {to, from, is_blocking, to});
    };
    add_kernel_call(node, "aten.sym_size.int", {value(loop.xs[0]), zero, length});
    for (size_t i = 0; i < loop.inits.size(); ++i) copy(results[i], value(loop.inits[i]));

    std::optional<size_t> skip_body;
    if (may_be_empty(loop, program_.range_constraints)) {
      for (size_t i = loop.inits.size(); i < results.size(); ++i) {
        emit_zero_rows(node, loop, i, results[i], zero);
      }
      const int32_t has_rows = values_.add(false);
      add_kernel_call(node, "_operator.lt", {zero, length, has_rows});
      skip_body = plan_.instructions.size();
      add_instruction(node, JumpFalseCall{has_rows, 0});
    }
    const size_t begin = plan_.instructions.size();
    size_t index = 0;
    for (const Node& input : loop.body->nodes()) {
      if (input.kind() != Node::Kind::kPlaceholder) break;
      const size_t at = index++;
      if (at < loop.inits.size()) {
        values_.set_results(input, {results[at]});
      } else if (const size_t x = at - loop.inits.size(); x < loop.xs.size()) {
        const int32_t slice = values_.make_results(input).at(0);
        add_kernel_call(node, "aten.select_copy.int",
                        {value(loop.xs[x]), zero, counter, slice, slice});
      } else {
        values_.set_results(input, {value(loop.others[x - loop.xs.size()])});
      }
    }
    emit_calls(*loop.body);
    // Copies the rows before the carries, because a row may be a view of a carry's old value.
    for (size_t i = loop.inits.size(); i < results.size(); ++i) {
      add_kernel_call(node, "executorch_prim.et_copy_index.tensor",
                      {results[i], value(loop.results[i]), counter});
    }
    for (size_t i = 0; i < loop.inits.size(); ++i) copy(results[i], value(loop.results[i]));
    add_kernel_call(node, "_operator.add", {counter, one, counter});
    add_kernel_call(node, "_operator.eq", {counter, length, is_done});
    add_instruction(node, JumpFalseCall{is_done, static_cast<int32_t>(begin)});
    if (skip_body) destination_of(*skip_body) = static_cast<int32_t>(plan_.instructions.size());
    // Sets the counter to 0 for the next execution. The counter equals the length here, even if the
    // body was skipped.
    add_kernel_call(node, "_operator.sub", {counter, length, counter});
  }

  // Emits, in this order: the condition, a jump to the end that is taken if the condition is false,
  // the body, and a jump to the condition.
  void emit_while_loop(const Node& node) {
    const WhileLoop loop = while_loop_of(node);
    const Ids results = values_.make_results(node);
    const int32_t no = values_.add(false);
    const auto copy_all = [&](const ArgumentList& from) {
      for (size_t i = 0; i < from.size(); ++i) {
        add_kernel_call(node, "aten.copy_.default",
                        {results[i], argument(node, from[i]), no, results[i]});
      }
    };
    copy_all(loop.inits);
    const auto begin = static_cast<int32_t>(plan_.instructions.size());
    emit_graph(node, *loop.condition, results, loop.others);
    const size_t leave = plan_.instructions.size();
    add_instruction(node, JumpFalseCall{argument(node, loop.test), 0});
    emit_graph(node, *loop.body, results, loop.others);
    copy_all(loop.results);
    add_instruction(node, JumpFalseCall{no, begin});
    destination_of(leave) = static_cast<int32_t>(plan_.instructions.size());
  }

  // Gives a loop result 0 rows, because a loop without iterations does not resize its results.
  void emit_zero_rows(const Node& node, const Loop& loop, size_t index, int32_t result,
                      int32_t zero) {
    const Value::Items* items = node.meta.value.items();
    const TensorSpec* spec = items == nullptr ? node.tensor() : (*items)[index].tensor();
    if (spec == nullptr) fail_at(node, "a result is not a tensor");
    const std::vector<int32_t>& max_sizes = tensors_.tensor(tensors_.of(node)[index]).value.sizes;
    IndexList sizes;
    sizes.items.push_back(zero);
    for (size_t dim = 1; dim < spec->rank(); ++dim) {
      sizes.items.push_back(add_size(node, loop, spec->sizes[dim], max_sizes[dim]));
    }
    add_kernel_call(node, "aten.full.default",
                    {values_.add(std::move(sizes)), zero, result, result});
  }

  // Adds a value for a size. A dynamic size is read at run time from a loop operand that has a dim
  // of this size. If no operand has such a dim, the value is the upper bound `max`.
  int32_t add_size(const Node& node, const Loop& loop, const SymInt& size, int64_t max) {
    if (size.is_static()) return values_.add(size.value());
    for (const ArgumentList* operands : {&loop.xs, &loop.inits, &loop.others}) {
      for (const Argument& operand : *operands) {
        const TensorSpec* spec = operand.node() == nullptr ? nullptr : operand.node()->tensor();
        if (spec == nullptr) continue;
        const auto found = std::ranges::find(spec->sizes, size);
        if (found == spec->sizes.end()) continue;
        const int32_t dim = values_.add(int64_t{found - spec->sizes.begin()});
        const int32_t value = values_.add(int64_t{0});
        add_kernel_call(node, "aten.sym_size.int",
                        {values_.value_of(node, *operand.node()), dim, value});
        return value;
      }
    }
    return values_.add(max);
  }

  void add_kernel_call(const Node& node, std::string_view target, std::vector<int32_t> args) {
    KernelCall call;
    call.op = operator_index(find_operator(target)->kernel);
    call.args = std::move(args);
    add_handle(node);
    add_instruction(node, std::move(call));
  }

  // Adds the outputs to the plan, except outputs that update buffers or parameters.
  void emit_outputs() {
    const Node& output = *program_.graph->output();
    const ArgumentList* items = output.need(0).list();
    if (items == nullptr) fail_at(output, "the results are not a list");
    for (size_t i = 0; i < items->size(); ++i) {
      using Kind = OutputSpec::Kind;
      const OutputSpec& spec = program_.signature.outputs.at(i);
      if (spec.kind == Kind::kBufferMutation || spec.kind == Kind::kParameterMutation) continue;
      if (spec.kind != Kind::kUserOutput && spec.kind != Kind::kLossOutput &&
          spec.kind != Kind::kUserInputMutation) {
        fail_at(output,
                fmt::format("result {} has a kind that programs do not support, such as a gradient",
                            i));
      }
      const OperatorArgument any;
      plan_.outputs.push_back(values_.add_argument(output, (*items)[i], any));
    }
  }

  const ExportedProgram& program_;
  const EmitOptions& options_;
  ProgramParts& parts_;
  MethodTensors tensors_;
  ExecutionPlan plan_;
  MethodDebugInfo debug_;
  MethodValues values_;
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
