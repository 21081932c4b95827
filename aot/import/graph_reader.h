// The Graph struct of torch.export's schema -> Graph.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "aot/graph/graph.h"
#include "base/json.h"

namespace vitrine::aot {

// Names of inputs that are literals, which the graph does not name; empty for all others.
using InputNames = std::string;

class GraphReader {
 public:
  // `json` and `graph` must outlive the reader. `depth` counts graphs around this one.
  GraphReader(const JsonValue& json, Graph& graph, int depth = 0);

  // `literal_names`: one an input, or none at all.
  void read(const std::vector<InputNames>& literal_names);

  // Reads an Argument union: literals, and values that have been read before.
  Argument argument(const JsonValue& value);
  // The node of a value; an error at `name` if there is none yet.
  Node* value_of(const JsonValue& name) const;
  // The placeholder of input `index`.
  Node* input(size_t index) const { return inputs_.at(index); }
  size_t num_inputs() const { return inputs_.size(); }

 private:
  void read_input(const JsonValue& value, const std::string& literal_name);
  void read_node(const JsonValue& value);
  void read_arguments(const JsonValue& inputs, const Target& target, ArgumentList& args,
                      ArgumentMap& kwargs);
  void read_results(const JsonValue& outputs, Node* node);
  void read_result(const JsonValue& output, size_t index, Node* node, const Value& value);
  Value read_value(const JsonValue& output) const;
  void take(const JsonValue& name, Node* from, size_t index, const Value& value);
  void take_members(const JsonValue& members, Node* list);
  Argument subgraph(const JsonValue& value);
  Argument sym(const JsonValue& value);
  std::string free_name(std::string_view base) const;
  void define(const JsonValue& name, Node* node);

  JsonValue json_;
  Graph& graph_;
  int depth_;
  std::unordered_map<std::string, Node*> values_;
  std::vector<Node*> inputs_;
};

}  // namespace vitrine::aot
