// What XNNPACK's operators keep on the heap: bounds, by formulas that follow XNNPACK 4ea82e5, and
// what a delegate takes for them from its method's budget.
//
// The largest part are tables that an operator makes when it is reshaped: a convolution or pooling
// has a pointer for each element of its window at each output pixel.
#pragma once

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// What a delegate with this graph keeps on the heap from its load on, beside tensors and weights:
// XNNPACK's operators and the lists of both. Rounded up from what typical nodes were measured to
// take.
uint64_t heap_bytes(const Graph& graph);

// The bounds of tables, for the node table: of a node with these shapes, by value index. The
// largest number where that would be exceeded.
uint64_t convolution_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t transposed_convolution_tables(const Graph& graph, const Node& node,
                                       std::span<const Shape> shapes);
uint64_t pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t argmax_pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t average_pooling_tables(const Graph& graph, const Node& node,
                                std::span<const Shape> shapes);
uint64_t global_pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t resize_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);

// Whether it is a convolution that is quantised dynamically: these keep a list of paddings, one for
// each image of a batch.
bool has_padding_for_each_image(const Graph& graph, const Node& node);

class OperatorTables {
 public:
  OperatorTables() = default;
  OperatorTables(const OperatorTables&) = delete;
  OperatorTables& operator=(const OperatorTables&) = delete;
  ~OperatorTables();

  // Once. `memory` may be null, and outlives this.
  Error bind(const Graph& graph, Budget* memory);
  // Before a reshape, which goes node by node: takes what each needs now or before, whichever is
  // more. OutOfResources, and takes nothing, if there is not as much.
  Error grow(const Graph& graph, std::span<const Shape> shapes);
  // After a reshape that went well: gives back what the nodes need no more.
  void settle(const Graph& graph, std::span<const Shape> shapes);
  // The operators are gone.
  void clear();
  // What is taken, or would be with a budget.
  uint64_t bytes() const { return bytes_; }

 private:
  static uint64_t bytes_of(const Graph& graph, size_t i, std::span<const Shape> shapes);

  Budget* memory_ = nullptr;
  CheckedVector<uint64_t> held_;  // by node
  uint64_t bytes_ = 0;            // their sum
};

}  // namespace vitrine::xnnpack
