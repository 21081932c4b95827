#include "tools/pte_inspect/program_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "backends/xnnpack/format/identifiers.h"
#include "backends/xnnpack/runtime/node_table.h"
#include "host/tensors.h"
#include "host/tool_error.h"
#include "inspector/text/text_layout.h"
#include "runtime/program/program_access.h"
#include "vitrine/budget.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;
using inspector::printable;

constexpr size_t kShownItems = 8;                     // of a list of numbers
constexpr size_t kMaxGraphBytes = size_t{128} << 20;  // of a method

std::string value_name(size_t number) { return fmt::format("%{}", number); }

class MethodGraph {
 public:
  MethodGraph(const Program& program, const fbs::ExecutionPlan& plan)
      : program_(program), plan_(plan), steps_(default_load_steps(program.file_bytes())) {}

  ProgramGraph make() {
    graph_.name = plan_.name()->str();
    for (const fbs::EValue* value : *plan_.values()) {
      const auto* tensor = value->val_as_Tensor();
      graph_.values.push_back(tensor == nullptr
                                  ? ""
                                  : describe(static_cast<ScalarType>(tensor->scalar_type()),
                                             {tensor->sizes()->data(), tensor->sizes()->size()}));
    }
    add_all(plan_.inputs(), graph_.inputs);
    add_all(plan_.outputs(), graph_.outputs);
    made_.insert(graph_.inputs.begin(), graph_.inputs.end());
    for (uint32_t chain = 0; chain < plan_.chains()->size(); ++chain) {
      const auto* instructions = plan_.chains()->Get(chain)->instructions();
      if (instructions == nullptr) continue;
      for (uint32_t i = 0; i < instructions->size(); ++i) {
        GraphStep& step = graph_.steps.emplace_back();
        step.id = plan_.chains()->size() == 1 ? std::to_string(i) : fmt::format("{}.{}", chain, i);
        read(*instructions->Get(i), step);
      }
    }
    return std::move(graph_);
  }

 private:
  const fbs::EValue& value(int32_t index) const {
    return *plan_.values()->Get(static_cast<uint32_t>(index));
  }

  static void add_all(const flatbuffers::Vector<int32_t>* from, std::vector<size_t>& to) {
    if (from == nullptr) return;
    for (const int32_t index : *from) to.push_back(static_cast<size_t>(index));
  }

  // The tensors of a value: itself, or those of a list.
  void tensors_of(int32_t index, std::vector<size_t>& tensors) const {
    if (index < 0) return;
    const fbs::EValue& from = value(index);
    const auto add_items = [&](const flatbuffers::Vector<int32_t>& items) {
      for (const int32_t item : items) tensors_of(item, tensors);
    };
    if (from.val_as_Tensor() != nullptr) tensors.push_back(static_cast<size_t>(index));
    if (const auto* list = from.val_as_TensorList()) add_items(*list->items());
    if (const auto* list = from.val_as_OptionalTensorList()) add_items(*list->items());
  }

  bool is_constant(size_t number) const {
    const auto* tensor = value(static_cast<int32_t>(number)).val_as_Tensor();
    const auto* extra = tensor == nullptr ? nullptr : tensor->extra_tensor_info();
    return tensor != nullptr &&
           (tensor->data_buffer_idx() != 0 ||
            (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL));
  }

  template <class List, class Text>
  static std::string list_text(const List& items, Text item_text) {
    std::string text = "[";
    size_t count = 0;
    for (const auto& item : items) {
      if (count == kShownItems) {
        text += fmt::format(", … {} in all", items.size());
        break;
      }
      text += (count++ == 0 ? "" : ", ") + item_text(item);
    }
    return text + "]";
  }

  std::string argument_text(int32_t index) const {
    if (index < 0) return "none";
    const fbs::EValue& from = value(index);
    const auto number = static_cast<size_t>(index);
    const auto nested = [this](int32_t item) { return argument_text(item); };
    switch (from.val_type()) {
      case fbs::KernelTypes::Tensor:
        return fmt::format("{}{} {}", is_constant(number) ? "constant " : "", value_name(number),
                           graph_.values[number]);
      case fbs::KernelTypes::Int:
        return std::to_string(from.val_as_Int()->int_val());
      case fbs::KernelTypes::Bool:
        return from.val_as_Bool()->bool_val() ? "true" : "false";
      case fbs::KernelTypes::Double:
        return fmt::format("{:g}", from.val_as_Double()->double_val());
      case fbs::KernelTypes::String:
        return fmt::format("\"{}\"", printable(from.val_as_String()->string_val()->str()));
      case fbs::KernelTypes::IntList:
        return list_text(*from.val_as_IntList()->items(),
                         [&](int64_t item) { return argument_text(static_cast<int32_t>(item)); });
      case fbs::KernelTypes::DoubleList:
        return list_text(*from.val_as_DoubleList()->items(),
                         [](double item) { return fmt::format("{:g}", item); });
      case fbs::KernelTypes::BoolList:
        return list_text(*from.val_as_BoolList()->items(),
                         [](auto item) { return std::string(item ? "true" : "false"); });
      case fbs::KernelTypes::TensorList:
        return list_text(*from.val_as_TensorList()->items(), nested);
      case fbs::KernelTypes::OptionalTensorList:
        return list_text(*from.val_as_OptionalTensorList()->items(), nested);
      default:
        return "none";
    }
  }

  // Instructions may share what they refer to, so a small file could have an unlimited graph.
  void spend(size_t bytes) {
    if (bytes > kMaxGraphBytes - spent_) {
      throw ToolError(
          fmt::format("method {}: the text of the graph is larger than {} bytes: refused",
                      printable(graph_.name), kMaxGraphBytes));
    }
    spent_ += bytes;
  }

  void read(const fbs::Instruction& instruction, GraphStep& step) {
    if (const auto* call = instruction.instr_args_as_KernelCall()) {
      const auto [name, overload] =
          ProgramAccess::method_meta(plan_).operator_name(static_cast<size_t>(call->op_index()));
      step.name =
          printable(overload.empty() ? std::string(name) : fmt::format("{}.{}", name, overload));
      read_kernel_arguments(arguments_of(*call), name.ends_with('_'), step);
    } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
      read_delegate(*delegate, step);
    } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
      step.name = "move";
      step.arguments = {argument_text(move->move_from())};
      tensors_of(move->move_from(), step.inputs);
      tensors_of(move->move_to(), step.outputs);
    } else if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
      step.name = fmt::format("jump to {} unless {}", jump->destination_instruction(),
                              value_name(static_cast<size_t>(jump->cond_value_index())));
      tensors_of(jump->cond_value_index(), step.inputs);
    } else if (const auto* freed = instruction.instr_args_as_FreeCall()) {
      step.name = fmt::format("free {}", value_name(static_cast<size_t>(freed->value_index())));
    }
    made_.insert(step.outputs.begin(), step.outputs.end());
  }

  // The last argument is the kernel's result: its `out` arguments again.
  void read_kernel_arguments(std::span<const int32_t> args, bool in_place, GraphStep& step) {
    if (args.empty()) return;
    tensors_of(args.back(), step.outputs);
    const std::set<size_t> outputs(step.outputs.begin(), step.outputs.end());
    for (const int32_t arg : args.first(args.size() - 1)) {
      std::vector<size_t> tensors;
      tensors_of(arg, tensors);
      const bool is_out =
          !in_place && !tensors.empty() && std::ranges::all_of(tensors, [&](size_t tensor) {
            return outputs.contains(tensor) && !made_.contains(tensor);
          });
      if (is_out) continue;
      step.arguments.push_back(argument_text(arg));
      spend(step.arguments.back().size() + tensors.size() * sizeof(size_t));
      step.inputs.insert(step.inputs.end(), tensors.begin(), tensors.end());
    }
  }

  // Inputs come before outputs; a tensor without a value so far is an output.
  void read_delegate(const fbs::DelegateCall& call, GraphStep& step) {
    const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()));
    step.name = printable(delegate.id()->str());
    step.is_delegate = true;
    for (const int32_t arg : arguments_of(call)) {
      std::vector<size_t> tensors;
      tensors_of(arg, tensors);
      const bool is_output = !tensors.empty() && std::ranges::all_of(tensors, [&](size_t tensor) {
        return !made_.contains(tensor) && !is_constant(tensor);
      });
      spend((tensors.size() + 1) * sizeof(size_t));
      auto& list = is_output ? step.outputs : step.inputs;
      list.insert(list.end(), tensors.begin(), tensors.end());
      if (!is_output) step.arguments.push_back(argument_text(arg));
    }
    if (step.name != xnnpack::kBackendId) return;
    try {
      const DataBuffer data = check(ProgramAccess::delegate_data(program_, *delegate.processed()));
      const ProgramGraph inside =
          graph_of_xnnpack(load_xnnpack_graph(data.bytes(), "payload", steps_));
      for (const GraphStep& node : inside.steps) {
        std::string line =
            fmt::format("[{}] {}({})", node.id, node.name, fmt::join(node.arguments, ", "));
        for (const size_t output : node.outputs) {
          line += fmt::format(" -> {} {}", value_name(output), inside.values[output]);
        }
        spend(line.size());
        step.inside.push_back(std::move(line));
      }
    } catch (const ToolError& error) {
      step.inside.push_back(std::string("damaged: ") + printable(error.what()));
    }
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  Budget steps_;  // to read payloads
  ProgramGraph graph_;
  std::set<size_t> made_;  // tensors that have a value by now
  size_t spent_ = 0;
};

std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::vector<ProgramGraph> graphs_of_program(const Program& program) {
  std::vector<ProgramGraph> graphs;
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    graphs.push_back(MethodGraph(program, *plan).make());
  }
  return graphs;
}

ProgramGraph graph_of_xnnpack(const XnnpackGraph& loaded) {
  const xnnpack::Graph& from = loaded.graph;
  ProgramGraph graph;
  graph.name = "XNNPACK";
  for (size_t i = 0; i < from.values.size(); ++i) {
    const xnnpack::Value& value = from.values[i];
    graph.values.push_back(describe_value(value));
    if (value.is_input) graph.inputs.push_back(i);
    if (value.is_output) graph.outputs.push_back(i);
  }
  for (size_t i = 0; i < from.nodes.size(); ++i) {
    const xnnpack::Node& node = from.nodes[i];
    GraphStep& step = graph.steps.emplace_back();
    step.id = std::to_string(i);
    step.name = node.kind->name;
    for (const uint32_t input : node.input_values()) {
      step.inputs.push_back(input);
      step.arguments.push_back(fmt::format("{}{} {}",
                                           from.values[input].is_constant() ? "constant " : "",
                                           value_name(input), graph.values[input]));
    }
    for (const uint32_t output : node.output_values()) step.outputs.push_back(output);
  }
  return graph;
}

std::string graph_text(const ProgramGraph& graph) {
  const auto named = [&](size_t number) {
    return graph.values[number].empty()
               ? value_name(number)
               : fmt::format("{} {}", value_name(number), graph.values[number]);
  };
  std::string text = printable(graph.name) + "\n";
  for (const size_t input : graph.inputs) text += fmt::format("  in   {}\n", named(input));
  for (const GraphStep& step : graph.steps) {
    text += fmt::format("  [{}] {}", step.id, step.name);
    if (!step.arguments.empty()) text += fmt::format("({})", fmt::join(step.arguments, ", "));
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      text += (i == 0 ? " -> " : ", ") + named(step.outputs[i]);
    }
    text += '\n';
    for (const std::string& line : step.inside) text += "        " + line + '\n';
  }
  for (const size_t output : graph.outputs) text += fmt::format("  out  {}\n", named(output));
  return text;
}

std::string graph_dot(const std::vector<ProgramGraph>& graphs) {
  std::string dot =
      "digraph program {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n";
  for (size_t g = 0; g < graphs.size(); ++g) {
    const ProgramGraph& graph = graphs[g];
    dot += fmt::format("  subgraph cluster_{} {{\n    label={};\n", g,
                       dot_string(printable(graph.name)));
    std::vector<std::string> maker(graph.values.size());  // the node that made it last
    for (const size_t input : graph.inputs) {
      maker[input] = fmt::format("g{}_in{}", g, input);
      dot += fmt::format("    {} [shape=ellipse, label={}];\n", maker[input],
                         dot_string("in " + graph.values[input]));
    }
    for (size_t i = 0; i < graph.steps.size(); ++i) {
      const GraphStep& step = graph.steps[i];
      const std::string id = fmt::format("g{}_s{}", g, i);
      std::string label = step.name;
      if (!step.inside.empty()) label += fmt::format(", {} nodes", step.inside.size());
      dot += fmt::format("    {} [label={}{}];\n", id, dot_string(label),
                         step.is_delegate ? ", style=filled, fillcolor=lightblue" : "");
      for (const size_t input : std::set<size_t>(step.inputs.begin(), step.inputs.end())) {
        if (maker[input].empty()) continue;  // a constant
        dot += fmt::format("    {} -> {} [label={}];\n", maker[input], id,
                           dot_string(graph.values[input]));
      }
      for (const size_t output : step.outputs) maker[output] = id;
    }
    for (const size_t output : graph.outputs) {
      const std::string id = fmt::format("g{}_out{}", g, output);
      dot += fmt::format("    {} [shape=ellipse, label={}];\n", id,
                         dot_string("out " + graph.values[output]));
      if (!maker[output].empty()) dot += fmt::format("    {} -> {};\n", maker[output], id);
    }
    dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace vitrine::tools
