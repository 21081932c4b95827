#include "tools/pte_inspect/explanation.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;
using inspector::printable;

// Returns the source nodes of an instruction, without duplicates, in the order of its handles.
std::vector<const etrecord::EdgeNode*> nodes_of(const etrecord::MethodRecord& record,
                                                int32_t instruction) {
  std::vector<const etrecord::EdgeNode*> nodes;
  std::set<size_t> seen;
  const auto handles = record.handles_of_instruction.find(instruction);
  if (handles == record.handles_of_instruction.end()) return nodes;
  for (const etrecord::DebugHandle handle : handles->second) {
    const auto found = record.graph.nodes_of_handle.find(handle);
    if (found == record.graph.nodes_of_handle.end()) continue;
    for (const size_t node : found->second) {
      if (seen.insert(node).second) nodes.push_back(&record.graph.nodes[node]);
    }
  }
  return nodes;
}

std::string node_text(const etrecord::EdgeNode& node) {
  std::string text = printable(node.target);
  if (!node.module_path.empty()) text += "  in " + printable(node.module_path);
  if (!node.model_line.empty()) text += "  " + printable(node.model_line);
  return text;
}

void explain_method(const fbs::ExecutionPlan& plan, const etrecord::MethodRecord& record,
                    std::string& text) {
  const auto* instructions = plan.chains()->Get(0)->instructions();
  for (uint32_t i = 0; i < size_of(instructions); ++i) {
    const fbs::Instruction& instruction = *instructions->Get(i);
    const auto nodes = nodes_of(record, static_cast<int32_t>(i));
    if (const auto* kernel = instruction.instr_args_as_KernelCall()) {
      const fbs::Operator& op = *plan.operators()->Get(static_cast<uint32_t>(kernel->op_index()));
      text += fmt::format("  [{}] kernel {}", i, printable(op.name()->string_view()));
      text += nodes.empty() ? "\n" : " for " + node_text(*nodes.front()) + "\n";
    } else if (const auto* call = instruction.instr_args_as_DelegateCall()) {
      const auto index = static_cast<uint32_t>(call->delegate_index());
      text += fmt::format(
          "  [{}] delegate {}: {} executes {}\n", i, index,
          printable(plan.delegates()->Get(index)->id()->string_view()),
          nodes.empty() ? "unknown source ops" : inspector::counted(nodes.size(), "source op"));
      for (const etrecord::EdgeNode* node : nodes) text += "        " + node_text(*node) + "\n";
    }
  }
}

}  // namespace

std::string explanation_text(const Program& program, const etrecord::EtRecord& record) {
  std::string text;
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    const std::string_view name = plan->name()->string_view();
    text += fmt::format("method {}\n", printable(name));
    const auto found = record.methods.find(name);
    if (found == record.methods.end()) {
      text += "  the record lacks this method\n";
    } else if (size_of(plan->chains()) != 0) {
      explain_method(*plan, found->second, text);
    }
  }
  return text;
}

}  // namespace vitrine::tools
