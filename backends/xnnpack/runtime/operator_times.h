// What ran when, inside an invoked XNNPACK runtime: the one place that looks into XNNPACK.
//
// XNNPACK's public profiling call gives whole microseconds, no start times and no node ids. Its own
// runtime structure holds the operators and the nodes that they were made for; we build XNNPACK
// from pinned source, so the structure is known, and Invocation runs the operators one by one. With
// another build (VITRINE_XNNPACK_PRIVATE_HEADERS=OFF) the public call stands in: durations are cut
// to microseconds, starts are derived, and nodes are unknown.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/core/checked_vector.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Whether times are measured; otherwise they are derived from XNNPACK's durations.
bool operator_times_are_measured();

// How many nodes a subgraph holds: one definition may make several. 0 if that cannot be known.
uint32_t count_subgraph_nodes(xnn_subgraph_t subgraph);

class OperatorTimes {
 public:
  struct Operator {
    std::string_view name = "";  // as XNNPACK's profiling has it: "Convolution (NHWC, F32) IGEMM"
    uint32_t node = 0;  // the subgraph's node; its number in running order if nodes are unknown
  };

  // `runtime` was created with XNN_FLAG_BASIC_PROFILING and outlives this object.
  static Result<OperatorTimes> create(xnn_runtime_t runtime);

  // In running order.
  std::span<const Operator> operators() const { return operators_; }
  // Before an invoke. Gives the places for platform::ticks() at each operator's end, in running
  // order; none if XNNPACK keeps the times.
  std::span<uint64_t> start();
  // After it: when each operator ended, in ns. It began when the one before ended, the first at
  // start_ns(). Empty if XNNPACK does not tell. No allocation.
  std::span<const uint64_t> stop();
  uint64_t start_ns() const { return start_ns_; }

 private:
  xnn_runtime_t runtime_ = nullptr;
  CheckedVector<char> names_;  // zero-terminated, one after the other
  CheckedVector<Operator> operators_;
  // Ticks, or microseconds that each takes, for the public call; then ns.
  CheckedVector<uint64_t> ends_;
  uint64_t start_ns_ = 0;
  [[maybe_unused]] uint64_t start_ticks_ = 0;
};

}  // namespace vitrine::xnnpack
