// Tests passes, layouts and payloads on hand-made graphs: the resulting nodes, their source nodes,
// and the computed results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/rules.h"
#include "test/backends/xnnpack/aot/blob_text.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

std::vector<uint32_t> handles_of(const LoweredBackendModule& module, uint32_t identifier) {
  for (const auto& [key, handles] : module.delegate_map) {
    if (key == DelegateIdentifier(identifier)) return handles;
  }
  return {};
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 float tolerance = 1e-5f) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;
}

// By the definition. Weights [out, in / groups, kernel, kernel], stride 1.
struct Image {
  size_t channels, height, width;
  std::vector<float> data;
  float at(size_t c, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= static_cast<int64_t>(height) || x >= static_cast<int64_t>(width)) {
      return 0.0f;
    }
    return data[(c * height + static_cast<size_t>(y)) * width + static_cast<size_t>(x)];
  }
};
Image convolve(const Image& in, const std::vector<float>& weight, const std::vector<float>& bias,
               size_t outputs, size_t groups, int64_t kernel, int64_t padding) {
  const auto size = [&](size_t n) {
    return n + static_cast<size_t>(2 * padding) - static_cast<size_t>(kernel) + 1;
  };
  Image out{outputs, size(in.height), size(in.width), {}};
  const size_t inputs = in.channels / groups;
  const auto k = static_cast<size_t>(kernel);
  for (size_t o = 0; o < outputs; ++o) {
    const size_t group = o / (outputs / groups);
    for (size_t y = 0; y < out.height; ++y) {
      for (size_t x = 0; x < out.width; ++x) {
        float sum = bias.empty() ? 0.0f : bias[o];
        for (size_t i = 0; i < inputs; ++i) {
          for (size_t ky = 0; ky < k; ++ky) {
            for (size_t kx = 0; kx < k; ++kx) {
              sum += weight[((o * inputs + i) * k + ky) * k + kx] *
                     in.at(group * inputs + i, static_cast<int64_t>(y + ky) - padding,
                           static_cast<int64_t>(x + kx) - padding);
            }
          }
        }
        out.data.push_back(sum);
      }
    }
  }
  return out;
}

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, Ints sizes,
                  int64_t padding = 0, int64_t groups = 1, bool transposed = false) {
  const size_t rank = sizes.size() - 2;
  const Ints ones(rank, 1);
  return t.call("aten.convolution.default",
                {input, weight, bias == nullptr ? Argument() : Argument(bias), ones,
                 Ints(rank, padding), ones, transposed, Ints(rank, 0), groups},
                std::move(sizes));
}

Node* batch_norm(TestProgram& t, Node* input, const std::vector<float>& weight) {
  const auto count = static_cast<int64_t>(weight.size());
  Node* norm =
      t.call("aten._native_batch_norm_legit_no_training.default",
             {input, t.parameter("norm_w", {count}, weight),
              t.parameter("norm_b", {count}, std::vector<float>(weight.size(), 0.5f)),
              t.parameter("norm_m", {count}, std::vector<float>(weight.size(), 0.25f)),
              t.parameter("norm_v", {count}, std::vector<float>(weight.size(), 3.0f)), 0.1, 1.0},
             {});
  const Value value = *input->tensor();
  norm->meta.value = Value(Value::Items{value, value, value});
  Node* item = t.program.graph->call(getitem(), {norm, 0});
  item->meta.value = value;
  item->meta.debug_handle = norm->meta.debug_handle;
  return item;
}

float normalised(float x, float weight) { return (x - 0.25f) / 2.0f * weight + 0.5f; }

TEST(IdentityCopies, GoWithTheirHandles) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* copy = t.call("dim_order_ops._clone_dim_order.default", {x}, {2, 3});
  t.output({t.call("aten.abs.default", {copy}, {2, 3})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Abs"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
}

TEST(IdentityCopies, OfAnInputToAnOutputStay) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  t.output({t.call("dim_order_ops._clone_dim_order.default", {x}, {2, 3})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Copy"));
  EXPECT_EQ(run(*module, {ramp(6)})[0], ramp(6));
}

TEST(Linear, ComesBackFromAddmm) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.parameter("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  Node* turned = t.call("aten.permute_copy.default", {w, Ints{1, 0}}, {3, 2});
  Node* b = t.parameter("b", {2}, {10, 20});
  t.output({t.call("aten.addmm.default", {b, x, turned}, {2, 2})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("FullyConnected"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
  EXPECT_THAT(run(*module, {{1, 0, 0, 0, 1, 1}})[0], ElementsAre(11, 24, 15, 31));
}

TEST(Linear, TakesAWeightThatLiesTheOtherWay) {
  TestProgram t;
  Node* x = t.input("x", {1, 3});
  Node* w = t.parameter("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  t.output({t.call("aten.mm.default", {x, w}, {1, 2})});
  EXPECT_THAT(run(*lowered(t), {{1, 10, 100}})[0], ElementsAre(531, 642));
}

TEST(Linear, TakesAnyBatch) {
  TestProgram t;
  Node* x = t.dynamic_input("x", {1, 2}, 8);
  Node* linear = t.call("aten.linear.default", {x, t.parameter("w", {1, 2}, {1, -1})}, {-1, 1});
  t.output({linear});
  const auto module = lowered(t);
  EXPECT_THAT(run(*module, {{3, 1, 5, 2, 9, 9}}, 3)[0], ElementsAre(2, 3, 0));
  EXPECT_THAT(run(*module, {{3, 1}}, 1)[0], ElementsAre(2));
}

TEST(Linear, TakesComputedWeightsAndBiases) {
  TestProgram t;
  Node* x = t.input("x", {1, 3});
  Node* w = t.input("w", {2, 3});
  Node* b = t.input("b", {2});
  Node* turned = t.input("turned", {3, 2});
  t.output({t.call("aten.linear.default", {x, w, b}, {1, 2}),
            t.call("aten.addmm.default", {b, x, turned}, {1, 2}),
            t.call("aten.linear.default", {x, w, t.parameter("c", {2}, {1, 2})}, {1, 2})});
  const auto results =
      run(*lowered(t), {{1, 10, 100}, {1, 2, 3, 4, 5, 6}, {0.5f, -0.5f}, {1, 4, 2, 5, 3, 6}});
  EXPECT_THAT(results[0], ElementsAre(321.5f, 653.5f));
  EXPECT_THAT(results[1], ElementsAre(321.5f, 653.5f));
  EXPECT_THAT(results[2], ElementsAre(322, 656));
}

TEST(BatchNorm, FoldsIntoAGroupedConvolution) {
  TestProgram t;
  const Image image{4, 5, 6, ramp(120)};
  const std::vector<float> weight = ramp(6 * 2 * 9, 0.05f);
  const std::vector<float> factors = {1, 2, 3, -1, 0.5f, 0};
  Node* x = t.input("x", {1, 4, 5, 6});
  Node* call =
      convolution(t, x, t.parameter("w", {6, 2, 3, 3}, weight), nullptr, {1, 6, 5, 6}, 1, 2);
  Node* norm = batch_norm(t, call, factors);
  t.output({t.call("aten.relu.default", {norm}, {1, 6, 5, 6})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("StaticTranspose", "Conv2d", "StaticTranspose"));
  EXPECT_THAT(handles_of(*module, 1), ElementsAre(1, 2, 3));
  Image expected = convolve(image, weight, {}, 6, 2, 3, 1);
  for (size_t i = 0; i < expected.data.size(); ++i) {
    expected.data[i] = std::max(0.0f, normalised(expected.data[i], factors[i / 30]));
  }
  expect_near(run(*module, {image.data})[0], expected.data);
}

// Over one point, so that each output is a sum over its group's inputs.
TEST(BatchNorm, FoldsIntoATransposedConvolution) {
  TestProgram t;
  const std::vector<float> weight = ramp(4 * 3);
  const std::vector<float> factors = {1, 2, 3, 4, 5, 6};
  Node* x = t.input("x", {1, 4, 1, 1});
  Node* call =
      convolution(t, x, t.parameter("w", {4, 3, 1, 1}, weight), nullptr, {1, 6, 1, 1}, 0, 2, true);
  t.output({batch_norm(t, call, factors)});
  const std::vector<float> input = {1, -2, 3, 4};
  std::vector<float> expected(6);
  for (size_t o = 0; o < 6; ++o) {
    const size_t group = o / 3;
    float sum = 0;
    for (size_t i = 0; i < 2; ++i)
      sum += input[group * 2 + i] * weight[(group * 2 + i) * 3 + o % 3];
    expected[o] = normalised(sum, factors[o]);
  }
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("StaticTranspose", "ConvTranspose2d", "StaticTranspose"));
  expect_near(run(*module, {input})[0], expected);
}

TEST(BatchNorm, FoldsIntoALinearCall) {
  TestProgram t;
  Node* x = t.input("x", {2, 2});
  Node* call =
      t.call("aten.linear.default", {x, t.parameter("w", {3, 2}, {1, 0, 0, 1, 1, 1})}, {2, 3});
  t.output({batch_norm(t, call, {1, 2, -1})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("FullyConnected"));
  expect_near(run(*module, {{1, 2, 3, 4}})[0],
              {normalised(1, 1), normalised(2, 2), normalised(3, -1), normalised(3, 1),
               normalised(4, 2), normalised(7, -1)});
}

TEST(BatchNorm, AloneIsADepthwiseConvolution) {
  for (const Ints& sizes : {Ints{2, 3}, Ints{2, 3, 4}, Ints{2, 3, 2, 2}}) {
    TestProgram t;
    Node* x = t.input("x", sizes);
    const std::vector<float> factors = {1, -2, 3};
    t.output({batch_norm(t, x, factors)});
    const size_t inner = sizes.size() == 2 ? 1 : 4;
    std::vector<float> expected = ramp(6 * inner);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = normalised(expected[i], factors[i / inner % 3]);
    }
    const auto module = lowered(t);
    expect_near(run(*module, {ramp(6 * inner)})[0], expected);
    EXPECT_THAT(handles_of(*module, 1), ElementsAre(1));
  }
}

TEST(Activations, StayWhereTheirInputIsUsedTwice) {
  TestProgram t;
  Node* x = t.input("x", {4});
  Node* sum = t.call("aten.add.Tensor", {x, x}, {4});
  Node* relu = t.call("aten.relu.default", {sum}, {4});
  t.output({sum, relu});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Add", "Clamp"));
  const auto results = run(*module, {{-1, 2, -3, 4}});
  EXPECT_THAT(results[0], ElementsAre(-2, 4, -6, 8));
  EXPECT_THAT(results[1], ElementsAre(0, 4, 0, 8));
}

TEST(Activations, BecomeBoundsAndKeepBothHandles) {
  TestProgram t;
  Node* x = t.input("x", {4});
  Node* sum = t.call("aten.mul.Tensor", {x, x}, {4});
  t.output({t.call("aten.hardtanh.default", {sum, 0.5, 6}, {4})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Multiply"));
  EXPECT_THAT(handles_of(*module, 1), ElementsAre(1, 2));
  EXPECT_THAT(run(*module, {{0, 2, -3, 1}})[0], ElementsAre(0.5f, 4, 6, 1));
}

TEST(Concatenations, OfManyAreAChain) {
  TestProgram t;
  ArgumentList items;
  std::vector<std::vector<float>> inputs;
  std::vector<float> expected;
  for (int i = 0; i < 12; ++i) {
    items.emplace_back(t.input("x" + std::to_string(i), {1, 2}));
    inputs.push_back({static_cast<float>(i), static_cast<float>(-i)});
    expected.insert(expected.end(), inputs.back().begin(), inputs.back().end());
  }
  t.output({t.call("aten.cat.default", {Argument::list(items), 1}, {1, 24})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Concatenate5", "Concatenate5", "Concatenate4"));
  EXPECT_EQ(run(*module, inputs)[0], expected);
}

TEST(Concatenations, OfManyStayQuantised) {
  TestProgram t;
  ArgumentList items;
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < 6; ++i) {
    Node* x = t.input("x" + std::to_string(i), {1, 2});
    items.emplace_back(t.dequantise(t.quantise(x, 0.5, 1), 0.5, 1));
    inputs.push_back({static_cast<float>(i), -0.5f});
  }
  Node* cat = t.call("aten.cat.default", {Argument::list(items), 0}, {6, 2});
  t.output({t.dequantise(t.quantise(cat, 0.5, 1), 0.5, 1)});
  const auto module = lowered(t);
  for (const std::string& line : describe_blob(*module->processed_bytes).nodes) {
    if (line.starts_with("Concatenate")) {
      EXPECT_THAT(line, testing::Not(HasSubstr("fp32")));
    }
  }
  EXPECT_THAT(run(*module, inputs)[0],
              ElementsAre(0, -0.5f, 1, -0.5f, 2, -0.5f, 3, -0.5f, 4, -0.5f, 5, -0.5f));
}

TEST(Quantised, MovesBetweenScalesAreInFloats) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(t.input("x", {2, 2}), 0.5, 0), 0.5, 0);
  Node* turned = t.call("aten.permute_copy.default", {x, Ints{1, 0}}, {2, 2});
  t.output({t.dequantise(t.quantise(turned, 0.25, 3), 0.25, 3)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("Convert", "Convert", "StaticTranspose", "Convert", "Convert"));
  EXPECT_THAT(run(*module, {{1, 2, 3, 4}})[0], ElementsAre(1, 3, 2, 4));
}

TEST(Quantised, APaddingBehindItsConversionIsQuantisedToo) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(t.input("x", {1, 1, 2, 2}), 0.5, 4), 0.5, 4);
  Node* padded = t.call("aten.constant_pad_nd.default", {x, Ints{1, 1, 1, 1}, 0.0}, {1, 1, 4, 4});
  Node* w = t.dequantise_channels(t.int8_parameter("w", {2, 1, 3, 3}, std::vector<int8_t>(18, 2)),
                                  t.parameter("s", {2}, {0.5f, 0.25f}),
                                  t.int8_parameter("z", {2}, {0, 0}), 0);
  Node* call = convolution(t, padded, w, t.parameter("b", {2}, {1, 0}), {1, 2, 2, 2});
  t.output({t.dequantise(t.quantise(call, 0.5, 0), 0.5, 0)});
  const auto module = lowered(t);
  const std::vector<std::string> lines = describe_blob(*module->processed_bytes).nodes;
  for (const std::string& line : lines) {
    if (line.starts_with("StaticConstantPad")) {
      EXPECT_THAT(line, testing::Not(HasSubstr("fp32")));
    }
  }
  // Each window holds all four inputs.
  expect_near(run(*module, {{1, 2, 3, 4}})[0], {11, 11, 11, 11, 5, 5, 5, 5}, 0.01f);
}

TEST(Quantised, RowsAreQuantisedWhenTheyCome) {
  TestProgram t;
  Node* x = t.dynamically_quantised(t.input("x", {2, 4}));
  Node* w =
      t.dequantise_channels(t.int8_parameter("w", {1, 4}, {1, 2, 3, 4}),
                            t.parameter("s", {1}, {0.5f}), t.int8_parameter("z", {1}, {0}), 0);
  t.output({t.call("aten.linear.default", {x, w, t.parameter("b", {1}, {1})}, {2, 1})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Convert", "FullyConnected"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
  EXPECT_THAT(handles_of(*module, 5), ElementsAre(3, 4, 5));
  expect_near(run(*module, {{1, 1, 1, 1, 0, 0, 0, -8}})[0], {6, -15}, 0.15f);
}

// Over one point: each output is a sum over the inputs.
TEST(Quantised, TransposedConvolutionsQuantiseWhatComes) {
  TestProgram t;
  Node* x = t.dynamically_quantised(t.input("x", {1, 2, 1, 1}));
  Node* w = t.dequantise_channels(t.int8_parameter("w", {2, 3, 1, 1}, {10, 20, -30, 40, 50, 60}),
                                  t.parameter("s", {3}, {0.1f, 0.2f, 0.05f}),
                                  t.int8_parameter("z", {3}, {0, 0, 0}), 1);
  t.output({convolution(t, x, w, t.parameter("b", {3}, {1, 0, -1}), {1, 3, 1, 1}, 0, 1, true)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), testing::Contains("ConvTranspose2d"));
  // 1 * 1 + 2 * 4 + 1, 1 * 4 + 2 * 10, -1.5 + 2 * 3 - 1
  expect_near(run(*module, {{1, 2}})[0], {10, 24, 3.5f}, 0.15f);
}

TEST(Maxima, OverHeightsArePoolings) {
  TestProgram t;
  Node* x = t.input("x", {1, 1, 2, 3});
  Node* max = t.call("aten.max.dim", {x, 2, true}, {});
  const Value value = contiguous_spec(ScalarType::kFloat, {1, 1, 1, 3});
  max->meta.value = Value(Value::Items{value, value});
  Node* item = t.program.graph->call(getitem(), {max, 0});
  item->meta.value = value;
  t.output({item});
  EXPECT_THAT(run(*lowered(t), {{1, 5, 3, 4, 2, 6}})[0], ElementsAre(4, 5, 6));
}

TEST(Convolutions, OverOneDim) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 4});
  const std::vector<float> weight = {1, 0, -1, 2, 1, 0};
  Node* call = convolution(t, x, t.parameter("w", {1, 2, 3}, weight), t.parameter("b", {1}, {0.5f}),
                           {1, 1, 4}, 1);
  t.output({call});
  const std::vector<float> in = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> expected;
  for (int at = 0; at < 4; ++at) {
    float sum = 0.5f;
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < 3; ++k) {
        const int from = at + k - 1;
        if (from >= 0 && from < 4) {
          sum += in[static_cast<size_t>(c * 4 + from)] * weight[static_cast<size_t>(c * 3 + k)];
        }
      }
    }
    expected.push_back(sum);
  }
  expect_near(run(*lowered(t), {in})[0], expected);
}

// ---- Layouts

struct Convolved {
  TestProgram t;
  Image image{3, 4, 5, ramp(60)};
  std::vector<float> weight = ramp(6);
  Image expected = convolve(image, weight, {}, 2, 1, 1, 0);
  Node* x = t.input("x", {1, 3, 4, 5});
  Node* call = convolution(t, x, t.parameter("w", {2, 3, 1, 1}, weight), nullptr, {1, 2, 4, 5});
};

TEST(Layouts, MovesFollowTheirInputs) {
  Convolved c;
  Node* slice = c.t.call("aten.slice_copy.Tensor", {c.call, 3, 1, 4}, {1, 2, 4, 3});
  Node* pad =
      c.t.call("aten.constant_pad_nd.default", {slice, Ints{0, 0, 1, 0}, 9.0}, {1, 2, 5, 3});
  Node* turned = c.t.call("aten.permute_copy.default", {pad, Ints{0, 2, 1, 3}}, {1, 5, 2, 3});
  Node* cat =
      c.t.call("aten.cat.default",
               {Argument::list({turned, c.t.call("aten.neg.default", {turned}, {1, 5, 2, 3})}), 1},
               {1, 10, 2, 3});
  c.t.output({cat});
  std::vector<float> expected;
  for (const float sign : {1.0f, -1.0f}) {
    for (int64_t y = -1; y < 4; ++y) {
      for (size_t ch = 0; ch < 2; ++ch) {
        for (int64_t x = 1; x < 4; ++x) {
          expected.push_back(sign * (y < 0 ? 9.0f : c.expected.at(ch, y, x)));
        }
      }
    }
  }
  const auto module = lowered(c.t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("StaticTranspose", "Conv2d", "StaticSlice", "StaticConstantPad",
                          "StaticTranspose", "Negate", "Concatenate2", "StaticTranspose"));
  expect_near(run(*module, {c.image.data})[0], expected);
}

TEST(Layouts, ImagesOfTheOtherLayoutAreConverted) {
  Convolved c;
  Node* y = c.t.input("y", {1, 2, 4, 5});
  c.t.output({c.t.call("aten.add.Tensor", {c.call, y}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<float>(i);
  std::vector<float> other(40);
  for (size_t i = 0; i < other.size(); ++i) other[i] = static_cast<float>(i);
  const auto module = lowered(c.t);
  EXPECT_THAT(node_types(*module), ElementsAre("StaticTranspose", "StaticTranspose", "Conv2d",
                                               "Add", "StaticTranspose"));
  EXPECT_THAT(handles_of(*module, 65535), ElementsAre(1, 2));
  expect_near(run(*module, {c.image.data, other})[0], expected);
}

TEST(Layouts, WhatIsNoImageBringsThemBack) {
  Convolved c;
  Node* row = c.t.input("row", {5});
  c.t.output({c.t.call("aten.mul.Tensor", {c.call, row}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] *= static_cast<float>(i % 5);
  expect_near(run(*lowered(c.t), {c.image.data, {0, 1, 2, 3, 4}})[0], expected);
}

TEST(Layouts, SoftmaxIsOverWidthsAlsoBehindAConvolution) {
  Convolved c;
  c.t.output({c.t.call("aten._softmax.default", {c.call, -1, false}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t row = 0; row < expected.size(); row += 5) {
    float sum = 0;
    for (size_t i = 0; i < 5; ++i) sum += expected[row + i] = std::exp(expected[row + i]);
    for (size_t i = 0; i < 5; ++i) expected[row + i] /= sum;
  }
  expect_near(run(*lowered(c.t), {c.image.data})[0], expected);
}

TEST(Layouts, SlopesAreByChannel) {
  Convolved c;
  Node* slopes = c.t.parameter("slopes", {2}, {0.5f, -2});
  c.t.output({c.t.call("aten.prelu.default", {c.call, slopes}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] < 0) expected[i] *= i < 20 ? 0.5f : -2.0f;
  }
  expect_near(run(*lowered(c.t), {c.image.data})[0], expected);
}

TEST(Layouts, ChannelsLastInputsAndOutputsAreTakenAsTheyLie) {
  TestProgram t;
  const std::vector<float> weight = ramp(6);
  Node* x = t.input_in_order("x", {1, 3, 4, 5}, {0, 2, 3, 1});
  Node* call = convolution(t, x, t.parameter("w", {2, 3, 1, 1}, weight), nullptr, {1, 2, 4, 5});
  TensorSpec spec = *call->tensor();
  spec.strides = dense_strides(spec.sizes, {0, 2, 3, 1});
  call->meta.value = spec;
  t.output({call});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Conv2d"));
  expect_near(run(*module, {ramp(60)})[0],
              convolve({3, 4, 5, ramp(60)}, weight, {}, 2, 1, 1, 0).data);
}

// Of volumes too.
TEST(Layouts, ChannelsLastVolumesComeAndGo) {
  const std::vector<uint8_t> last = {0, 2, 3, 4, 1};
  const std::vector<uint8_t> row_major = {0, 1, 2, 3, 4};
  for (const auto& [from, to] : {std::pair(last, row_major), std::pair(row_major, last)}) {
    TestProgram t;
    Node* x = t.input_in_order("x", {1, 2, 3, 4, 2}, from);
    Node* y = t.call("aten.neg.default", {x}, {1, 2, 3, 4, 2});
    TensorSpec spec = *y->tensor();
    spec.strides = dense_strides(spec.sizes, to);
    y->meta.value = spec;
    t.output({y});
    std::vector<float> expected = ramp(48);
    for (float& number : expected) number = -number;
    expect_near(run(*lowered(t), {ramp(48)})[0], expected);
  }
}

// Whatever order the calls have that passes put in their place.
TEST(Layouts, OutputsAreInTheOrderOfTheProgram) {
  TestProgram t;
  Node* x = t.input_in_order("x", {1, 2, 1, 1}, {0, 2, 3, 1});
  Node* norm = batch_norm(t, x, {3, 5});
  norm->meta.value = contiguous_spec(ScalarType::kFloat, {1, 2, 1, 1});
  t.output({norm});
  expect_near(run(*lowered(t), {{1, 2}})[0], {normalised(1, 3), normalised(2, 5)});
}

// Programs have such inputs in row-major order, whatever the export's strides.
TEST(Layouts, OtherOrdersAreRowMajor) {
  TestProgram t;
  Node* x = t.input_in_order("x", {1, 2, 3, 4}, {0, 1, 3, 2});
  Node* weight = t.parameter("w", {1, 2, 1, 1}, {1, 2});
  t.output({convolution(t, x, weight, nullptr, {1, 1, 3, 4})});
  const auto module = lowered(t);
  expect_near(run(*module, {ramp(24)})[0],
              convolve({2, 3, 4, ramp(24)}, {1, 2}, {}, 1, 1, 1, 0).data);
}

TEST(Outputs, MayBeInputsAndComeTwice) {
  TestProgram t;
  Node* x = t.input("x", {3});
  Node* y = t.call("aten.abs.default", {x}, {3});
  t.output({x, y, y});
  const auto results = run(*lowered(t), {{-1, 2, -3}});
  EXPECT_THAT(results[0], ElementsAre(-1, 2, -3));
  EXPECT_THAT(results[1], ElementsAre(1, 2, 3));
  EXPECT_THAT(results[2], ElementsAre(1, 2, 3));
}

// Constants and scales derived from weights go to the same file as the weights.
TEST(Payloads, ConstantsGoToTheFilesOfTheirWeights) {
  TestProgram t;
  Node* x = t.dynamically_quantised(t.input("x", {2, 4}));
  Node* w = t.int8_parameter("w", {1, 4}, {1, 2, 3, 4});
  Node* deq =
      t.dequantise_channels(w, t.parameter("s", {1}, {0.5f}), t.int8_parameter("z", {1}, {0}), 0);
  Node* b = t.parameter("b", {1}, {3});
  w->meta.external_tag = "weights";
  b->meta.external_tag = "biases";
  t.output({t.call("aten.linear.default", {x, deq, b}, {2, 1})});
  std::map<size_t, std::string> files;  // by size in bytes and kind
  const auto quantised = lowered(t);
  for (const NamedData& data : quantised->named_data) {
    files[data.bytes->size() + (data.key.starts_with("scale_") ? 100 : 0)] +=
        data.external_tag + (data.bytes->size() == 4 && data.key.starts_with("scale_") ? "!" : "");
  }
  // Four int8 weights and one f32 bias are both of four bytes.
  EXPECT_THAT(files[4], testing::AnyOf("weightsbiases", "biasesweights"));
  EXPECT_EQ(files[104], "weights!");

  TestProgram folded;
  Node* kernel = folded.parameter("k", {2, 3, 1, 1}, ramp(6));
  kernel->meta.external_tag = "weights";
  Node* call = convolution(folded, folded.input("x", {1, 3, 2, 2}), kernel, nullptr, {1, 2, 2, 2});
  folded.output({batch_norm(folded, call, {1, 2})});
  const auto module = lowered(folded);
  EXPECT_THAT(module->named_data, testing::SizeIs(2));
  for (const NamedData& data : module->named_data) EXPECT_EQ(data.external_tag, "weights");
}

TEST(Payloads, AreTheSameEachTime) {
  const auto payload = [] {
    Convolved c;
    c.t.output({batch_norm(c.t, c.call, {1, 2})});
    return lowered(c.t);
  };
  const auto first = payload();
  const auto second = payload();
  EXPECT_EQ(*first->processed_bytes, *second->processed_bytes);
  EXPECT_EQ(first->delegate_map, second->delegate_map);
}

TEST(Payloads, OfWhatXnnpackHasNotAreErrorsThatNameTheNode) {
  TestProgram t;
  Node* x = t.input("x", {3});
  t.output({t.call("aten.tan.default", {x}, {3})});
  try {
    lowered(t);
    FAIL() << "no error";
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), HasSubstr("aten_tan_default"));
  }
}

// Graphs come from files: arguments may be missing, or of any kind.
TEST(Payloads, OfCallsWithoutFittingArgumentsAreErrors) {
  const std::vector<ArgumentList> lists = {
      {}, {1, 2, 3}, {"text"}, {Argument(), Argument(), Argument(), Argument(), Argument()}};
  for (const xnnpack::Operator& each : xnnpack::operators()) {
    if (!each.is_taken()) continue;
    for (const ArgumentList& args : lists) {
      for (const bool has_input : {false, true}) {
        TestProgram t;
        Node* x = t.input("x", {1, 2, 4, 4});
        ArgumentList all = args;
        if (has_input) all.insert(all.begin(), x);
        Node* node = t.call("aten." + std::string(each.op), all, {1, 2, 4, 4});
        t.output({node});
        const xnnpack::Parameters parameters(t.program);
        const bool is_taken = !xnnpack::check({parameters, *node});
        try {
          lowered(t);
        } catch (const AotError& error) {
          EXPECT_FALSE(is_taken && has_input && args.empty()) << each.op << ": " << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::aot::test
