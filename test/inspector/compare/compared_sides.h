// Builds small traces and their profiles for tests of comparisons.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/comparison.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::test {

struct TracedSide {
  etdump::EtDump trace;
  inspector::Profile profile;
};

inline TracedSide side_of(TraceBuilder& trace, const etrecord::EtRecord* record = nullptr) {
  TracedSide side{trace.dump(), {}};
  side.profile = test::joined_profile(side.trace, record);
  return side;
}

inline inspector::Comparison compare(const TracedSide& a, const TracedSide& b,
                                     bool is_paired = false) {
  return inspector::compare_profiles(a.profile, b.profile, is_paired);
}

// Adds a run of kernels with these names and times, at instructions 0, 1, ...
using Kernels = std::vector<std::pair<std::string, uint64_t>>;
inline void run_kernels(TraceBuilder& trace, const Kernels& kernels) {
  int32_t instruction = 0;
  for (const auto& [name, ns] : kernels) trace.kernel(instruction++, name, ns);
  trace.end_run();
}

// Returns the side of a program that runs these kernels once.
inline TracedSide kernel_side(const Kernels& kernels) {
  TraceBuilder trace;
  run_kernels(trace, kernels);
  return side_of(trace);
}

// A row group with the rows of A and the rows of B.
using RowPair = std::pair<std::vector<size_t>, std::vector<size_t>>;
template <class Groups>
std::vector<RowPair> rows_of(const Groups& groups) {
  std::vector<RowPair> rows;
  for (const auto& group : groups) rows.emplace_back(group.rows_a, group.rows_b);
  return rows;
}

inline void expect_sums(const inspector::Comparison& comparison) {
  double a = comparison.unattributed.a.avg, b = comparison.unattributed.b.avg;
  for (const inspector::ComparedOp& op : comparison.ops) {
    a += op.a.avg;
    b += op.b.avg;
  }
  EXPECT_DOUBLE_EQ(a, comparison.wall.a.avg);
  EXPECT_DOUBLE_EQ(b, comparison.wall.b.avg);
}

inline const std::vector<NodeText> kNet = {{"conv", "aten.convolution.default", 1, {}, "c"},
                                           {"norm", "aten.batch_norm.default", 2, {"conv"}, "n"},
                                           {"relu", "aten.relu.default", 3, {"norm"}, "r"},
                                           {"add", "aten.add.Tensor", 4, {"relu"}, "a"}};

inline TracedSide portable_net(const std::vector<NodeText>& nodes = kNet,
                               const std::string& handles = R"({"0": 1, "1": 2, "2": 3, "3": 4})") {
  TraceBuilder trace;
  for (int i = 0; i < 2; ++i) {
    run_kernels(trace, {{"aten::convolution.out", 400},
                        {"aten::batch_norm.out", 200},
                        {"aten::relu.out", 100},
                        {"aten::add.out", 50}});
  }
  const etrecord::EtRecord record = record_of(nodes, handles);
  return side_of(trace, &record);
}

// The ops norm and relu are folded into the convolution, and a layout change comes before the
// convolution.
inline TracedSide delegated_net() {
  TraceBuilder trace;
  for (int i = 0; i < 2; ++i) {
    trace.delegate(0, "XnnpackBackend",
                   {{.id = 65535, .metadata = "Transpose", .ns = 30},
                    {.id = 1, .metadata = "Convolution (NHWC, F32) IGEMM", .ns = 140},
                    {.id = 4, .metadata = "Binary Elementwise (ND)", .ns = 25}});
    trace.end_run();
  }
  const etrecord::EtRecord record = record_of(
      kNet, R"({"0": [1, 2, 3, 4]})", R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
  return side_of(trace, &record);
}

}  // namespace vitrine::test
