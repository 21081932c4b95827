// A graph of calls in execution order, modeled on torch.fx.
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

// A graph owns its nodes and subgraphs. The addresses of nodes are stable. Placeholders come first,
// then calls and get_attr nodes in topological order, then one output node. Setting arguments
// updates the lists of users. Not thread-safe.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  // Copies nodes and subgraphs. The copy shares origins, tensor data and lowered modules with the
  // original. Fills `nodes`, if given, with the copy of each node.
  std::unique_ptr<Graph> copy(std::unordered_map<const Node*, Node*>* nodes = nullptr) const;

  std::list<Node>& nodes() { return nodes_; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::vector<Node*> placeholders();
  // Null before set_output().
  Node* output() const { return output_; }
  // Returns null if no node has the name.
  Node* find(std::string_view name) const;

  // placeholder(), get_attr() and call() insert a new node before `before`. If `before` is null,
  // call() inserts the node before the output node, and the other two insert it at the end. If the
  // node's name is in use, all three append a number. Nodes in arguments must be in this graph.
  Node* placeholder(std::string_view name, Node* before = nullptr);
  Node* get_attr(std::string_view attribute, Node* before = nullptr);
  Node* call(Target target, ArgumentList args, ArgumentMap kwargs = {}, Node* before = nullptr,
             std::string_view name = {});
  Node* set_output(Argument result);

  // Removes a node, which must not have users.
  void erase(Node* node);
  void move_before(Node* node, Node* before);
  void rename(Node* node, std::string_view name);
  // Renames each node to name_of(node), in order. Appends a number to a name that is in use.
  void rename_all(const std::function<std::string(const Node&)>& name_of);
  // Reorders the nodes. `order` must contain each node once. Also updates the lists of users and
  // the counters for unique names, as if the graph had been built in this order. FX does the same.
  void reorder(const std::vector<Node*>& order);
  // Removes unused get_attr nodes and unused calls without effects, also in subgraphs. Returns the
  // number of removed nodes.
  size_t remove_dead_code();

  // Subgraphs, keyed by the attribute of get_attr nodes.
  std::map<std::string, std::unique_ptr<Graph>, std::less<>>& subgraphs() { return subgraphs_; }
  const std::map<std::string, std::unique_ptr<Graph>, std::less<>>& subgraphs() const {
    return subgraphs_;
  }

  // Constants of a subgraph, keyed by attribute. The main graph gets its constants as inputs.
  std::map<std::string, TensorData, std::less<>>& tensors() { return tensors_; }
  const std::map<std::string, TensorData, std::less<>>& tensors() const { return tensors_; }

  // Modules that backends compiled, keyed by attribute. Copies of the graph share the modules.
  using LoweredModules =
      std::map<std::string, std::shared_ptr<const LoweredBackendModule>, std::less<>>;
  LoweredModules& lowered_modules() { return lowered_modules_; }
  const LoweredModules& lowered_modules() const { return lowered_modules_; }

  // Turns `base` into a name that no node has, such as "aten_add_tensor_1". By default, also avoids
  // Python's keywords and built-in functions, such as "input".
  std::string unique_name(std::string_view base, bool avoid_python_names = true);

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

// Returns FX's name for a call to `target`: "add", or "aten_add_tensor" in the edge dialect.
std::string default_name(Target target);

// True if the call has no side effects. An unused pure call can be removed.
bool is_pure(const Node& node);

}  // namespace vitrine::aot
