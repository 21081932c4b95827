#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(KeepOps, KeepsCallsThatTheFilterAccepts) {
  const auto lower = [](const EdgeOptions& options) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {2, 4});
    Node* first = build.call("aten.linear.default", {x, build.parameter("a", {4, 4})});
    Node* second = build.call("aten.linear.default", {first, build.parameter("b", {3, 4})});
    ExportedProgram program = build.finish({build.call("aten.hardswish.default", {second})});
    to_edge(program, options);
    std::string names;
    for (const Node& node : program.graph->nodes()) {
      if (node.is_call()) names += std::string(node.target().op()) + " ";
    }
    return std::pair(std::move(program), names);
  };
  EdgeOptions options;
  OpsToKeep keep;
  keep.targets = {"aten.linear.default", "aten.add.Tensor", "aten.permute.default"};
  keep.keeps = [](const Node& node) {
    return !node.target().is("aten.linear.default") || node.tensor()->sizes.back() == SymInt(3);
  };
  options.ops_to_keep = {keep};
  const auto [program, names] = lower(options);
  EXPECT_EQ(
      names,
      "permute_copy mm linear _to_dim_order_copy add clamp clamp mul _to_dim_order_copy div ");
  EXPECT_THROW(require_kept_ops_lowered(program, options.ops_to_keep), AotError);
  EXPECT_NO_THROW(require_kept_ops_lowered(program, {}));
  options = {};
  options.preserve_ops = {"aten.hardswish.default"};
  EXPECT_EQ(lower(options).second, "permute_copy mm permute_copy mm hardswish ");
}

TEST(KeepOps, AcceptsUndelegatedQuantizeCalls) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 4});
  const char* quantize = "quantized_decomposed.quantize_per_tensor.default";
  ExportedProgram program =
      build.finish({build.call(quantize, {x, 0.5, 0, -128, 127, ScalarType::kChar})});
  EdgeOptions options;
  options.ops_to_keep = {{{quantize}, {}}};
  to_edge(program, options);
  EXPECT_NO_THROW(require_kept_ops_lowered(program, options.ops_to_keep));
}

}  // namespace
}  // namespace vitrine::aot
