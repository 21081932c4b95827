// The table of the node kinds that a payload may contain. A row holds the functions that decode a
// node, infer its shapes and define it for XNNPACK, and the accepted datatypes and flags. To add a
// kind, add a row.
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// A supported combination of datatypes. The last entry of `inputs` also applies to further inputs.
// The entry of a missing bias is ignored.
struct Signature {
  std::array<xnn_datatype, 3> inputs;
  std::array<xnn_datatype, 2> outputs;
};

// Fills in the parameters of a node. Its inputs and outputs are ids, not yet indices. A missing
// bias is kNone.
using DecodeNode = Error (*)(const void* table, Node& node);
// Checks the input shapes and the parameters that depend on them, then sets the output shapes.
// Attention also fails if the packed keys would exceed `max_bytes`.
using InferShape = Error (*)(const Node& node, std::span<Shape> shapes, size_t max_bytes);
// Returns an upper bound on the bytes of XNNPACK's tables for a node (operator_tables.h).
using TablesOfNode = uint64_t (*)(const Graph& graph, const Node& node,
                                  std::span<const Shape> shapes);
// Defines a node for XNNPACK. `ids` maps value indices to XNNPACK's ids.
using DefineNode = xnn_status (*)(xnn_subgraph_t subgraph, const Node& node,
                                  std::span<const uint32_t> ids);

struct NodeKind {
  const char* name;  // the union's member without "XNN"
  DecodeNode decode;
  std::span<const Signature> signatures;
  InferShape infer_shape;
  DefineNode define;
  int operation = 0;           // xnn_unary_operator or xnn_binary_operator, if `define` uses it
  uint32_t allowed_flags = 0;  // flags that the payload may set
  // For dynamically quantized inputs: the number of trailing dimensions that share a scale and a
  // zero point. 1: one scale per row of a matrix. 3: one scale per image of a batch.
  uint32_t nonbatch_dims = 1;
  bool accepts_bounds = false;
  // True if the second input is a filter and the optional third input is a bias. XNNPACK packs
  // constant filters and biases at load and does not read them again.
  bool has_weights = false;
  bool weights_must_be_constant = false;
  bool has_window = false;        // true for convolutions and poolings
  TablesOfNode tables = nullptr;  // null if the operator does not keep tables
};

inline bool is_kind(const Node& node, std::string_view name) { return node.kind->name == name; }

// Returns null for unknown tags.
const NodeKind* find_node_kind(schema::xnnpack::XNodeUnion tag);

}  // namespace vitrine::xnnpack
