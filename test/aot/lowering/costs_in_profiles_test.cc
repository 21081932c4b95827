// Expects that explain() and profiles report the same FLOPs for a call of each operator.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "aot/emit/record.h"
#include "aot/lowering/node_cost.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/cost.h"
#include "operators/operator.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::delegation {
namespace {

using aot::Argument;
using aot::Node;
using aot::Value;

// These operators have no FLOPs rule, because their costs depend on the values of tensors or
// because no rule can express the costs.
const std::set<std::string_view> kUncounted = {"aten::_fft_c2c",
                                               "aten::_fft_c2r",
                                               "aten::_fft_r2c",
                                               "aten::_unique2",
                                               "aten::_upsample_bicubic2d_aa",
                                               "aten::_upsample_bilinear2d_aa",
                                               "aten::convolution_backward",
                                               "aten::grid_sampler_2d",
                                               "aten::grid_sampler_3d",
                                               "aten::sort",
                                               "aten::sort.stable",
                                               "aten::topk",
                                               "aten::unique_consecutive",
                                               "aten::unique_dim",
                                               "llama::channelwise_gated_delta_rule",
                                               "llama::custom_quantized_sdpa",
                                               "llama::custom_sdpa",
                                               "llama::fast_hadamard_transform",
                                               "llama::gated_delta_rule",
                                               "llama::quantized_moe_ffn",
                                               "llama::sdpa_with_kv_cache",
                                               "torchao::_linear_8bit_act_4bit_weight",
                                               "torchao::_linear_8bit_act_8bit_weight"};

struct ProfileCostTest : testing::Test {
  aot::test::ProgramBuilder b;
  // All sizes differ, including those of results, so that the test fails if a rule uses a wrong
  // size.
  Node* x = b.input("x");
  Node* y = b.input("y");

  ProfileCostTest() {
    x->meta.value = aot::contiguous_spec(ScalarType::kFloat, {2, 3, 5, 7});
    y->meta.value = aot::contiguous_spec(ScalarType::kFloat, {11, 13, 17, 19});
  }

  // Returns an argument for a parameter. The first tensor argument is x, and all others are y. The
  // sizes of x and y may be invalid for the operator.
  Argument argument(const OperatorArgument& of) {
    Argument one;
    if (of.type == ArgumentType::kTensor) one = std::exchange(next_, y);
    if (of.type == ArgumentType::kInt) one = 23;
    if (of.type == ArgumentType::kFloat || of.type == ArgumentType::kScalar) one = 0.5;
    if (of.type == ArgumentType::kBool) one = false;
    if (of.type == ArgumentType::kString) one = "none";
    if (of.type == ArgumentType::kDtype) one = ScalarType::kFloat;
    return of.is_list ? Argument::list({one, one}) : one;
  }

  Node* call(const Operator& op) {
    next_ = x;
    aot::ArgumentList arguments;
    for (const OperatorArgument& each : op.arguments) {
      if (!each.has_default && !each.is_keyword_only) arguments.push_back(argument(each));
    }
    Node* node = b.call(op.target.c_str(), std::move(arguments));
    const Value result = aot::contiguous_spec(ScalarType::kFloat, {29, 31, 37, 41});
    node->meta.value = op.results.size() == 1 && !op.results[0].is_list
                           ? result
                           : Value(Value::Items(op.results.size(), result));
    return node;
  }

 private:
  Node* next_ = nullptr;
};

TEST_F(ProfileCostTest, CostInProfilesEqualsCostInExplainForEveryKernel) {
  std::vector<std::pair<const Operator*, Node*>> calls;
  for (const Operator& op : operators()) {
    if (op.kernel.empty()) continue;
    const bool makes_tensors = !op.results.empty() && op.results[0].type == ArgumentType::kTensor;
    if (makes_tensors) calls.emplace_back(&op, call(op));
    if (!makes_tensors) {
      EXPECT_EQ(op.flops.rule, FlopsRule::kNone) << op.name;
    }
  }
  EXPECT_GT(calls.size(), 200U);
  aot::Methods methods;
  methods.emplace("forward", b.finish({x}).copy());
  const etrecord::EdgeGraph graph =
      etrecord::parse_etrecord(aot::write_record(methods, {{"forward", {}}}))
          .methods.at("forward")
          .graph;
  ASSERT_EQ(graph.nodes.size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto& [op, node] = calls[i];
    // ETRecords contain view_copy instead of memory.view.
    const bool is_view = op->target == "memory.view";
    ASSERT_EQ(graph.nodes[i].target, is_view ? "aten.view_copy.default" : op->target);
    const std::optional<uint64_t> explained = cost_of(*node, {}).flops;
    EXPECT_EQ(explained.has_value(), !kUncounted.contains(op->name)) << op->name;
    const std::optional<double> profiled = inspector::flops_of(graph.nodes[i], graph);
    EXPECT_EQ(profiled.has_value(), explained.has_value()) << op->name;
    if (profiled && explained) {
      EXPECT_EQ(*profiled, static_cast<double>(*explained)) << op->name;
    }
  }
}

}  // namespace
}  // namespace vitrine::delegation
