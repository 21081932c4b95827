// Measures the start and end times of the operators inside an XNNPACK runtime.
//
// XNNPACK's public profiling call returns durations in whole microseconds, but neither start times
// nor node ids. So Vitrine reads the operators and their node ids from XNNPACK's private runtime
// structure (runtime_access.h), and Invocation runs the operators one by one. Builds without
// private headers (VITRINE_XNNPACK_PRIVATE_HEADERS=OFF) use the public call. In these builds, an
// operator's start time is the start of the run plus the durations of all earlier operators, and
// nodes are unknown.
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

// Returns true if the times of operators are measured, and false if they are derived from XNNPACK's
// durations.
bool operator_times_are_measured();

class OperatorTimes {
 public:
  struct Operator {
    std::string_view name = "";  // from XNNPACK's profiling, e.g. "Convolution (NHWC, F32) IGEMM"
    // The index of the subgraph node, or kNone if XNNPACK added the operator. In builds without
    // private headers, this is the index of the operator.
    uint32_t node = 0;
  };

  // `runtime` must have been created with XNN_FLAG_BASIC_PROFILING and must outlive this object.
  // `nodes` holds the nodes of the runtime's subgraph. It is empty if operators_keep_node_ids() is
  // true.
  static Result<OperatorTimes> create(xnn_runtime_t runtime, std::span<const SubgraphNode> nodes);

  // The operators in running order.
  std::span<const Operator> operators() const { return operators_; }
  // Call before the run. Returns a span with one element per operator, in running order. The caller
  // must store platform::ticks() in the element of an operator when the operator ends. The span is
  // empty if XNNPACK measures the times.
  std::span<uint64_t> start();
  // Call after the run. Returns the end of each operator in ns. An operator starts when the
  // operator before it ends, and the first operator starts at start_ns(). Empty if XNNPACK reports
  // no times. Does not allocate.
  std::span<const uint64_t> stop();
  uint64_t start_ns() const { return start_.ns; }

 private:
  std::span<const uint64_t> read_durations();

  xnn_runtime_t runtime_ = nullptr;
  CheckedVector<char> names_;  // zero-terminated, one after the other
  CheckedVector<Operator> operators_;
  // The end time of each operator, in ticks until stop() converts it to ns. In builds without
  // private headers, stop() computes the end times from XNNPACK's durations, which are in us.
  CheckedVector<uint64_t> ends_;
  platform::CounterReading start_;
};

}  // namespace vitrine::xnnpack
