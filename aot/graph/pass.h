// Runs passes over a program, and provides helpers for writing passes.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct Pass {
  const char* name;
  std::function<void(ExportedProgram& program)> run;
};

// Runs the passes in order, and lint() after each pass. AotErrors begin with the name of the pass.
void run_passes(ExportedProgram& program, std::span<const Pass> passes);

// Runs work(). Turns errors about a node's arguments into AotErrors that name the node.
void run_at_node(const std::string& node, const std::function<void()>& work);

// Calls visit(graph) for the program's graph and then for every subgraph.
template <class Visit>
void for_each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (auto& [name, subgraph] : graph.subgraphs()) for_each_graph(*subgraph, visit);
}

// Calls visit(node) for each call in the graph and its subgraphs. visit() may erase the node and
// insert others before it. Adds the node's name to AotErrors that visit() throws.
template <class Visit>
void for_each_call(Graph& graph, Visit&& visit) {
  for_each_graph(graph, [&](Graph& each) {
    Node* next = nullptr;
    for (Node* node = each.nodes().empty() ? nullptr : &each.nodes().front(); node != nullptr;
         node = next) {
      next = node->next();
      // Copies the name, because visit() may erase the node.
      if (node->is_call()) run_at_node(std::string(node->name()), [&] { visit(*node); });
    }
  });
}

// Returns the edge dialect's operator that copies a tensor.
Target clone_target();
// Inserts a call before `at`. The new call has the metadata of `at`, except for the value.
Node* insert_like(Node& at, Target target, ArgumentList args, ArgumentMap kwargs, Value value);
// Makes the signature and all users of `node` refer to `other`, and then erases `node`.
void replace_node(ExportedProgram& program, Node& node, Node& other);

}  // namespace vitrine::aot
