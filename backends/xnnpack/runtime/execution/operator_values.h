// Passes the results of a delegate's operators to a ValueTracer. For a convolution with a fused
// clamp, the tracer receives only the clamped result. XNNPACK stores images with channels last. The
// tracer receives them with the model's order of dimensions and a dim order.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/execution/delegate_arguments.h"
#include "backends/xnnpack/runtime/execution/invocation.h"
#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/value_tracer.h"

namespace vitrine::xnnpack {

class OperatorValues final : public OperatorListener {
 public:
  // Call once, at load. `ids` contains XNNPACK's id of each value. `node_of_op` contains the node
  // of each operator, or kNone. `logged` contains the operators that the delegate logs. `graph`,
  // `runtime` and `logged` must outlive this object.
  Error load(const Graph& graph, xnn_runtime_t runtime, std::span<const uint32_t> ids,
             std::span<const uint32_t> node_of_op, std::span<const TracedOperator> logged);

  // Call before each traced run. `tracer` receives the results until the next call.
  void start(const BackendExecutionContext& context, ValueTracer& tracer,
             const DelegateArguments& arguments, DelegateArguments::Call call);
  void finished(size_t op) override;

 private:
  void find_layouts(const DelegateArguments& arguments, DelegateArguments::Call call);
  bool is_image(uint32_t value) const { return graph_->values[value].shape.rank == 4; }
  void propagate(const Node& node);
  void propagate_back(const Node& node);
  void record(size_t op, uint32_t id, uint32_t result);

  const Graph* graph_ = nullptr;
  xnn_runtime_t runtime_ = nullptr;
  std::span<const TracedOperator> logged_;
  CheckedVector<uint32_t> node_of_op_;
  CheckedVector<uint32_t> positions_;        // indexed by operator: position in the runtime
  CheckedVector<uint32_t> value_of_id_;      // indexed by XNNPACK's id: value of the graph, or
                                             // kNone
  CheckedVector<uint8_t> is_channels_last_;  // indexed by value of the graph; valid during a call
  ValueTracer* tracer_ = nullptr;
  TracedValue traced_;
};

}  // namespace vitrine::xnnpack
