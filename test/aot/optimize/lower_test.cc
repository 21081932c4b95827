// Tests of complete lowering with --optimize.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "aot/graph/aot_error.h"
#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "examples/models/layers.h"
#include "formats/etrecord/etrecord.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A model with attention. The lowering decomposes the attention in the same way as torch: it scales
// both operands of the first product, and its softmax returns zeros for rows that are completely
// -inf.
ExportedProgram attention() {
  Net build({1, 6, 16});
  const auto heads = [&](std::string_view name) {
    Node* y = nn::linear(build, name, build.x, 16);
    y = build.call("aten.view.default", {y, std::vector<int64_t>{1, 6, 2, 8}});
    return build.call("aten.transpose.int", {y, 1, 2});
  };
  Node* query = heads("q");
  Node* key = heads("k");
  Node* value = heads("v");
  Node* y = build.call("aten.scaled_dot_product_attention.default", {query, key, value});
  y = build.call("aten.transpose.int", {y, 1, 2});
  y = build.call("aten.reshape.default", {y, std::vector<int64_t>{1, 6, 16}});
  y = build.call("aten.add.Tensor", {build.x, nn::linear(build, "out", y, 16)});
  return build.finish({nn::layer_norm(build, "norm", y)});
}

LoweredModel lower_forward(ExportedProgram program, LowerOptions options, bool delegates = false) {
  if (delegates) options.partitioners = {std::make_shared<XnnpackPartitioner>()};
  Methods methods;
  methods.emplace("forward", std::move(program));
  return lower(std::move(methods), options);
}

LoweredModel lowered(bool optimize, bool delegates) {
  LowerOptions options;
  options.optimize = optimize;
  options.make_record = true;
  return lower_forward(attention(), std::move(options), delegates);
}

const MethodDebugInfo& info_of(const LoweredModel& model) {
  return model.emitted.debug_info.at("forward");
}

class Optimized : public testing::TestWithParam<bool> {};

TEST_P(Optimized, ProgramsMakeFewerCallsWithoutMoreMemory) {
  const LoweredModel stock = lowered(false, GetParam());
  const LoweredModel better = lowered(true, GetParam());
  EXPECT_LE(info_of(better).planned_bytes, info_of(stock).planned_bytes);
  EXPECT_LT(info_of(better).handles.size(), info_of(stock).handles.size());
  EXPECT_THAT(stock.changes, IsEmpty());
  EXPECT_THAT(better.changes.at("forward"),
              Contains(Field(&Change::what, StartsWith("safe softmax"))));
  EXPECT_THAT(better.changes.at("forward"),
              Contains(Field(&Change::what, StartsWith("scale merged"))));
}

// The ETRecord names the call and the module for every debug handle that the program can log.
TEST_P(Optimized, RecordHasSourceOfEveryCall) {
  const LoweredModel better = lowered(true, GetParam());
  const auto record = etrecord::parse_etrecord(better.record);
  std::set<uint32_t> known;
  bool has_module = false;
  for (const etrecord::EdgeNode& node : record.methods.at("forward").graph.nodes) {
    known.insert(node.debug_handle);
    has_module |= node.module_path == "norm";
  }
  EXPECT_TRUE(has_module);
  size_t count = 0;
  const auto expect_known = [&](const std::vector<uint32_t>& handles) {
    for (const uint32_t handle : handles) {
      EXPECT_TRUE(known.contains(handle)) << handle;
      ++count;
    }
  };
  for (const auto& [instruction, handles] : info_of(better).handles) expect_known(handles);
  for (const auto& [instruction, delegate] : info_of(better).delegates) {
    for (const auto& [identifier, handles] : delegate.map) expect_known(handles);
  }
  EXPECT_GT(count, 6U);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDelegates, Optimized, testing::Bool());

// Attention of 4 queries to 16 keys, followed by self-attention of the result.
ExportedProgram two_attentions() {
  ModelBuilder build("Attentions");
  Node* query = build.input("query", ScalarType::kFloat, {1, 2, 4, 8});
  Node* key = build.input("key", ScalarType::kFloat, {1, 2, 16, 8});
  Node* crossed = build.call("aten.scaled_dot_product_attention.default", {query, key, key});
  return build.finish(
      {build.call("aten.scaled_dot_product_attention.default", {crossed, crossed, crossed})});
}

TEST(OptimizedLowering, ReportsReplacedAttention) {
  const auto lowered_with = [](AttentionOperator attention, bool delegates) {
    LowerOptions options;
    options.optimize = true;
    options.attention = attention;
    return lower_forward(two_attentions(), std::move(options), delegates);
  };
  const auto replaced = [](size_t count) {
    return Contains(AllOf(Field(&Change::what, StartsWith("attention replaced by")),
                          Field(&Change::count, count)));
  };
  const LoweredModel kernels = lowered_with(AttentionOperator::kAuto, false);
  EXPECT_THAT(kernels.changes.at("forward"), replaced(2));
  EXPECT_THAT(kernels.notes, IsEmpty());
  const LoweredModel delegated = lowered_with(AttentionOperator::kAuto, true);
  EXPECT_THAT(delegated.changes.at("forward"), replaced(1));
  EXPECT_THAT(delegated.notes, ElementsAre(HasSubstr("4 queries and 4 keys")));
  const LoweredModel aten = lowered_with(AttentionOperator::kAten, true);
  EXPECT_THAT(aten.changes.at("forward"),
              Not(Contains(Field(&Change::what, StartsWith("attention")))));
}

// The attention is too large for custom_sdpa to be faster.
TEST(OptimizedLowering, AutomaticChoiceDoesNotReplaceLargeAttention) {
  const auto lowered_with = [](AttentionOperator attention) {
    Net build({1, 2, 40, 8});
    Node* y = build.call("aten.scaled_dot_product_attention.default", {build.x, build.x, build.x});
    LowerOptions options;
    options.attention = attention;
    return lower_forward(build.finish({y}), std::move(options));
  };
  EXPECT_EQ(lowered_with(AttentionOperator::kAuto).emitted.pte,
            lowered_with(AttentionOperator::kAten).emitted.pte);
}

TEST(OptimizedLowering, IsDeterministic) {
  EXPECT_EQ(lowered(true, true).emitted.pte, lowered(true, true).emitted.pte);
}

// torch.export sets no maximum for Dim.DYNAMIC and Dim.AUTO.
TEST(Lowering, SetsMissingMaximaOfDynamicSizes) {
  const auto made = [](std::vector<DynamicBound> bounds) {
    ModelBuilder build("Unbounded");
    Node* x = build.input("x", ScalarType::kFloat, {build.dynamic_size(2, 8), 4});
    ExportedProgram program = build.finish({build.call("aten.relu.default", {x})});
    program.range_constraints.at("s0").max.reset();
    LowerOptions options;
    options.bounds = std::move(bounds);
    return lower_forward(std::move(program), std::move(options));
  };
  const LoweredModel assumed = made({});
  EXPECT_THAT(assumed.notes, ElementsAre(HasSubstr("x.0 was exported without a maximum: assuming "
                                                   "at most 512; set it with --max-size x.0=N")));
  EXPECT_EQ(info_of(assumed).planned_bytes, 2 * 512 * 4 * sizeof(float));
  for (const char* given : {"x.0=16", "s0=16"}) {
    const LoweredModel bounded = made({parse_max_size(given)});
    EXPECT_THAT(bounded.notes, IsEmpty());
    EXPECT_EQ(info_of(bounded).planned_bytes, 2 * 16 * 4 * sizeof(float));
  }
  EXPECT_ERROR(AotError, made({parse_max_size("x.0=1")}),
               "not within the bounds of the export, 2 to any");
}

}  // namespace
}  // namespace vitrine::aot
