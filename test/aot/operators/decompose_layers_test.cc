// Decompositions of layers and transformers.
#include <gtest/gtest.h>

#include <cmath>

#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeLayers, ComputesRowReductions) {
  const std::vector<TensorData> x = {floats({2, 3}, {3, -4, 0, 1, -2, 2})};
  const ArgumentList rows = {Dims{1}};
  const auto norm = [&](Argument order) {
    return run(x, one("aten.linalg_vector_norm.default", {order, rows[0]}))[0];
  };
  expect_near(norm(2), {5, 3});
  expect_near(norm(1), {7, 5});
  expect_near(norm(kInfinity), {4, 2});
  expect_near(norm(-kInfinity), {0, 1});
  expect_near(norm(0), {2, 3});
  expect_near(norm(3), {std::cbrt(91), std::cbrt(17)});
  expect_one("aten.logsumexp.default", x, {rows[0]},
             {std::log(std::exp(3) + std::exp(-4) + 1),
              std::log(std::exp(1) + std::exp(-2) + std::exp(2))});
  expect_one("aten.logsumexp.default", {floats({1, 2}, {kInfinity, 1})}, {rows[0]}, {kInfinity});
  expect_one("aten.cosine_similarity.default", {floats({1, 2}, {3, 4}), floats({1, 2}, {4, 3})}, {},
             {24.0 / 25});
  expect_one("aten.std.correction", x, {rows[0]}, {std::sqrt(74.0 / 9), std::sqrt(26.0 / 9)},
             {{"correction", 0}});
}

TEST(DecomposeLayers, ConvolutionAcceptsPaddingModeSame) {
  const std::vector<TensorData> inputs = {floats({1, 1, 4}, {1, 2, 3, 4}),
                                          floats({1, 1, 2}, {1, 10})};
  const ArgumentList rest = {Argument(), Dims{1}, "same"};
  expect_one("aten.conv1d.padding", inputs, rest, {21, 32, 43, 4});
}

// The expected values are (x - mean) / deviation, computed for each row.
TEST(DecomposeLayers, NormalizesBatchesOfSymbolicSize) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 1, 4});
  const Value::Items pairs = values_and_indices({batch, 1, 2});
  // The program does not use the indices of the maxima, so the decomposition must not read the
  // batch size from these indices.
  Node* pool = build.call_as("aten.adaptive_max_pool1d.default", {x, Dims{2}}, {}, pairs);
  build.item(pool, 1);
  Node* maxima = build.item(pool, 0);
  Node* by_instance =
      build.call_as("aten.instance_norm.default",
                    {maxima, Argument(), Argument(), Argument(), Argument(), true, 0.1, 0.0, false},
                    {}, pairs[0]);
  Node* by_group = build.call_as("aten.group_norm.default", {x, 1, Argument(), Argument(), 0.0}, {},
                                 *x->tensor());
  ExportedProgram program = edge_program(build, {by_instance, by_group});
  const std::vector<TensorData> inputs = {floats({2, 1, 4}, {0, 1, 3, 2, 8, 4, 2, 6})};
  const std::vector<TensorData> results = evaluate(program, inputs);
  expect_near(results[0], {-1, 1, 1, -1});
  const double a = std::sqrt(1.25);
  const double b = std::sqrt(5.0);
  expect_near(results[1], {-1.5 / a, -0.5 / a, 1.5 / a, 0.5 / a, 3 / b, -1 / b, -3 / b, 1 / b});
}

TEST(DecomposeLayers, UnbatchedConvolutionEqualsBatchOfOne) {
  const TensorData weight = seeded_weights("w", 2, {3, 2, 2, 2}, 1);
  const TensorData image = seeded_weights("x", 1, {2, 4, 4}, 1);
  const TensorData batch = floats({1, 2, 4, 4}, values_of(image));
  expect_one("aten.conv2d.default", {image, weight}, {},
             values_of(run({batch, weight}, one("aten.conv2d.default"))[0]));
  const TensorData transposed = seeded_weights("w", 2, {2, 3, 2, 2}, 1);
  expect_one("aten.conv_transpose2d.input", {image, transposed}, {},
             values_of(run({batch, transposed}, one("aten.conv_transpose2d.input"))[0]));
}

TEST(DecomposeLayers, BatchNormWithoutRunningStatisticsUsesInputStatistics) {
  const TensorData x = floats({2, 2, 1}, {1, 10, 3, 30});
  expect_call("aten.batch_norm.default", {x},
              {Argument(), Argument(), Argument(), Argument(), true, 0.1, 0.0, false}, {2, 2, 1},
              {-1, -1, 1, 1});
}

TEST(DecomposeTransformers, FusedEncoderLayerMatchesSeparateCalls) {
  const std::pair<const char*, std::vector<int64_t>> weights[] = {
      {"x", {2, 3, 4}}, {"qkv", {12, 4}}, {"qkv_bias", {12}}, {"proj", {4, 4}}, {"proj_bias", {4}},
      {"n1", {4}},      {"b1", {4}},      {"n2", {4}},        {"b2", {4}},      {"f1", {8, 4}},
      {"c1", {8}},      {"f2", {4, 8}},   {"c2", {4}}};
  std::vector<TensorData> inputs;
  for (const auto& [name, sizes] : weights) inputs.push_back(seeded_weights(name, 4, sizes, 1));
  inputs.push_back(bools({2, 3}, {0, 0, 1, 0, 1, 0}));  // the mask of hidden tokens
  for (const bool norm_first : {false, true}) {
    SCOPED_TRACE(norm_first);
    const TensorData found = lowered("aten._transformer_encoder_layer_fwd.default", inputs,
                                     {"$", 4,   2,   "$", "$", "$", "$", true, norm_first, 1e-5,
                                      "$", "$", "$", "$", "$", "$", "$", "$",  "$",        1},
                                     {2, 3, 4});
    const auto expected = run(inputs, [&](ModelBuilder& build, const Nodes& in) {
      const std::vector<int64_t> shape = {4};
      const auto attend = [&](Node* x) {
        Node* all = build.call("aten.linear.default", {x, in[1], in[2]});
        std::vector<Node*> qkv;
        for (int64_t i = 0; i < 3; ++i) {
          Node* slice = build.call("aten.slice.Tensor", {all, 2, 4 * i, 4 * i + 4});
          slice = build.call("aten.view.default",
                             {build.call("aten.contiguous.default", {slice}), Dims{2, 3, 2, 2}});
          qkv.push_back(build.call("aten.transpose.int", {slice, 1, 2}));
        }
        Node* visible = build.call("aten.logical_not.default", {in[13]});
        visible = build.call("aten.unsqueeze.default",
                             {build.call("aten.unsqueeze.default", {visible, 1}), 1});
        Node* heads = build.call("aten.scaled_dot_product_attention.default",
                                 {qkv[0], qkv[1], qkv[2], visible});
        heads = build.call("aten.transpose.int", {heads, 1, 2});
        heads = build.call("aten.reshape.default", {heads, Dims{2, 3, 4}});
        return build.call("aten.linear.default", {heads, in[3], in[4]});
      };
      const auto norm = [&](Node* x, size_t at) {
        return build.call("aten.layer_norm.default", {x, shape, in[at], in[at + 1], 1e-5});
      };
      const auto feed = [&](Node* x) {
        Node* inner = build.call("aten.linear.default", {x, in[9], in[10]});
        return build.call("aten.linear.default",
                          {build.call("aten.gelu.default", {inner}), in[11], in[12]});
      };
      const auto add = [&](Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); };
      if (norm_first) {
        Node* x = add(in[0], attend(norm(in[0], 5)));
        return add(x, feed(norm(x, 7)));
      }
      Node* x = norm(add(in[0], attend(in[0])), 5);
      return norm(add(x, feed(x)), 7);
    });
    expect_near(found, values_of(expected[0]), 1e-5);
  }
}

}  // namespace
}  // namespace vitrine::aot
