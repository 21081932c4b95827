// Reads the Graph struct of torch.export's schema.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "aot/graph/graph.h"
#include "base/json.h"

namespace vitrine::aot {

class GraphReader {
 public:
  // `json` and `graph` must outlive the reader. `depth` is the number of enclosing graphs.
  GraphReader(const JsonValue& json, Graph& graph, int depth = 0);

  // Reads the graph. `literal_names` has one string per input: the name of a literal, or an empty
  // string. The signature contains these names. For subgraphs, `literal_names` is empty.
  void read(const std::vector<std::string>& literal_names);

  // Reads an Argument union: a literal, or a reference to a value that has been read before.
  Argument argument(const JsonValue& value);
  // Returns the node of a value. Throws an error with the position of `name` if the value is
  // unknown.
  Node* value_of(const JsonValue& name) const;
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
  void add_getitem(const JsonValue& name, Node* from, size_t index, const Value& value);
  void add_getitems(const JsonValue& tensors, Node* list);
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
