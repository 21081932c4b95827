// Reads the Graph table of an ExecuTorch Native model.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aot/graph/graph.h"
#include "formats/delegates/flat_table.h"

namespace vitrine::aot {

// Reads the dtype and sizes of a TensorMeta. Throws an ImportError that begins with `place` for
// dynamic dims and quantized tensors.
TensorSpec read_native_meta(const delegates::FlatTable& meta, const std::string& place);

class NativeGraphReader {
 public:
  // The arguments must outlive the reader. Errors start with `place`: "model.ptn: method forward".
  // `depth` is the number of enclosing graphs.
  NativeGraphReader(const delegates::FlatTable& table, Graph& graph, std::string place,
                    int depth = 0);

  // All functions throw ImportError if a name is undefined or defined twice.

  // Adds a placeholder for an input or weight.
  Node* add_input(std::string_view name, TensorSpec spec);
  // Adds a placeholder with the spec that the graph's tensor_values contain.
  Node* add_input(std::string_view name) { return add_input(name, spec_of(name)); }
  // Reads the nodes and the outputs. All inputs must have been added before.
  void read();
  Node* value_of(std::string_view name) const;
  TensorSpec spec_of(std::string_view name) const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void define(std::string_view name, Node* node);
  void read_node(const delegates::FlatTable& table);
  void read_arguments(const delegates::FlatTable& table, Target target, ArgumentList& args,
                      ArgumentMap& kwargs);
  void read_results(const delegates::FlatTable& table, Node* node, bool is_tuple);
  Value read_result(const delegates::FlatTable& output) const;
  void add_getitem(std::string_view name, Node* from, size_t index, const Value& value);
  Argument argument(const delegates::FlatTable& wrapped);
  Argument subgraph(const delegates::FlatTable& table);

  const delegates::FlatTable& table_;
  Graph& graph_;
  std::string place_;
  int depth_;
  std::string node_;  // the node that is being read, for errors
  std::unordered_map<std::string_view, delegates::FlatTable> metas_;
  std::unordered_map<std::string_view, Node*> values_;
};

}  // namespace vitrine::aot
