// Tests parts of decoders that no model in the corpus has. Lowers them in several ways and compares
// the results with formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "examples/models/layers.h"
#include "vitrine/module.h"

namespace vitrine::aot {
namespace {

using Input = vitrine::Value;
using Numbers = std::vector<double>;

struct Lowering {
  const char* name;
  bool is_delegated = false;
  bool optimize = false;
  AttentionOperator attention = AttentionOperator::kAten;
};
constexpr Lowering kLowerings[] = {
    {"kernels"},
    {"delegated", true},
    {"optimized", false, true},
    {"optimized_delegated", true, true},
    {"operator", false, false, AttentionOperator::kCustomSdpa},
    {"operator_delegated", true, true, AttentionOperator::kCustomSdpa},
};

// A row-major matrix, or several matrices that are stored one after another.
struct Matrix {
  Numbers values;
  int64_t columns = 0;

  Numbers times(std::span<const double> x, int64_t first_row, int64_t rows) const {
    Numbers result;
    for (int64_t i = first_row; i < first_row + rows; ++i) {
      result.push_back(std::inner_product(x.begin(), x.end(), values.begin() + i * columns, 0.0));
    }
    return result;
  }
};

Matrix weight_of(const ExportedProgram& program, const char* name) {
  const TensorData& data = program.state_dict.find(name)->second;
  std::vector<float> floats(static_cast<size_t>(data.numel()));
  std::memcpy(floats.data(), data.storage.data(), floats.size() * sizeof(float));
  return {{floats.begin(), floats.end()}, data.sizes.back()};
}

Numbers softmax(Numbers scores) {
  const double max = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - max);
  for (double& score : scores) score /= sum;
  return scores;
}

std::vector<float> tokens(int64_t count, int64_t width, double phase) {
  std::vector<float> made;
  for (int64_t i = 0; i < count * width; ++i) {
    made.push_back(static_cast<float>(2 * std::sin(phase + 1.7 * static_cast<double>(i * i))));
  }
  return made;
}

Module load(ExportedProgram program, const Lowering& lowering, std::vector<std::byte>& file) {
  LowerOptions options;
  if (lowering.is_delegated) options.partitioners = {std::make_shared<XnnpackPartitioner>()};
  options.optimize = lowering.optimize;
  options.attention = lowering.attention;
  Methods methods;
  methods.emplace("forward", std::move(program));
  file = lower(std::move(methods), options).emitted.pte;
  auto module = Module::load(file, {.threads = 1});
  EXPECT_TRUE(module.ok()) << module.error().message();
  return std::move(*module);
}

void expect_output(Module& module, const std::vector<Input>& inputs, const Numbers& expected) {
  const auto outputs = module.forward(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  const auto found = outputs->back().array()->data<float>();
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR((*found)[i], expected[i], 2e-5) << "at " << i;
  }
}

Input array(const std::vector<float>& numbers, std::initializer_list<int32_t> sizes) {
  return *Array::copy_of<float>(numbers, sizes);
}

class Experts : public testing::TestWithParam<Lowering> {};
class Attention : public testing::TestWithParam<Lowering> {};

// Mixture of experts: each token uses the weighted results of two of four layers.

constexpr int64_t kWidth = 16;
constexpr int64_t kHidden = 8;
constexpr int64_t kExperts = 4;
constexpr int64_t kChosen = 2;

enum class Choice {
  kGathered,  // gathers the weights of a token's experts, as Meta's models do
  kOneHot,    // runs all experts, times their weight or 0, as exports of Hugging Face models do
};

ExportedProgram experts(Choice choice) {
  ModelBuilder build("Experts");
  const SymInt count = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {count, kWidth});
  Node* up = build.parameter("up", {kExperts, kHidden, kWidth});
  Node* gate = build.parameter("gate", {kExperts, kHidden, kWidth});
  Node* down = build.parameter("down", {kExperts, kWidth, kHidden});
  Node* scores =
      build.call("aten.softmax.int", {nn::linear(build, "router", x, kExperts, false), -1});
  Node* top = build.call_as("aten.topk.default", {scores, kChosen}, {},
                            Value::Items{contiguous_spec(ScalarType::kFloat, {count, kChosen}),
                                         contiguous_spec(ScalarType::kLong, {count, kChosen})});
  Node* weights = build.item(top, 0);
  Node* chosen = build.item(top, 1);
  weights = build.call(
      "aten.div.Tensor",
      {weights, build.call("aten.sum.dim_IntList", {weights, std::vector<int64_t>{-1}, true})});
  if (choice == Choice::kGathered) {
    const auto picked = [&](Node* all) {
      return build.call("aten.index.Tensor", {all, Argument::list({chosen})});
    };
    const auto einsum = [&](const char* equation, Node* a, Node* b, std::vector<SymInt> sizes) {
      return build.call_as("aten.einsum.default", {equation, Argument::list({a, b})}, {},
                           contiguous_spec(ScalarType::kFloat, std::move(sizes)));
    };
    const std::vector<SymInt> inside = {count, kChosen, kHidden};
    Node* gated = einsum("ti,taoi->tao", x, picked(gate), inside);
    gated = build.call("aten.silu.default", {gated});
    Node* inner = einsum("ti,taoi->tao", x, picked(up), inside);
    inner = build.call("aten.mul.Tensor", {gated, inner});
    Node* outputs = einsum("tao,taio->tai", inner, picked(down), {count, kChosen, kWidth});
    return build.finish({einsum("tai,ta->ti", outputs, weights, {count, kWidth})});
  }
  Node* mask = build.call("aten.one_hot.default", {chosen, kExperts});
  mask = build.call("aten.to.dtype", {mask, ScalarType::kFloat});
  Node* shares =
      build.call("aten.mul.Tensor", {mask, build.call("aten.unsqueeze.default", {weights, -1})});
  shares = build.call("aten.sum.dim_IntList", {shares, std::vector<int64_t>{1}});
  Node* sum = nullptr;
  for (int64_t i = 0; i < kExperts; ++i) {
    const auto linear = [&](Node* input, Node* all) {
      return build.call("aten.linear.default", {input, build.call("aten.select.int", {all, 0, i})});
    };
    Node* inner = build.call("aten.silu.default", {linear(x, gate)});
    inner = build.call("aten.mul.Tensor", {inner, linear(x, up)});
    Node* share = build.call("aten.slice.Tensor", {shares, 1, i, i + 1});
    Node* part = build.call("aten.mul.Tensor", {linear(inner, down), share});
    sum = sum == nullptr ? part : build.call("aten.add.Tensor", {sum, part});
  }
  return build.finish({sum});
}

Numbers expected_of_experts(const ExportedProgram& program, const std::vector<float>& x) {
  const Matrix router = weight_of(program, "router.weight");
  const Matrix up = weight_of(program, "up");
  const Matrix gate = weight_of(program, "gate");
  const Matrix down = weight_of(program, "down");
  Numbers result;
  for (size_t at = 0; at < x.size(); at += kWidth) {
    const Numbers token(x.begin() + static_cast<std::ptrdiff_t>(at),
                        x.begin() + static_cast<std::ptrdiff_t>(at) + kWidth);
    const Numbers scores = softmax(router.times(token, 0, kExperts));
    std::vector<size_t> order(kExperts);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    Numbers sum(kWidth, 0.0);
    for (size_t k = 0; k < kChosen; ++k) {
      const auto expert = static_cast<int64_t>(order[k]);
      Numbers inner = gate.times(token, expert * kHidden, kHidden);
      const Numbers other = up.times(token, expert * kHidden, kHidden);
      for (size_t i = 0; i < inner.size(); ++i) inner[i] *= other[i] / (1 + std::exp(-inner[i]));
      const Numbers out = down.times(inner, expert * kWidth, kWidth);
      const double share = scores[order[k]] / (scores[order[0]] + scores[order[1]]);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += share * out[i];
    }
    result.insert(result.end(), sum.begin(), sum.end());
  }
  return result;
}

void expect_experts(Choice choice, const Lowering& lowering) {
  const ExportedProgram program = experts(choice);
  std::vector<std::byte> file;
  Module module = load(program.copy(), lowering, file);
  for (const int32_t count : {8, 1, 3}) {
    const std::vector<float> x = tokens(count, kWidth, count);
    expect_output(module, {array(x, {count, kWidth})}, expected_of_experts(program, x));
  }
}

TEST_P(Experts, MatchFormulaWithGatheredWeights) { expect_experts(Choice::kGathered, GetParam()); }
TEST_P(Experts, MatchFormulaWithOneHotSelection) { expect_experts(Choice::kOneHot, GetParam()); }

// Attention to the last kWindow positions and the first kSinks positions only.

constexpr int64_t kHeads = 2;
constexpr int64_t kHeadWidth = 4;
constexpr int64_t kFeatures = kHeads * kHeadWidth;
constexpr int64_t kLength = 12;
constexpr int64_t kWindow = 3;
constexpr int64_t kSinks = 2;

class Sinks {
 public:
  ExportedProgram build() {
    Node* x = build_.input("x", ScalarType::kFloat, {1, count_, kFeatures});
    Node* position = build_.input("position", ScalarType::kLong, {1});
    Value::Number number;
    number.value = count_;
    size_ = build_.call_as("aten.sym_size.int", {x, 1}, {}, number);
    Node* rows = build_.call("aten.arange.default", {size_}, {{"dtype", ScalarType::kLong}});
    rows = build_.call("aten.add.Tensor", {rows, position});
    Node* keys = cached("keys", heads("k", x), rows);
    Node* values = cached("values", heads("v", x), rows);
    Node* y = build_.call("aten.scaled_dot_product_attention.default",
                          {heads("q", x), keys, values, mask(rows)});
    y = build_.call("aten.transpose.int", {y, 1, 2});
    y = build_.call("aten.reshape.default", {y, Argument::list({1, size_, kFeatures})});
    return build_.finish({nn::linear(build_, "o", y, kFeatures, false)});
  }

 private:
  Node* heads(const char* name, Node* x) {
    Node* y = nn::linear(build_, name, x, kFeatures, false);
    y = build_.call("aten.view.default", {y, Argument::list({1, size_, kHeads, kHeadWidth})});
    return build_.call("aten.transpose.int", {y, 1, 2});
  }
  Node* cached(const char* name, Node* made, Node* rows) {
    constexpr size_t kBytes = kHeads * kLength * kHeadWidth * sizeof(float);
    Node* cache =
        build_.buffer(name, make_tensor_data(ScalarType::kFloat, {1, kHeads, kLength, kHeadWidth},
                                             std::vector<std::byte>(kBytes)));
    return build_.call("aten.index_copy_.default", {cache, 2, rows, made});
  }
  Node* mask(Node* positions) {
    Node* rows = build_.call("aten.unsqueeze.default", {positions, 1});
    Node* keys = build_.call("aten.arange.default", {kLength}, {{"dtype", ScalarType::kLong}});
    Node* seen = build_.call("aten.le.Tensor", {keys, rows});
    Node* ends = build_.call("aten.add.Tensor", {keys, kWindow});
    Node* near = build_.call("aten.gt.Tensor", {ends, rows});
    Node* is_sink = build_.call("aten.lt.Scalar", {keys, kSinks});
    near = build_.call("aten.bitwise_or.Tensor", {near, is_sink});
    return build_.call("aten.bitwise_and.Tensor", {seen, near});
  }

  ModelBuilder build_{"Sinks"};
  SymInt count_ = build_.dynamic_size(1, 6);
  Node* size_ = nullptr;
};

// Returns the expected output for the last `count` tokens.
Numbers expected_of_sinks(const ExportedProgram& program, const std::vector<float>& all,
                          int64_t count) {
  const auto token = [&](int64_t i) {
    return Numbers(all.begin() + i * kFeatures, all.begin() + (i + 1) * kFeatures);
  };
  const auto product = [&](const char* name, const Numbers& x) {
    return weight_of(program, name).times(x, 0, kFeatures);
  };
  const int64_t length = static_cast<int64_t>(all.size()) / kFeatures;
  Numbers result;
  for (int64_t at = length - count; at < length; ++at) {
    const Numbers query = product("q.weight", token(at));
    Numbers mixed(kFeatures, 0.0);
    for (int64_t head = 0; head < kHeads; ++head) {
      Numbers scores;
      std::vector<Numbers> values;
      for (int64_t j = 0; j <= at; ++j) {
        if (j >= kSinks && j <= at - kWindow) continue;
        const Numbers key = product("k.weight", token(j));
        const auto begin = query.begin() + head * kHeadWidth;
        scores.push_back(
            std::inner_product(begin, begin + kHeadWidth, key.begin() + head * kHeadWidth, 0.0) /
            std::sqrt(static_cast<double>(kHeadWidth)));
        values.push_back(product("v.weight", token(j)));
      }
      const Numbers weights = softmax(scores);
      for (size_t j = 0; j < weights.size(); ++j) {
        for (auto i = static_cast<size_t>(head * kHeadWidth);
             i < static_cast<size_t>((head + 1) * kHeadWidth); ++i) {
          mixed[i] += weights[j] * values[j][i];
        }
      }
    }
    const Numbers out = product("o.weight", mixed);
    result.insert(result.end(), out.begin(), out.end());
  }
  return result;
}

TEST_P(Attention, MatchesFormulaWithSinksAndWindow) {
  const ExportedProgram program = Sinks().build();
  std::vector<std::byte> file;
  Module module = load(program.copy(), GetParam(), file);
  std::vector<float> all;
  // A prompt longer than the window, then single tokens, then two tokens at once.
  for (const int32_t count : {6, 1, 1, 1, 2}) {
    const auto position = static_cast<int64_t>(all.size()) / kFeatures;
    const std::vector<float> x = tokens(count, kFeatures, static_cast<double>(position));
    all.insert(all.end(), x.begin(), x.end());
    const Input at = *Array::copy_of<int64_t>(std::span(&position, 1), {1});
    expect_output(module, {array(x, {1, count, kFeatures}), at},
                  expected_of_sinks(program, all, count));
  }
}

constexpr auto kName = [](const auto& test) { return std::string(test.param.name); };
// The last two items of kLowerings differ from earlier ones only in the attention operator. The
// models of Experts have no attention, so their tests omit these two.
INSTANTIATE_TEST_SUITE_P(Lowerings, Experts, testing::ValuesIn(std::span(kLowerings).first(4)),
                         kName);
INSTANTIATE_TEST_SUITE_P(Lowerings, Attention, testing::ValuesIn(kLowerings), kName);

}  // namespace
}  // namespace vitrine::aot
