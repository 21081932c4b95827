#include "backends/xnnpack/runtime/execution/operator_times.h"

#include <algorithm>

#include "runtime/platform/clock.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS
extern "C" {
#include "xnnpack/subgraph.h"
}
#endif

namespace vitrine::xnnpack {
namespace {

Result<size_t> query_size(xnn_runtime_t runtime, xnn_profile_info what) {
  size_t size = 0;
  // With a size of 0, XNNPACK returns the size that it needs.
  const xnn_status status = xnn_get_runtime_profiling_info(runtime, what, 0, nullptr, &size);
  if (status != xnn_status_out_of_memory && status != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK returned no profiling information");
  }
  return size;
}

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

// Fused and removed nodes keep an entry without objects.
bool runs(const xnn_operator_data& data) { return data.operator_objects[0] != nullptr; }

uint32_t next_node(xnn_runtime_t runtime, size_t& position) {
  while (position < runtime->num_ops && !runs(runtime->opdata[position])) ++position;
  return position < runtime->num_ops ? runtime->opdata[position++].id : 0;
}

#else

uint32_t next_node(xnn_runtime_t, size_t& position) { return static_cast<uint32_t>(position++); }

#endif

}  // namespace

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

bool operator_times_are_measured() { return true; }

uint32_t count_subgraph_nodes(xnn_subgraph_t subgraph) { return subgraph->num_nodes; }

std::span<uint64_t> OperatorTimes::start() {
  start_ns_ = platform::quick_now_ns();
  start_ticks_ = platform::ticks();
  return ends_;
}

// Converts ticks to ns in proportion to the time between two readings of the clock.
std::span<const uint64_t> OperatorTimes::stop() {
  const uint64_t all_ticks = platform::ticks() - start_ticks_;
  const uint64_t all_ns = platform::quick_now_ns() - start_ns_;
  const double ns_a_tick = static_cast<double>(all_ns) / static_cast<double>(all_ticks | 1);
  uint64_t previous = start_ns_;
  for (uint64_t& end : ends_) {
    const auto ns = static_cast<uint64_t>(static_cast<double>(end - start_ticks_) * ns_a_tick);
    // The counters of two processors may differ.
    end = std::max(previous, start_ns_ + std::min(ns, all_ns));
    previous = end;
  }
  return ends_;
}

#else

bool operator_times_are_measured() { return false; }

uint32_t count_subgraph_nodes(xnn_subgraph_t) { return 0; }

std::span<uint64_t> OperatorTimes::start() {
  start_ns_ = platform::quick_now_ns();
  return {};
}

std::span<const uint64_t> OperatorTimes::stop() {
  size_t size = 0;
  const xnn_status status =
      xnn_get_runtime_profiling_info(runtime_, xnn_profile_info_operator_timing,
                                     ends_.size() * sizeof(uint64_t), ends_.data(), &size);
  if (status != xnn_status_success) return {};
  uint64_t previous = start_ns_;
  for (uint64_t& end : ends_) previous = end = previous + end * 1000;
  return ends_;
}

#endif

Result<OperatorTimes> OperatorTimes::create(xnn_runtime_t runtime) {
  OperatorTimes times;
  times.runtime_ = runtime;
  size_t count = 0;
  size_t ignored = 0;
  if (xnn_get_runtime_profiling_info(runtime, xnn_profile_info_num_operators, sizeof count, &count,
                                     &ignored) != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK returned no profiling information");
  }
  VITRINE_ASSIGN_OR_RETURN(const size_t size, query_size(runtime, xnn_profile_info_operator_name));
  VITRINE_RETURN_IF_ERROR(times.names_.resize(size + 1));
  if (size != 0 &&
      xnn_get_runtime_profiling_info(runtime, xnn_profile_info_operator_name, size,
                                     times.names_.data(), &ignored) != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK provides no operator names");
  }
  size_t position = 0;
  size_t offset = 0;
  VITRINE_RETURN_IF_ERROR(times.operators_.resize(count));
  for (Operator& each : times.operators_) {
    if (offset < size) each.name = times.names_.data() + offset;
    offset += each.name.size() + 1;
    each.node = next_node(runtime, position);
  }
  VITRINE_RETURN_IF_ERROR(times.ends_.resize(count));
#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS
  runtime->profiling = false;  // it was only needed for the names; XNNPACK's clock is slow
#endif
  return times;
}

}  // namespace vitrine::xnnpack
