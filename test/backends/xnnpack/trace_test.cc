// Tests the records that a tracer receives: first the operator map, and then one record for each
// operator that ran.
#include <gmock/gmock.h>

#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "runtime/platform/clock.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

constexpr uint32_t kInserted = 65535;

class TraceTest : public DelegateTest {
 protected:
  void SetUp() override { tracer = &recorded; }

  std::string operator_map_of(PayloadBuilder& b) {
    load(b);
    return std::string(recorded.records.empty() ? "" : recorded.metadata_of(recorded.records[0]));
  }

  RecordingTracer recorded;
};

// The network consists of a layout change, padding, a convolution, a clamp, an addition with
// bounds, and another layout change.
void make_network(PayloadBuilder& b) {
  const uint32_t x = b.input({1, 2, 4, 4}), nhwc = b.internal({1, 4, 4, 2});
  const uint32_t padded = b.internal({1, 6, 6, 2}), convolved = b.internal({1, 4, 4, 2});
  const uint32_t clamped = b.internal({1, 4, 4, 2}), added = b.internal({1, 4, 4, 2});
  const uint32_t y = b.output({1, 2, 4, 4});
  b.transpose({0, 2, 3, 1}, x, nhwc);
  b.pad({0, 1, 1, 0}, {0, 1, 1, 0}, 0, nhwc, padded);
  b.convolution(Tag::XNNConv2d, window_of(3, 3, 2, 2), padded,
                b.constant({2, 3, 3, 2}, std::vector<float>(36, 1)), kInvalidId, convolved);
  b.clamp(convolved, clamped, {0, 6});
  b.binary(Tag::XNNAdd, clamped, clamped, added, Bounds{0, 10});
  b.transpose({0, 3, 1, 2}, added, y);
  b.handles = {kInserted, 3, 5, 8, 9, kInserted};
}

TEST_F(TraceTest, OperatorMapNamesTheOperatorOfEachNode) {
  PayloadBuilder b;
  make_network(b);
  EXPECT_EQ(operator_map_of(b), operator_map_head() +
                                    "\n"
                                    "0 StaticTranspose 65535 op=0 1\n"
                                    "1 StaticConstantPad 3 in=1 -\n"
                                    "2 Conv2d 5 op=1 -\n"
                                    "3 Clamp 8 in=1 -\n"
                                    "4 Add 9 op=2 -\n"
                                    "5 StaticTranspose 65535 op=4 4\n");
  const TraceRecord& operator_map = recorded.records[0];
  EXPECT_EQ(operator_map.kind, TraceRecord::Kind::kDelegateOperator);
  EXPECT_STREQ(operator_map.name, "xnnpack.plan");
  EXPECT_EQ(operator_map.delegate_debug_id, kUnsetDelegateDebugId);
  EXPECT_EQ(operator_map.chain_index, 0);
  EXPECT_EQ(operator_map.instruction_id, 7);
  EXPECT_LT(operator_map.start_ns, operator_map.end_ns);
}

TEST_F(TraceTest, LogsEveryOperatorWithItsHandle) {
  PayloadBuilder b;
  make_network(b);
  load(b);
  Tensor& in = factory.make<float>({1, 2, 4, 4}, std::vector<float>(32, 1));
  Tensor& out = factory.make(ScalarType::kFloat, {1, 2, 4, 4});
  for (int call = 0; call < 2; ++call) {
    recorded.records.clear();
    const uint64_t before = platform::now_ns();
    run({&in, &out});
    const uint64_t after = platform::now_ns();
    // XNNPACK clamps the sum with a separate operator. The name of that operator depends on the
    // version of XNNPACK.
    const std::pair<std::string, int32_t> expected[] = {{"Transpose (ND, X32)", 65535},
                                                        {"Convolution (NHWC, F32) IGEMM", 5},
                                                        {"Binary Elementwise (ND)|Add (ND)", 9},
                                                        {"Unary Elementwise (NC)|Clamp (NC)", 9},
                                                        {"Transpose (ND, X32)", 65535}};
    ASSERT_EQ(recorded.records.size(), std::size(expected));
    uint64_t previous = before;
    for (size_t i = 0; i < std::size(expected); ++i) {
      const TraceRecord& record = recorded.records[i];
      EXPECT_EQ(record.kind, TraceRecord::Kind::kDelegateOperator);
      EXPECT_EQ(record.name, nullptr);
      const std::string name(RecordingTracer::metadata_of(record));
      EXPECT_THAT('|' + expected[i].first + '|', HasSubstr('|' + name + '|'));
      EXPECT_EQ(record.delegate_debug_id, expected[i].second);
      EXPECT_EQ(record.instruction_id, 7);
      if (i == 0) {
        EXPECT_GE(record.start_ns, previous);
      } else {
        EXPECT_EQ(record.start_ns, previous);
      }
      EXPECT_GE(record.end_ns, record.start_ns);
      previous = record.end_ns;
    }
    EXPECT_LE(previous, after);
  }
}

TEST_F(TraceTest, LogsOneRecordForAConcatenation) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 2}), y = b.output({3, 2});
  b.concatenate(Tag::XNNConcatenate3, 0, {x, x, x}, y);
  load(b);
  run({&factory.make<float>({1, 2}, {1, 2}), &factory.make(ScalarType::kFloat, {3, 2})});
  ASSERT_EQ(recorded.records.size(), 2u);  // with the operator map
  EXPECT_EQ(recorded.records[1].delegate_debug_id, 1);
}

// Rows of some sizes are copied in a loop, and other rows with one library call per row.
TEST_F(TraceTest, ConcatenationsCopyRowsOfAnySize) {
  constexpr int32_t kRows = 37;
  for (const int32_t first : {1, 2, 3, 4, 5, 8, 12, 16, 20, 60, 64, 68, 100}) {
    SCOPED_TRACE(first);
    const int32_t second = first + 4;
    const auto a_columns = static_cast<uint32_t>(first), b_columns = static_cast<uint32_t>(second);
    PayloadBuilder b;
    const uint32_t left = b.input({kRows, a_columns}), right = b.input({kRows, b_columns});
    b.concatenate(Tag::XNNConcatenate2, 1, {left, right}, b.output({kRows, a_columns + b_columns}));
    load(b);
    std::vector<float> x(size_t{kRows} * a_columns), y(size_t{kRows} * b_columns);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    for (size_t i = 0; i < y.size(); ++i) y[i] = -static_cast<float>(i) - 1;
    Tensor& out = factory.make(ScalarType::kFloat, {kRows, first + second});
    run({&factory.make<float>({kRows, first}, x), &factory.make<float>({kRows, second}, y), &out});
    for (size_t i = 0; i < size_t{kRows} * (a_columns + b_columns); ++i) {
      const size_t row = i / (a_columns + b_columns), column = i % (a_columns + b_columns);
      ASSERT_EQ(out.data<float>()[i], column < a_columns ? x[row * a_columns + column]
                                                         : y[row * b_columns + column - a_columns])
          << i;
    }
  }
}

TEST_F(TraceTest, OperatorMapHandlesUnusedNodesAndLayoutChanges) {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 3}), y = b.output({2, 3}), z = b.output({3, 2});
  const uint32_t t1 = b.internal({3, 2}), t2 = b.internal({2, 3}), unused = b.internal({2, 3});
  b.transpose({1, 0}, x, t1);
  b.unary(Tag::XNNExp, x, unused);
  b.transpose({1, 0}, t1, t2);
  b.unary(Tag::XNNAbs, t2, y);
  b.transpose({1, 0}, x, z);
  b.handles = {kInserted, 4, kInserted, 6, kInserted};
  EXPECT_EQ(operator_map_of(b), operator_map_head() +
                                    "\n"
                                    "0 StaticTranspose 65535 op=0 3\n"
                                    "1 Exp 4 none -\n"
                                    "2 StaticTranspose 65535 op=1 3\n"
                                    "3 Abs 6 op=2 -\n"
                                    "4 StaticTranspose 65535 op=3 -\n");
}

// Tests the layout changes that ExecuTorch writes between two 1D convolutions.
TEST_F(TraceTest, LayoutChangesThatCancelDoNotRunIfSizesAreFixed) {
  const auto records = [&](bool fixed, bool has_convolution) {
    PayloadBuilder b;
    const uint32_t x = b.input({1, 1, 2, 3}), y = b.output({1, 1, 2, 3});
    const uint32_t negated = b.internal({1, 1, 2, 3}), t1 = b.internal({1, 3, 1, 2});
    const uint32_t r1 = b.internal({1, 3, 2}), r2 = b.internal({1, 3, 1, 2});
    const uint32_t t2 = b.internal({1, 1, 2, 3});
    if (has_convolution) {
      b.convolution(Tag::XNNConv2d, {.group_in = 3, .group_out = 3}, x,
                    b.constant<float>({3, 1, 1, 3}, {-1, 0, 0, 0, -1, 0, 0, 0, -1}),
                    b.constant<float>({3}, {0, 0, 0}), negated);
    } else {
      b.unary(Tag::XNNNegate, x, negated);
    }
    b.transpose({0, 3, 1, 2}, negated, t1);
    b.reshape({1, 3, 2}, t1, r1);
    b.reshape({1, 3, 1, 2}, r1, r2);
    b.transpose({0, 2, 3, 1}, r2, t2);
    b.unary(Tag::XNNAbs, t2, y);
    has_fixed_sizes = fixed;
    load(b);
    recorded.records.clear();
    if (!delegate) return size_t{0};
    Tensor& out = factory.make(ScalarType::kFloat, {1, 1, 2, 3});
    run({&factory.make<float>({1, 1, 2, 3}, {-1, 2, -3, 4, -5, 6}), &out});
    for (int i = 0; i < 6; ++i) EXPECT_EQ(out.data<float>()[i], static_cast<float>(i + 1));
    return recorded.records.size();
  };
  const bool can_cancel = xnnpack::OwnKernels::are_built();
  const size_t all = records(false, true);
  EXPECT_EQ(records(true, true), can_cancel ? 2U : all);
  EXPECT_GT(all, 2U);
  EXPECT_EQ(records(true, false), records(false, false));
}

TEST_F(TraceTest, LogsNothingIfLoadedWithoutATracer) {
  PayloadBuilder b;
  make_network(b);
  tracer = nullptr;
  load(b);
  tracer = &recorded;
  run({&factory.make(ScalarType::kFloat, {1, 2, 4, 4}),
       &factory.make(ScalarType::kFloat, {1, 2, 4, 4})});
  EXPECT_TRUE(recorded.records.empty());
}

}  // namespace
}  // namespace vitrine::test
