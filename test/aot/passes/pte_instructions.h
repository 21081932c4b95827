// Lists the instructions of .pte files and of graphs, so that tests can compare them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace vitrine::test {

using Instructions = std::vector<std::string>;

// The instructions of each method: "aten::add.out", "<delegate>", "<move>", "<jump>".
std::map<std::string, Instructions> pte_instructions(const std::filesystem::path& file);
// The instructions that the emitter writes for the nodes of an executable graph
// (aot/passes/pipelines.h).
Instructions graph_instructions(const aot::Graph& graph);
// The debug handles of the instructions that graph_instructions() returns.
std::vector<uint32_t> graph_handles(const aot::Graph& graph);

}  // namespace vitrine::test
