#include "backends/xnnpack/runtime/execution/operator_times.h"

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {
namespace {

Result<size_t> query_size(xnn_runtime_t runtime, xnn_profile_info what) {
  size_t size = 0;
  // With size 0, XNNPACK returns the size of the buffer that it needs.
  const xnn_status status = xnn_get_runtime_profiling_info(runtime, what, 0, nullptr, &size);
  if (status != xnn_status_out_of_memory && status != xnn_status_success) {
    return Error::make(ErrorCode::kInternal, "XNNPACK returned no profiling information");
  }
  return size;
}

uint32_t id_at(std::span<const uint32_t> ids, size_t i) {
  return i < ids.size() ? ids[i] : XNN_INVALID_VALUE_ID;
}

class NodeSearch {
 public:
  NodeSearch(xnn_runtime_t runtime, std::span<const SubgraphNode> nodes)
      : runtime_(runtime), nodes_(nodes) {}

  uint32_t next() {
    if (!can_access_runtimes()) return static_cast<uint32_t>(position_++);
    while (position_ < operator_count(runtime_)) {
      const RuntimeOperator op = operator_at(runtime_, position_++);
      if (op.runs()) return operators_keep_node_ids() ? op.node : find(op);
    }
    return kNone;
  }

 private:
  // Finds the node of an operator. Operators are in the order of their nodes. Fusion may change the
  // input or the output, so the first search looks for a node of the same type with the same input
  // or output. Other optimizations may change the type, so the second search looks for any node
  // with the same output.
  uint32_t find(const RuntimeOperator& op) {
    const uint32_t input = id_at(op.inputs, 0);
    const uint32_t second_input = id_at(op.inputs, 1);
    const uint32_t output = id_at(op.outputs, 0);
    for (const bool same_type : {true, false}) {
      for (size_t i = first_; i < std::min(nodes_.size(), first_ + kMaxSkippedNodes); ++i) {
        const SubgraphNode& node = nodes_[i];
        const bool shares_input = node.input == input || (second_input != XNN_INVALID_VALUE_ID &&
                                                          node.second_input == second_input);
        if (same_type ? node.type == op.type && (node.output == output || shares_input)
                      : node.output == output) {
          first_ = i + 1;
          return static_cast<uint32_t>(i);
        }
      }
    }
    return kNone;
  }

  // Maximum number of nodes that a search examines, which makes the total time linear. XNNPACK
  // never fuses 256 nodes into one.
  static constexpr size_t kMaxSkippedNodes = 256;

  xnn_runtime_t runtime_;
  std::span<const SubgraphNode> nodes_;
  size_t position_ = 0;
  size_t first_ = 0;  // the first node after the nodes of earlier operators
};

}  // namespace

bool operator_times_are_measured() { return can_access_runtimes(); }

std::span<uint64_t> OperatorTimes::start() {
  start_ = platform::read_counter();
  return can_access_runtimes() ? std::span<uint64_t>(ends_) : std::span<uint64_t>();
}

std::span<const uint64_t> OperatorTimes::stop() {
  if (!can_access_runtimes()) return read_durations();
  platform::convert_ticks(start_, ends_);
  return ends_;
}

std::span<const uint64_t> OperatorTimes::read_durations() {
  size_t size = 0;
  const xnn_status status =
      xnn_get_runtime_profiling_info(runtime_, xnn_profile_info_operator_timing,
                                     ends_.size() * sizeof(uint64_t), ends_.data(), &size);
  if (status != xnn_status_success) return {};
  uint64_t previous = start_.ns;
  for (uint64_t& end : ends_) previous = end = previous + end * 1000;
  return ends_;
}

Result<OperatorTimes> OperatorTimes::create(xnn_runtime_t runtime,
                                            std::span<const SubgraphNode> nodes) {
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
  NodeSearch search(runtime, nodes);
  size_t offset = 0;
  VITRINE_RETURN_IF_ERROR(times.operators_.resize(count));
  for (Operator& each : times.operators_) {
    if (offset < size) each.name = times.names_.data() + offset;
    offset += each.name.size() + 1;
    each.node = search.next();
  }
  VITRINE_RETURN_IF_ERROR(times.ends_.resize(count));
  stop_profiling(runtime);  // profiling is needed only for the names, and XNNPACK's clock is slow
  return times;
}

}  // namespace vitrine::xnnpack
