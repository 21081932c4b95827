// Computes upper bounds on the heap memory of XNNPACK's operators, and charges this memory to the
// method's budget. The formulas follow XNNPACK 4ea82e5. Most of this memory is in pointer tables: a
// convolution or pooling has a pointer for each element of its window at each output pixel.
#pragma once

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Estimates the heap bytes of a loaded delegate, without tensors and weights. The constants are
// measurements of typical nodes, rounded up.
uint64_t heap_bytes(const Graph& graph);

// These functions return upper bounds on the bytes of a node's tables, or UINT64_MAX on overflow.
// `shapes` is indexed by value.
uint64_t convolution_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t transposed_convolution_tables(const Graph& graph, const Node& node,
                                       std::span<const Shape> shapes);
uint64_t pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t argmax_pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t average_pooling_tables(const Graph& graph, const Node& node,
                                std::span<const Shape> shapes);
uint64_t global_pooling_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);
uint64_t resize_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes);

// True for dynamically quantized convolutions, which keep a padding buffer per image.
bool has_padding_for_each_image(const Graph& graph, const Node& node);

// Charges a delegate's operator tables to its method's budget.
class OperatorTables {
 public:
  OperatorTables() = default;
  OperatorTables(const OperatorTables&) = delete;
  OperatorTables& operator=(const OperatorTables&) = delete;
  ~OperatorTables();

  // Call once, before grow(). `memory` may be null; otherwise it must outlive this object.
  Error bind(const Graph& graph, Budget* memory);
  // Call before a reshape. Charges the larger of the old and the new size of each node's tables,
  // because old and new tables exist during the reshape. If the budget is too small, charges
  // nothing and returns OutOfResources.
  Error grow(const Graph& graph, std::span<const Shape> shapes);
  // Call after a successful reshape. Gives back the bytes that the nodes no longer need.
  void settle(const Graph& graph, std::span<const Shape> shapes);
  // Call after the operators were deleted. Gives all charged bytes back to the budget.
  void clear();
  // The size of the tables in bytes.
  uint64_t bytes() const { return bytes_; }

 private:
  static uint64_t bytes_of(const Graph& graph, size_t i, std::span<const Shape> shapes);

  Budget* memory_ = nullptr;
  CheckedVector<uint64_t> held_;  // indexed by node
  uint64_t bytes_ = 0;            // sum of held_
};

}  // namespace vitrine::xnnpack
