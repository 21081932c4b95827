// Runs passes over a program; helpers for writing passes.
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

// Runs the passes in order and lint() after each. AotErrors begin with the name of the pass.
void run_passes(ExportedProgram& program, std::span<const Pass> passes);

// Runs work(). Turns errors about a node's arguments into AotErrors that name the node.
void run_at_node(const std::string& node, const std::function<void()>& work);

// Calls visit(graph) for the program's graph and, after it, every subgraph.
template <class Visit>
void for_each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (auto& [name, subgraph] : graph.subgraphs()) for_each_graph(*subgraph, visit);
}

// Calls visit(node) for each call of the graph and its subgraphs. The visitor may erase the node
// and insert others before it. AotErrors that it throws get the name of the node.
template <class Visit>
void for_each_call(Graph& graph, Visit&& visit) {
  for_each_graph(graph, [&](Graph& each) {
    Node* next = nullptr;
    for (Node* node = each.nodes().empty() ? nullptr : &each.nodes().front(); node != nullptr;
         node = next) {
      next = node->next();
      // The name is copied because the visitor may erase the node.
      if (node->is_call()) run_at_node(std::string(node->name()), [&] { visit(*node); });
    }
  });
}

// The operator that copies a tensor in the edge dialect.
Target clone_target();
// Inserts a call before `at`, with the metadata of `at` except for the value.
Node* insert_like(Node& at, Target target, ArgumentList args, ArgumentMap kwargs, Value value);
// Replaces `node` with `other` for its users and in the signature, and erases it.
void replace_node(ExportedProgram& program, Node& node, Node& other);

}  // namespace vitrine::aot
