#include "tools/pte_inspect/program_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "base/text/text_layout.h"
#include "runtime/program/program_access.h"
#include "tools/common/delegate_lines.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/payload_json.h"
#include "vitrine/budget.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;
using inspector::printable;

constexpr size_t kShownItems = 8;                     // maximum number of shown items of a list
constexpr size_t kMaxGraphBytes = size_t{128} << 20;  // limit per method

std::string value_name(size_t index) { return fmt::format("%{}", index); }

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
      graph_.constants.push_back(is_constant(graph_.values.size() - 1));
    }
    add_all(plan_.inputs(), graph_.inputs);
    add_all(plan_.outputs(), graph_.outputs);
    defined_.insert(graph_.inputs.begin(), graph_.inputs.end());
    for (uint32_t chain = 0; chain < plan_.chains()->size(); ++chain) {
      const auto* instructions = plan_.chains()->Get(chain)->instructions();
      if (instructions == nullptr) continue;
      for (uint32_t i = 0; i < instructions->size(); ++i) {
        GraphInstruction& instruction = graph_.instructions.emplace_back();
        instruction.id =
            plan_.chains()->size() == 1 ? std::to_string(i) : fmt::format("{}.{}", chain, i);
        if (chain == 0) instruction.instruction = static_cast<int32_t>(i);
        read(*instructions->Get(i), instruction);
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

  // Adds a tensor, or the tensors of a list.
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

  bool is_constant(size_t index) const {
    const auto* tensor = value(static_cast<int32_t>(index)).val_as_Tensor();
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
    const auto position = static_cast<size_t>(index);
    const auto nested = [this](int32_t item) { return argument_text(item); };
    switch (from.val_type()) {
      case fbs::KernelTypes::Tensor:
        return fmt::format("{}{} {}", is_constant(position) ? "constant " : "",
                           value_name(position), graph_.values[position]);
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

  // In a hostile file, many instructions may share one long list.
  void charge(size_t bytes) {
    if (bytes > kMaxGraphBytes - charged_) {
      throw ToolError(fmt::format("method {}: the text of the graph exceeds the limit of {} bytes",
                                  printable(graph_.name), kMaxGraphBytes));
    }
    charged_ += bytes;
  }

  void read(const fbs::Instruction& from, GraphInstruction& to) {
    if (const auto* call = from.instr_args_as_KernelCall()) {
      const auto [name, overload] =
          ProgramAccess::method_meta(plan_).operator_name(static_cast<size_t>(call->op_index()));
      to.name =
          printable(overload.empty() ? std::string(name) : fmt::format("{}.{}", name, overload));
      read_kernel_arguments(arguments_of(*call), name.ends_with('_'), to);
    } else if (const auto* delegate = from.instr_args_as_DelegateCall()) {
      read_delegate(*delegate, to);
    } else if (const auto* move = from.instr_args_as_MoveCall()) {
      to.name = "move";
      to.arguments = {argument_text(move->move_from())};
      tensors_of(move->move_from(), to.inputs);
      tensors_of(move->move_to(), to.outputs);
    } else if (const auto* jump = from.instr_args_as_JumpFalseCall()) {
      to.name = fmt::format("jump to {} unless {}", jump->destination_instruction(),
                            value_name(static_cast<size_t>(jump->cond_value_index())));
      tensors_of(jump->cond_value_index(), to.inputs);
    } else if (const auto* freed = from.instr_args_as_FreeCall()) {
      to.name = fmt::format("free {}", value_name(static_cast<size_t>(freed->value_index())));
    }
    defined_.insert(to.outputs.begin(), to.outputs.end());
  }

  // The last argument of a kernel call is the result. `out` arguments are the same tensors.
  void read_kernel_arguments(std::span<const int32_t> args, bool in_place,
                             GraphInstruction& instruction) {
    if (args.empty()) return;
    tensors_of(args.back(), instruction.outputs);
    const std::set<size_t> outputs(instruction.outputs.begin(), instruction.outputs.end());
    for (const int32_t arg : args.first(args.size() - 1)) {
      std::vector<size_t> tensors;
      tensors_of(arg, tensors);
      const bool is_out =
          !in_place && !tensors.empty() && std::ranges::all_of(tensors, [&](size_t tensor) {
            return outputs.contains(tensor) && !defined_.contains(tensor);
          });
      if (is_out) continue;
      instruction.arguments.push_back(argument_text(arg));
      charge(instruction.arguments.back().size() + tensors.size() * sizeof(size_t));
      instruction.inputs.insert(instruction.inputs.end(), tensors.begin(), tensors.end());
    }
  }

  // Arguments that no instruction has written yet are outputs of the delegate.
  void read_delegate(const fbs::DelegateCall& call, GraphInstruction& instruction) {
    const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()));
    instruction.name = printable(delegate.id()->str());
    instruction.is_delegate = true;
    for (const int32_t arg : arguments_of(call)) {
      std::vector<size_t> tensors;
      tensors_of(arg, tensors);
      const bool is_output = !tensors.empty() && std::ranges::all_of(tensors, [&](size_t tensor) {
        return !defined_.contains(tensor) && !is_constant(tensor);
      });
      charge((tensors.size() + 1) * sizeof(size_t));
      auto& list = is_output ? instruction.outputs : instruction.inputs;
      list.insert(list.end(), tensors.begin(), tensors.end());
      instruction.tensors.insert(instruction.tensors.end(), tensors.begin(), tensors.end());
      if (!is_output) instruction.arguments.push_back(argument_text(arg));
    }
    try {
      const DataBuffer data = check(ProgramAccess::payload(program_, *delegate.processed()));
      if (instruction.name != xnnpack::kBackendId) {
        return read_foreign(payload_input(delegate, data.bytes()), instruction);
      }
      ProgramGraph inside = graph_of_xnnpack(load_xnnpack_graph(data.bytes(), "payload", steps_));
      for (const GraphInstruction& node : inside.instructions) {
        std::string line =
            fmt::format("[{}] {}({})", node.id, node.name, fmt::join(node.arguments, ", "));
        for (const size_t output : node.outputs) {
          line += fmt::format(" -> {} {}", value_name(output), inside.values[output]);
        }
        charge(line.size());
        instruction.inside.push_back(std::move(line));
      }
      instruction.payload.push_back(std::move(inside));
    } catch (const ToolError& error) {
      instruction.inside.push_back(std::string("damaged: ") + printable(error.what()));
    }
  }

  void read_foreign(const delegates::PayloadInput& input, GraphInstruction& instruction) {
    charge(input.bytes.size());
    const Json json = payload_json(input);
    if (json.contains("error")) throw ToolError(json["error"].get<std::string>());
    for (std::string& line : payload_lines(json["payload"])) {
      charge(line.size());
      instruction.inside.push_back(std::move(line));
    }
    // Each graph has a copy of the tensors' names. The copies count toward kMaxGraphBytes.
    charge(json["payload"]["graphs"].size() * json["payload"]["tensors"].size() *
           sizeof(std::string));
    instruction.payload = graphs_of_payload(json["payload"]);
    const auto& closed = json["payload"]["closed"].get_ref<const std::string&>();
    if (!closed.empty()) instruction.inside.push_back("closed: " + printable(closed));
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  Budget steps_;  // bounds the work of reading payloads
  ProgramGraph graph_;
  std::set<size_t> defined_;  // tensors that have a value so far
  size_t charged_ = 0;
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
    graph.constants.push_back(value.is_constant());
    if (value.is_input) graph.inputs.push_back(i);
    if (value.is_output) graph.outputs.push_back(i);
  }
  for (size_t i = 0; i < from.nodes.size(); ++i) {
    const xnnpack::Node& node = from.nodes[i];
    GraphInstruction& instruction = graph.instructions.emplace_back();
    instruction.id = std::to_string(i);
    instruction.name = node.kind->name;
    instruction.debug_handle = node.debug_handle;
    for (const uint32_t input : node.input_values()) {
      instruction.inputs.push_back(input);
      instruction.arguments.push_back(
          fmt::format("{}{} {}", from.values[input].is_constant() ? "constant " : "",
                      value_name(input), graph.values[input]));
    }
    for (const uint32_t output : node.output_values()) instruction.outputs.push_back(output);
  }
  for (const uint32_t value : from.externals) {
    graph.externals.push_back(value == xnnpack::kNone ? SIZE_MAX : value);
  }
  return graph;
}

std::vector<ProgramGraph> graphs_of_payload(const Json& payload) {
  std::vector<ProgramGraph> graphs;
  ProgramGraph values;
  for (const Json& tensor : payload["tensors"]) {
    values.values.push_back(tensor["type"].get<std::string>());
    values.constants.push_back(tensor.contains("constant"));
  }
  for (const Json& from : payload["graphs"]) {
    ProgramGraph& graph = graphs.emplace_back(values);
    graph.name = from["name"].get<std::string>();
    from["inputs"].get_to(graph.inputs);
    from["outputs"].get_to(graph.outputs);
    graph.externals = graph.inputs;
    graph.externals.insert(graph.externals.end(), graph.outputs.begin(), graph.outputs.end());
    for (const Json& op : from["operators"]) {
      GraphInstruction& to = graph.instructions.emplace_back();
      to.id = std::to_string(graph.instructions.size() - 1);
      to.name = op["name"].get<std::string>();
      op["inputs"].get_to(to.inputs);
      op["outputs"].get_to(to.outputs);
      if (op.contains("debug_handles")) op["debug_handles"].get_to(to.source_handles);
      for (const Json& argument : op["arguments"]) {
        const std::string name =
            argument.contains("name") ? argument["name"].get<std::string>() + "=" : "";
        to.arguments.push_back(name + argument["value"].get<std::string>());
      }
    }
  }
  return graphs;
}

std::string graph_text(const ProgramGraph& graph) {
  const auto named = [&](size_t index) {
    return graph.values[index].empty()
               ? value_name(index)
               : fmt::format("{} {}", value_name(index), graph.values[index]);
  };
  std::string text = printable(graph.name) + "\n";
  for (const size_t input : graph.inputs) text += fmt::format("  in   {}\n", named(input));
  for (const GraphInstruction& instruction : graph.instructions) {
    text += fmt::format("  [{}] {}", instruction.id, instruction.name);
    if (!instruction.arguments.empty())
      text += fmt::format("({})", fmt::join(instruction.arguments, ", "));
    for (size_t i = 0; i < instruction.outputs.size(); ++i) {
      text += (i == 0 ? " -> " : ", ") + named(instruction.outputs[i]);
    }
    text += '\n';
    for (const std::string& line : instruction.inside) text += "        " + line + '\n';
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
    std::vector<std::string> producer(graph.values.size());  // the last node that wrote the value
    for (const size_t input : graph.inputs) {
      producer[input] = fmt::format("g{}_in{}", g, input);
      dot += fmt::format("    {} [shape=ellipse, label={}];\n", producer[input],
                         dot_string("in " + graph.values[input]));
    }
    for (size_t i = 0; i < graph.instructions.size(); ++i) {
      const GraphInstruction& instruction = graph.instructions[i];
      const std::string id = fmt::format("g{}_s{}", g, i);
      std::string label = instruction.name;
      if (!instruction.inside.empty())
        label += fmt::format(", {} nodes", instruction.inside.size());
      dot += fmt::format("    {} [label={}{}];\n", id, dot_string(label),
                         instruction.is_delegate ? ", style=filled, fillcolor=lightblue" : "");
      for (const size_t input :
           std::set<size_t>(instruction.inputs.begin(), instruction.inputs.end())) {
        if (producer[input].empty()) continue;  // a constant
        dot += fmt::format("    {} -> {} [label={}];\n", producer[input], id,
                           dot_string(graph.values[input]));
      }
      for (const size_t output : instruction.outputs) producer[output] = id;
    }
    for (const size_t output : graph.outputs) {
      const std::string id = fmt::format("g{}_out{}", g, output);
      dot += fmt::format("    {} [shape=ellipse, label={}];\n", id,
                         dot_string("out " + graph.values[output]));
      if (!producer[output].empty()) dot += fmt::format("    {} -> {};\n", producer[output], id);
    }
    dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace vitrine::tools
