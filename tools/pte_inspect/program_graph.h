// Lists the instructions of a program or an XNNPACK payload, as text or for Graphviz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/pte_inspect/loading.h"
#include "vitrine/program.h"

namespace vitrine::tools {

struct ProgramGraph;

// An instruction of a method, or a node of a payload.
struct GraphInstruction {
  std::string id;    // "3"; "1.3" if the method has several chains
  std::string name;  // "aten::add.out", "XnnpackBackend", "jump to 7 unless %4"
  bool is_delegate = false;
  std::vector<std::string> arguments;    // texts of arguments: "%3 f32[2,3]", "[1, 1]", "none"
  std::vector<size_t> inputs;            // indices of the tensors among the arguments
  std::vector<size_t> outputs;           // indices of the tensors that the instruction changes
  std::vector<std::string> inside;       // a line for each node of a delegate
  std::optional<int32_t> instruction;    // its key in records; only in the first chain
  uint32_t debug_handle = 0;             // handle of a node of an XNNPACK graph
  std::vector<uint32_t> source_handles;  // for a node whose payload has its source nodes
  std::vector<size_t> tensors;           // for a delegate: its arguments in order
  std::vector<ProgramGraph> payload;     // for a delegate: the readable graphs
};

struct ProgramGraph {
  std::string name;
  std::vector<std::string> values;  // "f32[2,3]" for each value; empty if it is not a tensor
  std::vector<bool> constants;      // one element per value
  std::vector<size_t> inputs, outputs;
  std::vector<size_t> externals;  // for a payload: the value of each argument of the delegate
  std::vector<GraphInstruction> instructions;
};

std::vector<ProgramGraph> graphs_of_program(const Program& program);
ProgramGraph graph_of_xnnpack(const XnnpackGraph& graph);
// `payload` is the value of the key "payload" in the JSON of payload_json.h.
std::vector<ProgramGraph> graphs_of_payload(const Json& payload);

std::string graph_text(const ProgramGraph& graph);
// Returns one Graphviz digraph that has a cluster for each graph.
std::string graph_dot(const std::vector<ProgramGraph>& graphs);

}  // namespace vitrine::tools
