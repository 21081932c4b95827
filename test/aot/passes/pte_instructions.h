// What a .pte executes, for comparison.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace vitrine::test {

using Instructions = std::vector<std::string>;

// "aten::add.out", "<delegate>", "<move>", "<jump>", by method.
std::map<std::string, Instructions> pte_instructions(const std::filesystem::path& file);
// What the nodes of an executable graph (aot/passes/pipelines.h) become.
Instructions graph_instructions(const aot::Graph& graph);
// The debug handles of these instructions.
std::vector<uint32_t> graph_handles(const aot::Graph& graph);

}  // namespace vitrine::test
