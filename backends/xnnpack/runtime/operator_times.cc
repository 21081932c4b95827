#include "backends/xnnpack/runtime/operator_times.h"

#include <cstring>

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS
extern "C" {
#include "xnnpack/subgraph.h"
}
#endif

namespace vitrine::xnnpack {
namespace {

Result<size_t> query_size(xnn_runtime_t runtime, xnn_profile_info what) {
  size_t size = 0;
  // Asked with no room, it says how much it needs.
  const xnn_status status = xnn_get_runtime_profiling_info(runtime, what, 0, nullptr, &size);
  if (status != xnn_status_out_of_memory && status != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK gives no profiling information");
  }
  return size;
}

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

[[maybe_unused]] uint64_t to_ns(const timespec& stamp) {
  return static_cast<uint64_t>(stamp.tv_sec) * 1'000'000'000u +
         static_cast<uint64_t>(stamp.tv_nsec);
}
[[maybe_unused]] uint64_t to_ns(uint64_t stamp) { return stamp; }  // Apple's

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

void OperatorTimes::enable(bool enabled) { runtime_->profiling = enabled; }

std::span<const OperatorTime> OperatorTimes::read(uint64_t) {
  uint64_t previous = to_ns(runtime_->start_ts);
  size_t count = 0;
  for (size_t i = 0; i < runtime_->num_ops && count < times_.size(); ++i) {
    const xnn_operator_data& data = runtime_->opdata[i];
    if (!runs(data)) continue;
    uint64_t end = previous;
    for (size_t k = 0; k < XNN_MAX_OPERATOR_OBJECTS; ++k) {
      if (data.operator_objects[k] != nullptr) end = to_ns(data.end_ts[k]);
    }
    times_[count++] = {previous, end};
    previous = end;
  }
  return times_;
}

#else

bool operator_times_are_measured() { return false; }

uint32_t count_subgraph_nodes(xnn_subgraph_t) { return 0; }

void OperatorTimes::enable(bool) {}

std::span<const OperatorTime> OperatorTimes::read(uint64_t start_ns) {
  size_t size = 0;
  const xnn_status status = xnn_get_runtime_profiling_info(
      runtime_, xnn_profile_info_operator_timing, durations_.size() * sizeof(uint64_t),
      durations_.data(), &size);
  if (status != xnn_status_success) return {};
  uint64_t previous = start_ns;
  for (size_t i = 0; i < times_.size(); ++i) {
    times_[i] = {previous, previous + durations_[i] * 1000};
    previous = times_[i].end_ns;
  }
  return times_;
}

#endif

Result<OperatorTimes> OperatorTimes::create(xnn_runtime_t runtime) {
  OperatorTimes times;
  times.runtime_ = runtime;
  size_t count = 0;
  size_t ignored = 0;
  if (xnn_get_runtime_profiling_info(runtime, xnn_profile_info_num_operators, sizeof count, &count,
                                     &ignored) != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK gives no profiling information");
  }
  VITRINE_ASSIGN_OR_RETURN(const size_t size, query_size(runtime, xnn_profile_info_operator_name));
  VITRINE_RETURN_IF_ERROR(times.names_.resize(size + 1));
  if (size != 0 &&
      xnn_get_runtime_profiling_info(runtime, xnn_profile_info_operator_name, size,
                                     times.names_.data(), &ignored) != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK gives no operator names");
  }
  size_t position = 0;
  size_t offset = 0;
  VITRINE_RETURN_IF_ERROR(times.operators_.resize(count));
  for (Operator& each : times.operators_) {
    if (offset < size) each.name = times.names_.data() + offset;
    offset += std::strlen(each.name) + 1;
    each.node = next_node(runtime, position);
  }
  VITRINE_RETURN_IF_ERROR(times.times_.resize(count));
  VITRINE_RETURN_IF_ERROR(times.durations_.resize(count));
  return times;
}

}  // namespace vitrine::xnnpack
