// A graph of calls in order of execution, like torch.fx's.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aot/graph/node.h"
#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

struct LoweredBackendModule;

// Owns its nodes, whose addresses are stable, and its subgraphs. Placeholders come first, then
// calls, then one output node. Every change of arguments updates the lists of users. Not
// thread-safe.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  // Copies nodes and subgraphs; the copies share what the originals share. `nodes`, if given, maps
  // each node to its copy.
  std::unique_ptr<Graph> copy(std::unordered_map<const Node*, Node*>* nodes = nullptr) const;

  std::list<Node>& nodes() { return nodes_; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::vector<Node*> placeholders();
  // Null until it is created.
  Node* output() const { return output_; }
  Node* find(std::string_view name) const;

  // Inserts new nodes before `before`; null is the end. A name that is taken gets a number.
  // Arguments must be nodes of this graph.
  Node* placeholder(std::string_view name, Node* before = nullptr);
  Node* get_attr(std::string_view attribute, Node* before = nullptr);
  Node* call(Target target, ArgumentList args, ArgumentMap kwargs = {}, Node* before = nullptr,
             std::string_view name = {});
  Node* set_output(Argument result);

  // The node must have no users.
  void erase(Node* node);
  void move_before(Node* node, Node* before);
  void rename(Node* node, std::string_view name);
  // Renames all nodes, in order. A name that is taken gets a number, as for new nodes.
  void rename_all(const std::function<std::string(const Node&)>& name_of);
  // Puts the nodes into this order, which names each once. Users and name numbers become those of a
  // graph that is built in this order, as in FX.
  void reorder(const std::vector<Node*>& order);
  // Removes calls without users and effects, in this graph and its subgraphs. Returns their number.
  size_t remove_dead_code();

  // By the attribute that get_attr nodes name.
  std::map<std::string, std::unique_ptr<Graph>, std::less<>>& subgraphs() { return subgraphs_; }
  const std::map<std::string, std::unique_ptr<Graph>, std::less<>>& subgraphs() const {
    return subgraphs_;
  }

  // Constants of a subgraph, by the attribute that get_attr nodes name. Those of a whole program
  // are its inputs.
  std::map<std::string, TensorData, std::less<>>& tensors() { return tensors_; }
  const std::map<std::string, TensorData, std::less<>>& tensors() const { return tensors_; }

  // Modules that backends compiled, by the attribute that get_attr nodes name. Copies of the graph
  // share them.
  using LoweredModules =
      std::map<std::string, std::shared_ptr<const LoweredBackendModule>, std::less<>>;
  LoweredModules& lowered_modules() { return lowered_modules_; }
  const LoweredModules& lowered_modules() const { return lowered_modules_; }

  // "aten_add_tensor_1": `base` as an identifier, with a number if it is taken. Python's own names
  // ("input") are taken, but exported placeholders may have them.
  std::string unique_name(std::string_view base, bool python_is_taken = true);

 private:
  Node* insert(Node::Kind kind, std::string_view name, Node* before);

  std::list<Node> nodes_;
  Node* output_ = nullptr;
  std::map<std::string, std::unique_ptr<Graph>, std::less<>> subgraphs_;
  std::map<std::string, TensorData, std::less<>> tensors_;
  LoweredModules lowered_modules_;
  std::unordered_map<std::string, Node*> names_;
  std::unordered_map<std::string, size_t> next_number_;
};

// FX's name for a call of the target: "add", or "aten_add_tensor" in the edge dialect.
std::string default_name(Target target);

// Whether an unused call of the target can be removed without visible effect.
bool is_pure(const Node& node);

}  // namespace vitrine::aot
