// Measures the start and end times of the operators inside an XNNPACK runtime. Vitrine reads the
// operators from XNNPACK's private structures (runtime_access.h), and Invocation measures each
// operator. Builds without private headers (VITRINE_XNNPACK_PRIVATE_HEADERS=OFF) add up the
// durations of XNNPACK's public profiling call, which are whole microseconds, and do not know the
// nodes.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "runtime/core/checked_vector.h"
#include "runtime/platform/clock.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Returns false if the times are derived from XNNPACK's durations.
bool operator_times_are_measured();

class OperatorTimes {
 public:
  struct Operator {
    std::string_view name = "";  // XNNPACK's name, e.g. "Convolution (NHWC, F32) IGEMM"
    // The index of the subgraph node, or kNone if XNNPACK added the operator. Builds without
    // private headers store the index of the operator instead.
    uint32_t node = 0;
  };

  // `runtime` must have XNN_FLAG_BASIC_PROFILING and outlive this object. `nodes` holds the nodes
  // of the runtime's subgraph. `nodes` is empty if operators_keep_node_ids().
  static Result<OperatorTimes> create(xnn_runtime_t runtime, std::span<const SubgraphNode> nodes);

  // The operators in running order.
  std::span<const Operator> operators() const { return operators_; }
  // Call before the run. Returns one element per operator, in running order. The caller stores
  // platform::ticks() in an element when the operator ends. The span is empty if XNNPACK measures
  // the times.
  std::span<uint64_t> start();
  // Call after the run. Returns the end of each operator in ns. The first operator starts at
  // start_ns(), and every other operator starts at the end of the operator before. Empty if XNNPACK
  // reports no times. Does not allocate.
  std::span<const uint64_t> stop();
  uint64_t start_ns() const { return start_.ns; }

 private:
  std::span<const uint64_t> read_durations();

  xnn_runtime_t runtime_ = nullptr;
  CheckedVector<char> names_;  // zero-terminated names, one after the other
  CheckedVector<Operator> operators_;
  // The end time of each operator. stop() converts ticks to ns. Builds without private headers add
  // up XNNPACK's durations, which are in us.
  CheckedVector<uint64_t> ends_;
  platform::CounterReading start_;
};

}  // namespace vitrine::xnnpack
