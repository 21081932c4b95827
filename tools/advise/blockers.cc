#include "tools/advise/blockers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/graph.h"
#include "aot/graph/pass.h"
#include "aot/pipeline/lower.h"
#include "formats/etrecord/edge_graph.h"
#include "runtime/platform/clock.h"

namespace vitrine::tools {
namespace {

using aot::Argument;
using aot::Dialect;
using aot::ExportedProgram;
using aot::Graph;
using aot::Node;

struct Remedy {
  std::string_view op;  // start of the operator's name
  std::string_view text;
};

constexpr std::string_view kDraw =
    "draw the random numbers outside of the model, and pass them as an input";
constexpr std::string_view kPrecompute =
    "if the matrix is constant, compute this before the export and keep the result in a buffer; "
    "else compute it outside of the model";
constexpr std::string_view kAfterwards =
    "return the operator's operands from the model, and call the operator on these outputs";
constexpr std::string_view kConvert =
    "after the training, call convert_pt2e() and model.eval(), and then torch.export.export()";

constexpr std::array kRemedies = {
    Remedy{"aten.randint", kDraw},
    Remedy{"aten.randperm", kDraw},
    Remedy{"aten.multinomial", kDraw},
    Remedy{"aten.bernoulli", kDraw},
    Remedy{"aten.normal", kDraw},
    Remedy{"aten.uniform", kDraw},
    Remedy{"aten.exponential", kDraw},
    Remedy{"aten.linalg_", kPrecompute},
    Remedy{"aten._linalg_", kPrecompute},
    Remedy{"aten.inverse", kPrecompute},
    Remedy{"aten.cholesky", kPrecompute},
    Remedy{"aten.lu_", kPrecompute},
    Remedy{"aten.triangular_solve", kPrecompute},
    Remedy{"aten.bincount", "torch.nn.functional.one_hot(x, n).sum(0), with a constant n"},
    Remedy{"aten.nanmedian", "x.median() after torch.where() has replaced NaN"},
    Remedy{"aten._foreach_", "a Python loop that calls the operator for each tensor"},
    Remedy{"aten._int_mm",
           "the product of the float matrices; quantize it with 'vitrine lower "
           "--quantize'"},
    Remedy{"aten._scaled_mm",
           "the product of the float matrices; quantize it with 'vitrine lower "
           "--quantize'"},
    Remedy{"aten.fake_quantize_", kConvert},
    Remedy{"aten._fused_moving_avg_obs_fq", kConvert},
    Remedy{"torchvision.nms", kAfterwards},
    Remedy{"torchvision.roi_", kAfterwards},
    Remedy{"higher_order.wrap_with_autocast",
           "export the model outside of torch.autocast(), and convert it with model.half()"},
};

std::string name_of(const Node& node) {
  const aot::Target target = node.target();
  if (target.dialect() != Dialect::kHigherOrder) return target.name();
  // The first argument of auto_functionalized(my.op, ...) is the operator.
  const Argument* first = node.arg(0);
  const auto* called = first == nullptr ? nullptr : first->get<aot::Target>();
  if (called != nullptr) return called->name();
  return target.name().starts_with("higher_order.") ? target.name()
                                                    : "higher_order." + target.name();
}

Node* with_meta(Node* made, const Node& like) {
  made->meta = like.meta;
  return made;
}

Node* add_user_input(ExportedProgram& program, const Node& like, aot::Value value,
                     const std::string& name) {
  Node* before = nullptr;
  for (Node& node : program.graph->nodes()) {
    if (node.kind() == Node::Kind::kPlaceholder) continue;
    before = &node;
    break;
  }
  Node* made = with_meta(program.graph->placeholder(name, before), like);
  made->meta.value = std::move(value);
  aot::InputSpec spec;
  spec.name = made->name();
  program.signature.inputs.push_back(std::move(spec));
  return made;
}

// Makes a program whose only call is `node`. The call's operands become inputs.
ExportedProgram program_of(const Node& node, const ExportedProgram& from) {
  ExportedProgram made;
  made.range_constraints = from.range_constraints;
  made.opset_version = from.opset_version;
  made.verifiers = from.verifiers;
  made.torch_version = from.torch_version;
  std::unordered_map<const Node*, Node*> inputs;
  const std::vector<Node*> operands = node.inputs();
  for (const Node* operand : operands) {
    if (operand->kind() == Node::Kind::kGetAttr) continue;
    inputs[operand] = add_user_input(made, *operand, operand->meta.value, operand->name());
  }
  for (const Node* operand : operands) {
    if (operand->kind() != Node::Kind::kGetAttr) continue;
    inputs[operand] = with_meta(made.graph->get_attr(operand->attribute()), *operand);
    const Graph& owner = operand->graph();
    const auto subgraph = owner.subgraphs().find(operand->attribute());
    if (subgraph != owner.subgraphs().end()) {
      made.graph->subgraphs()[operand->attribute()] = subgraph->second->copy();
    }
    const auto tensor = owner.tensors().find(operand->attribute());
    if (tensor != owner.tensors().end()) made.graph->tensors().insert(*tensor);
  }
  // The in-place call must not change inputs of the program.
  if (aot::is_in_place(node.target())) {
    for (auto& [operand, input] : inputs) {
      if (input->tensor() == nullptr) continue;
      input = with_meta(made.graph->call(aot::Target::of("aten.clone.default"), {Argument(input)}),
                        *operand);
    }
  }
  const auto copied = [&](Node* operand) { return inputs.at(operand); };
  aot::ArgumentList args;
  for (const Argument& argument : node.args()) args.push_back(argument.with_nodes(copied));
  aot::ArgumentMap kwargs;
  for (const auto& [key, argument] : node.kwargs()) {
    kwargs.emplace_back(key, argument.with_nodes(copied));
  }
  Node* call = with_meta(made.graph->call(node.target(), std::move(args), std::move(kwargs)), node);
  aot::ArgumentList results;
  const auto add_result = [&](Node* result) {
    results.emplace_back(result);
    made.signature.outputs.emplace_back().name = result->name();
  };
  if (const auto* items = node.meta.value.items()) {
    for (size_t i = 0; i < items->size(); ++i) {
      if ((*items)[i].tensor() == nullptr) continue;
      Node* item = made.graph->call(aot::getitem(), {Argument(call), static_cast<int64_t>(i)});
      item->meta = node.meta;
      item->meta.value = (*items)[i];
      add_result(item);
    }
  } else if (node.tensor() != nullptr) {
    add_result(call);
  }
  made.graph->set_output(Argument::tuple(std::move(results)));
  return made;
}

// True if the call is meaningful only together with its neighbors.
bool is_marker(const Node& node) {
  return node.target() == aot::getitem() || node.target().name().starts_with("torch._functorch.");
}

// Lowers without a backend. Returns an empty text if lowering succeeds.
std::string error_of(ExportedProgram program) {
  aot::Methods methods;
  methods.emplace("forward", std::move(program));
  aot::LowerOptions options;
  options.sink = [](std::span<const std::byte>) {};
  try {
    aot::lower(std::move(methods), options);
  } catch (const HostError& error) {
    return error.what();
  } catch (const std::out_of_range&) {
    return "an argument has too few dims or items";
  }
  return "";
}

// "decompose: node x (aten.bincount.default), model.py:3: REASON" -> "REASON"
std::string reason_of(const std::string& error) {
  const size_t node = error.find("node ");
  if (node == std::string::npos) return error;
  const size_t end = error.find(": ", node);
  return end == std::string::npos ? error : error.substr(end + 2);
}

std::string line_of(const Node& node) {
  if (node.meta.origin == nullptr) return "";
  const std::string line = etrecord::innermost_model_line(node.meta.origin->stack_trace);
  return line.substr(line.rfind('/') + 1);
}

class BlockerSearch {
 public:
  BlockerSearch(const ExportedProgram& program, double seconds)
      : program_(program), end_ns_(static_cast<double>(platform::now_ns()) + seconds * 1e9) {}

  Blockers run() {
    check_graph(*program_.graph);
    std::ranges::stable_sort(found_.all, std::greater(), &Blocker::calls);
    found_.other_error = error_of(without_blocked());
    return std::move(found_);
  }

 private:
  // Returns true if the graph has a blocked call.
  bool check_graph(const Graph& graph) {
    bool blocked = false;
    std::set<std::string> blocked_subgraphs;
    for (const auto& [name, subgraph] : graph.subgraphs()) {
      if (check_graph(*subgraph)) blocked_subgraphs.insert(name);
    }
    for (const Node& node : graph.nodes()) {
      if (!node.is_call() || is_marker(node)) continue;
      if (static_cast<double>(platform::now_ns()) > end_ns_) {
        found_.is_incomplete = true;
        return blocked;
      }
      const bool is_blocked_inside = std::ranges::any_of(node.inputs(), [&](const Node* input) {
        return input->kind() == Node::Kind::kGetAttr &&
               blocked_subgraphs.contains(input->attribute());
      });
      const std::string error = is_blocked_inside ? "" : error_of(program_of(node, program_));
      if (!error.empty()) add(node, reason_of(error));
      if (&graph == program_.graph.get() && (is_blocked_inside || !error.empty())) {
        removed_.insert(node.name());
      }
      blocked |= is_blocked_inside || !error.empty();
    }
    return blocked;
  }

  void add(const Node& node, const std::string& reason) {
    const std::string op = name_of(node);
    auto same = std::ranges::find_if(found_.all, [&](const Blocker& blocker) {
      return blocker.op == op && blocker.reason == reason;
    });
    if (same == found_.all.end()) {
      Blocker made;
      made.op = op;
      made.reason = reason;
      made.remedy = remedy_for(op, reason);
      same = found_.all.insert(same, std::move(made));
    }
    ++same->calls;
    const std::string line = line_of(node);
    if (!line.empty() && std::ranges::count(same->lines, line) == 0) same->lines.push_back(line);
  }

  // Returns a copy of the model in which inputs replace the results of blocked calls.
  ExportedProgram without_blocked() const {
    ExportedProgram rest = program_.copy();
    for (const std::string& name : removed_) {
      Node* node = rest.graph->find(name);
      if (node == nullptr) continue;
      if (node->meta.value.items() != nullptr) {
        const std::vector<Node*> items = node->users();
        for (Node* item : items) replace(rest, *item);
      } else {
        replace(rest, *node);
      }
      if (node->users().empty()) rest.graph->erase(node);
    }
    return rest;
  }

  static void replace(ExportedProgram& rest, Node& node) {
    Node* input = add_user_input(rest, node, node.meta.value, node.name() + "_value");
    for (aot::OutputSpec& output : rest.signature.outputs) {
      if (output.name == node.name()) output.name = input->name();
    }
    node.replace_all_uses_with(input);
    if (node.meta.value.items() == nullptr && node.target() == aot::getitem()) {
      rest.graph->erase(&node);
    }
  }

  const ExportedProgram& program_;
  double end_ns_;
  Blockers found_;
  std::set<std::string> removed_;  // calls of the main graph
};

}  // namespace

std::string remedy_for(std::string_view op, std::string_view error) {
  const auto* const known = std::ranges::find_if(
      kRemedies, [&](const Remedy& remedy) { return op.starts_with(remedy.op); });
  if (known != kRemedies.end()) return std::string(known->text);
  const bool is_custom = !op.starts_with("aten.") && !op.starts_with("higher_order.");
  if (is_custom && (error.find("--operator") != std::string_view::npos ||
                    error.find("unknown operator") != std::string_view::npos)) {
    return fmt::format(
        "operators of ATen; or declare the operator with vitrine lower --operator 'SCHEMA' and "
        "give the runtime a kernel (docs/kernels.md); print(torch.ops.{}._schema) prints the "
        "schema",
        op);
  }
  return "operators that Vitrine supports (docs/kernels.md)";
}

Blockers find_blockers(const ExportedProgram& program, double seconds) {
  return BlockerSearch(program, seconds).run();
}

}  // namespace vitrine::tools
