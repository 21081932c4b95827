// The order of execution in a program or an XNNPACK payload, as text and for Graphviz.
#pragma once

#include <string>
#include <vector>

#include "tools/pte_inspect/loading.h"
#include "vitrine/program.h"

namespace vitrine::tools {

struct GraphStep {
  std::string id;    // "3"; "1.3" of a program with several chains
  std::string name;  // "aten::add.out", "XnnpackBackend", "jump to 7 unless %4"
  bool is_delegate = false;
  std::vector<std::string> arguments;  // as text: "%3 f32[2,3]", "[1, 1]", "none"
  std::vector<size_t> inputs;          // tensors among them, by number
  std::vector<size_t> outputs;         // tensors that it computes or changes
  std::vector<std::string> inside;     // lines for a delegate's nodes
};

struct ProgramGraph {
  std::string name;
  std::vector<std::string> values;  // by number: "f32[2,3]"; empty for other kinds
  std::vector<size_t> inputs, outputs;
  std::vector<GraphStep> steps;
};

std::vector<ProgramGraph> graphs_of_program(const Program& program);
ProgramGraph graph_of_xnnpack(const XnnpackGraph& graph);

std::string graph_text(const ProgramGraph& graph);
// One digraph of all graphs.
std::string graph_dot(const std::vector<ProgramGraph>& graphs);

}  // namespace vitrine::tools
