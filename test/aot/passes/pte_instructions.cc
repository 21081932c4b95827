#include "test/aot/passes/pte_instructions.h"

#include "schema/program_generated.h"
#include "test/support/file_bytes.h"

namespace vitrine::test {
namespace {

using aot::Graph;
using aot::Node;

Instructions chain_instructions(const schema::program::ExecutionPlan& plan) {
  using schema::program::InstructionArguments;
  Instructions names;
  for (const auto* instruction : *plan.chains()->Get(0)->instructions()) {
    switch (instruction->instr_args_type()) {
      case InstructionArguments::KernelCall: {
        const auto* op = plan.operators()->Get(static_cast<flatbuffers::uoffset_t>(
            instruction->instr_args_as_KernelCall()->op_index()));
        const std::string overload = op->overload() == nullptr ? "" : op->overload()->str();
        names.push_back(op->name()->str() + (overload.empty() ? "" : "." + overload));
        break;
      }
      case InstructionArguments::DelegateCall:
        names.emplace_back("<delegate>");
        break;
      case InstructionArguments::MoveCall:
        names.emplace_back("<move>");
        break;
      case InstructionArguments::JumpFalseCall:
        names.emplace_back("<jump>");
        break;
      default:
        names.emplace_back("<free>");
    }
  }
  return names;
}

// Calls visit(node, name) for each instruction that the emitter writes for the graph.
template <class Visit>
void for_each_instruction(const Graph& graph, Visit visit) {
  for (const Node& node : graph.nodes()) {
    if (!node.is_call() || node.target() == aot::getitem()) continue;
    if (node.target().is("cond")) {
      // The emitter writes a jump over each branch. At the end of a branch, it writes move
      // instructions for the results.
      for (const size_t branch : {size_t{1}, size_t{2}}) {
        const Graph& body = *graph.subgraphs().at(node.args()[branch].node()->attribute());
        visit(node, "<jump>");
        for_each_instruction(body, visit);
        const aot::ArgumentList* results = body.output()->args()[0].list();
        for (size_t i = 0; i < (results == nullptr ? 1 : results->size()); ++i) {
          visit(node, "<move>");
        }
      }
      continue;
    }
    // A static view has no instruction, because its memory is planned.
    if (node.target().is("memory.view") && node.tensor()->is_static()) continue;
    visit(node, aot::operator_of(node.target())->kernel);
  }
}

}  // namespace

std::map<std::string, Instructions> pte_instructions(const std::filesystem::path& file) {
  const AlignedBytes bytes = read_file_bytes(file);
  std::map<std::string, Instructions> found;
  for (const auto* plan : *schema::program::GetProgram(bytes.data())->execution_plan()) {
    if (plan->chains()->Get(0)->instructions() == nullptr) {
      found[plan->name()->str()] = {};
    } else {
      found[plan->name()->str()] = chain_instructions(*plan);
    }
  }
  return found;
}

Instructions graph_instructions(const Graph& graph) {
  Instructions names;
  for_each_instruction(graph, [&](const Node&, const std::string& name) { names.push_back(name); });
  return names;
}

std::vector<uint32_t> graph_handles(const Graph& graph) {
  std::vector<uint32_t> handles;
  for_each_instruction(graph, [&](const Node& node, const std::string&) {
    handles.push_back(node.meta.debug_handle);
  });
  return handles;
}

}  // namespace vitrine::test
