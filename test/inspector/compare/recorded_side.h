// Builds runs that record values, for tests that compare values.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "inspector/compare/value_comparison.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::test {

inline const std::vector<NodeText> kRecordedNet = {
    {"conv", "aten.convolution.default", 1, {}, "c", {2}},
    {"relu", "aten.relu.default", 2, {"conv"}, "r", {2}},
    {"add", "aten.add.Tensor", 3, {"relu"}, "a", {2}},
    {"mul", "aten.mul.Tensor", 4, {"add", "relu"}, "m", {2}}};

// A run that records values, and its profile.
class RecordedSide {
 public:
  void kernel(int32_t instruction, const std::string& name) {
    trace_.kernel(instruction, name, 10);
  }
  void delegate(int32_t instruction, const std::vector<TraceBuilder::Operator>& operators) {
    trace_.delegate(instruction, "XnnpackBackend", operators);
  }
  // Records a float tensor of shape [n]. Call this function in the order in which the run computes
  // the values.
  void value(int32_t instruction, const std::vector<float>& elements, bool is_output = false) {
    const auto& kept = data_.emplace_back(elements);
    etdump::DebugTensor tensor{.dtype = ScalarType::kFloat,
                               .sizes = {static_cast<int64_t>(kept.size())},
                               .strides = {1},
                               .offset = 0,
                               .data = std::as_bytes(std::span(kept))};
    events_.push_back({.chain_index = is_output ? etdump::kUnset : 0,
                       .instruction_id = instruction,
                       .is_output = is_output,
                       .value = tensor,
                       .position = events_.size()});
  }
  void end(const std::vector<NodeText>& nodes, const std::string& handles,
           const std::string& delegates = "{}") {
    if (!nodes.empty()) record_ = record_of(nodes, handles, delegates);
    dump_ = trace_.dump();
    dump_.blocks.back().debug_events = events_;
    profile_ = test::joined_profile(dump_, nodes.empty() ? nullptr : &record_);
  }
  inspector::ValueRun run() const {
    const auto method = record_.methods.find("forward");
    return {profile_, dump_, method == record_.methods.end() ? nullptr : &method->second};
  }
  const inspector::Profile& profile() const { return profile_; }

 private:
  TraceBuilder trace_;
  std::deque<std::vector<float>> data_;
  std::vector<etdump::DebugEvent> events_;
  etrecord::EtRecord record_;
  etdump::EtDump dump_;
  inspector::Profile profile_;
};

// Runs all four ops as kernels. Adds `error` to the results of the relu and of all later ops.
inline RecordedSide portable_run(
    float error = 0, const std::vector<NodeText>& nodes = kRecordedNet,
    const std::string& handles = R"({"0": 1, "1": 2, "2": 3, "3": 4})") {
  RecordedSide side;
  side.kernel(0, "aten::convolution.out");
  side.value(0, {-1, 2});
  side.kernel(1, "aten::relu.out");
  side.value(1, {0, 2 + error});
  side.kernel(2, "aten::add.out");
  side.value(2, {1, 3 + error});
  side.kernel(3, "aten::mul.out");
  side.value(3, {0, 6 + error});
  side.value(0, {0, 6 + error}, true);
  side.end(nodes, handles);
  return side;
}

// Runs conv, relu and add in one delegate, which returns the results of relu and add to the kernel
// mul. Adds `error` to the results of add and mul.
inline RecordedSide delegated_run(float error = 0) {
  RecordedSide side;
  side.delegate(
      0, {{.id = 1, .metadata = "Convolution", .ns = 10}, {.id = 3, .metadata = "Add", .ns = 5}});
  side.value(0, {0, 2});
  side.value(0, {1, 3 + error});
  side.kernel(1, "aten::mul.out");
  side.value(1, {0, 6 + error});
  side.value(0, {0, 6 + error}, true);
  side.end(kRecordedNet, R"({"0": [1, 2, 3], "1": 4})",
           R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
  return side;
}

inline inspector::ValueComparison compare(const RecordedSide& a, const RecordedSide& b) {
  return inspector::compare_values(a.run(), b.run(), 40);
}

inline std::vector<std::string> ops_of(const inspector::ValueComparison& comparison) {
  std::vector<std::string> ops;
  for (const auto& value : comparison.values) ops.push_back(value.node_op);
  return ops;
}

}  // namespace vitrine::test
