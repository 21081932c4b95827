// Running passes over a program.
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

// In order, with lint after each. AotErrors begin with the pass's name.
void run_passes(ExportedProgram& program, std::span<const Pass> passes);

// Runs work() and turns errors about a node's arguments into AotErrors that name the node.
void run_at_node(const std::string& node, const std::function<void()>& work);

// Calls visit(graph) for the program's graph and, after it, every subgraph.
template <class Visit>
void for_each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (auto& [name, subgraph] : graph.subgraphs()) for_each_graph(*subgraph, visit);
}

// Calls visit(node) for each call, which may erase it and insert others before it. Errors name it.
template <class Visit>
void for_each_call(Graph& graph, Visit&& visit) {
  for_each_graph(graph, [&](Graph& each) {
    Node* next = nullptr;
    for (Node* node = each.nodes().empty() ? nullptr : &each.nodes().front(); node != nullptr;
         node = next) {
      next = node->next();
      // The visit may erase it: the name is kept.
      if (node->is_call()) run_at_node(std::string(node->name()), [&] { visit(*node); });
    }
  });
}

// What copies a tensor in the edge dialect.
Target clone_target();
// Inserts a call before `at`, with the same source.
Node* insert_like(Node& at, Target target, ArgumentList args, ArgumentMap kwargs, Value value);
// Replaces `node` by `other`, for its users and in the signature, and removes it.
void replace_node(ExportedProgram& program, Node& node, Node& other);

}  // namespace vitrine::aot
