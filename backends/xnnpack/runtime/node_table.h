// Every kind of node that a blob may hold, one row each: how it is read, what it accepts, the shape
// of its result, and how it is defined for XNNPACK. Adding a kind is adding a row.
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Datatypes that go together. A node with more inputs than are listed repeats the last one; one
// with fewer (no bias) ignores the rest.
struct Signature {
  std::array<xnn_datatype, 3> inputs;
  std::array<xnn_datatype, 2> outputs;
};

// Fills a node's parameters; inputs and outputs get ids, not indices yet, kNone for "no bias".
using DecodeNode = Error (*)(const void* table, Node& node);
// Sets the shapes of the node's outputs, after checking those of its inputs and all parameters
// that depend on them. No packed keys get larger than `max_bytes`.
using InferShape = Error (*)(const Node& node, std::span<Shape> shapes, size_t max_bytes);
// What XNNPACK keeps for the node with these shapes (operator_tables.h).
using TablesOfNode = uint64_t (*)(const Graph& graph, const Node& node,
                                  std::span<const Shape> shapes);
// `ids`: XNNPACK's id of every value.
using DefineNode = xnn_status (*)(xnn_subgraph_t subgraph, const Node& node,
                                  std::span<const uint32_t> ids);

struct NodeKind {
  const char* name;  // the union's member without its "XNN"
  DecodeNode decode;
  std::span<const Signature> signatures;
  InferShape infer_shape;
  DefineNode define;
  int operation = 0;           // xnn_unary_operator or xnn_binary_operator, where `define` asks
  uint32_t allowed_flags = 0;  // of the blob's
  // How many dimensions of a dynamically quantised input share their parameters: a row of a
  // matrix, an image of a batch.
  uint32_t nonbatch_dims = 1;
  bool takes_bounds = false;  // output_min_max
  // The second input is a filter, the third a bias or missing. XNNPACK packs them when both are
  // constants, and reads them no more.
  bool has_weights = false;
  bool weights_must_be_constant = false;
  bool has_window = false;        // convolutions and poolings
  TablesOfNode tables = nullptr;  // null: none
};

// Null for unknown tags.
const NodeKind* find_node_kind(schema::xnnpack::XNodeUnion tag);

}  // namespace vitrine::xnnpack
