// Tests the search of pte_lower --quantize auto on two models that the test trains. For each model,
// one search must find a program that is at most as large as the int8 program and has smaller
// errors. Another search must find a program that scores at least as high as the float program and
// is at most half as large.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "aot/quantize/stored_floats.h"
#include "examples/models/model_builder.h"
#include "test/support/program_builder.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/search.h"
#include "tools/pte_lower/backends.h"
#include "vitrine/array.h"

namespace vitrine::test {
namespace {

using aot::ModelBuilder;
using aot::Node;
using tools::AutoOptions;
using tools::AutoProgram;
using tools::AutoResult;
using tools::Goal;

using Floats = std::vector<float>;

// A random number generator that returns the same numbers on all platforms. The distributions of
// the standard library differ between platforms.
class Random {
 public:
  float uniform() { return static_cast<float>(bits_() >> 8) / 16777216.0F; }
  size_t below(size_t count) { return bits_() % count; }
  // The sum of 12 uniform numbers is almost normal.
  float normal() {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::mt19937 bits_{7};
};

struct Layer {
  // `in` must be a multiple of 8.
  Layer(size_t in, size_t out, Random& random) : weight(in * out), bias(out), inputs(in) {
    for (float& value : weight) {
      value = random.normal() * std::sqrt(2.0F / static_cast<float>(in));
    }
  }

  Floats forward(const Floats& x) const {
    constexpr size_t kLanes = 8;  // the compiler may not reorder one sum
    Floats y = bias;
    for (size_t i = 0; i < y.size(); ++i) {
      float sums[kLanes] = {};
      for (size_t j = 0; j < inputs; j += kLanes) {
        for (size_t k = 0; k < kLanes; ++k) sums[k] += weight[i * inputs + j + k] * x[j + k];
      }
      for (const float sum : sums) y[i] += sum;
    }
    return y;
  }
  // Performs one step of gradient descent. `gradient` is the gradient of the output. Returns the
  // gradient of the input.
  Floats learn(const Floats& x, const Floats& gradient, float rate) {
    Floats back(inputs);
    for (size_t i = 0; i < gradient.size(); ++i) {
      for (size_t j = 0; j < inputs; ++j) {
        back[j] += weight[i * inputs + j] * gradient[i];
        weight[i * inputs + j] -= rate * gradient[i] * x[j];
      }
      bias[i] -= rate * gradient[i];
    }
    return back;
  }

  Floats weight;  // [out, in]
  Floats bias;
  size_t inputs;
};

// Layers with relu between them, trained with softmax and cross entropy.
struct Perceptron {
  std::vector<Layer> layers;

  // Trains the network on one sample, and returns the gradient of the input.
  Floats learn(const Floats& x, size_t label, float rate) {
    std::vector<Floats> values = {x};
    for (size_t i = 0; i < layers.size(); ++i) {
      values.push_back(layers[i].forward(values.back()));
      if (i + 1 == layers.size()) break;
      for (float& value : values.back()) value = std::max(value, 0.0F);
    }
    Floats gradient = values.back();
    const float most = *std::ranges::max_element(gradient);
    float sum = 0;
    for (float& value : gradient) sum += value = std::exp(value - most);
    for (float& value : gradient) value /= sum;
    gradient[label] -= 1;
    for (size_t i = layers.size(); i-- > 0;) {
      if (i + 1 != layers.size()) {
        for (size_t j = 0; j < gradient.size(); ++j) {
          if (values[i + 1][j] <= 0) gradient[j] = 0;
        }
      }
      gradient = layers[i].learn(values[i], gradient, rate);
    }
    return gradient;
  }

  Node* build(ModelBuilder& build, Node* x) const {
    for (size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = layers[i];
      const auto rows = static_cast<int64_t>(layer.bias.size());
      const auto module = build.module("fc" + std::to_string(i), "torch.nn.modules.linear.Linear");
      Node* weight = build.parameter(
          "weight", aot::tensor_of(ScalarType::kFloat, {rows, static_cast<int64_t>(layer.inputs)},
                                   layer.weight));
      Node* bias = build.parameter("bias", aot::tensor_of(ScalarType::kFloat, {rows}, layer.bias));
      x = build.call("aten.linear.default", {x, weight, bias});
      if (i + 1 != layers.size()) x = build.call("aten.relu.default", {x});
    }
    return x;
  }
};

struct Sample {
  std::vector<std::byte> input;
  size_t label = 0;
};

struct TrainedModel {
  aot::Methods methods;
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;  // of the input
  std::vector<Sample> calibration;
  std::vector<Sample> test;
};

// Classifies rows of 64 measurements into 10 classes. After training, the values of the first four
// columns are multiplied by 100, and the weights for these columns are divided by 100.
TrainedModel table_classifier() {
  constexpr size_t kColumns = 64;
  constexpr size_t kClasses = 10;
  constexpr float kUnit = 100;
  Random random;
  std::vector<Floats> centers(kClasses, Floats(kColumns));
  for (Floats& center : centers) {
    for (float& value : center) value = random.normal();
  }
  const auto draw = [&](size_t& label) {
    label = random.below(kClasses);
    Floats x = centers[label];
    for (float& value : x) value += 2.2F * random.normal();
    return x;
  };
  Perceptron net{
      {Layer(kColumns, 512, random), Layer(512, 256, random), Layer(256, kClasses, random)}};
  for (size_t i = 0; i < 2000; ++i) {
    size_t label = 0;
    const Floats x = draw(label);
    net.learn(x, label, 0.01F);
  }
  for (size_t i = 0; i < net.layers[0].weight.size(); ++i) {
    if (i % kColumns < 4) net.layers[0].weight[i] /= kUnit;
  }
  TrainedModel model;
  model.sizes = {1, kColumns};
  for (size_t i = 0; i < 432; ++i) {
    Sample sample;
    Floats x = draw(sample.label);
    for (size_t j = 0; j < 4; ++j) x[j] *= kUnit;
    sample.input = bytes_of(x);
    (i < 32 ? model.calibration : model.test).push_back(std::move(sample));
  }
  ModelBuilder build("Table");
  Node* x = build.input("x", ScalarType::kFloat, {1, kColumns});
  model.methods.emplace("forward", build.finish({net.build(build, x)}));
  return model;
}

// Predicts the next word from two words. The vocabulary has 128 words, and the text is a random
// walk.
TrainedModel word_predictor() {
  constexpr size_t kWords = 128;
  constexpr size_t kFeatures = 64;
  Random random;
  std::vector<std::vector<size_t>> followers(kWords);
  for (auto& each : followers) {
    for (int i = 0; i < 3; ++i) each.push_back(random.below(kWords));
  }
  const auto next = [&](size_t word) {
    const float chance = random.uniform();
    return followers[word][chance < 0.7F ? 0 : chance < 0.9F ? 1 : 2];
  };
  std::vector<Floats> table(kWords, Floats(kFeatures));
  for (Floats& row : table) {
    for (float& value : row) value = random.normal();
  }
  Perceptron net{{Layer(2 * kFeatures, 512, random), Layer(512, kWords, random)}};
  const auto draw = [&](size_t& a, size_t& b) {
    a = random.below(kWords);
    b = next(a);
    return next(b);
  };
  for (size_t i = 0; i < 6000; ++i) {
    size_t a = 0;
    size_t b = 0;
    const size_t label = draw(a, b);
    Floats x = table[a];
    x.insert(x.end(), table[b].begin(), table[b].end());
    const Floats gradient = net.learn(x, label, 0.02F);
    for (size_t j = 0; j < kFeatures; ++j) {
      table[a][j] -= 0.02F * gradient[j];
      table[b][j] -= 0.02F * gradient[kFeatures + j];
    }
  }
  TrainedModel model;
  model.dtype = ScalarType::kLong;
  model.sizes = {1, 2};
  for (size_t i = 0; i < 432; ++i) {
    Sample sample;
    size_t a = 0;
    size_t b = 0;
    sample.label = draw(a, b);
    sample.input = bytes_of(std::vector<int64_t>{static_cast<int64_t>(a), static_cast<int64_t>(b)});
    (i < 32 ? model.calibration : model.test).push_back(std::move(sample));
  }
  Floats rows;
  for (const Floats& row : table) rows.insert(rows.end(), row.begin(), row.end());
  ModelBuilder build("Words");
  Node* x = build.input("words", ScalarType::kLong, {1, 2});
  {
    const auto module = build.module("words", "torch.nn.modules.sparse.Embedding");
    Node* weight =
        build.parameter("weight", aot::tensor_of(ScalarType::kFloat, {kWords, kFeatures}, rows));
    x = build.call("aten.embedding.default", {weight, x});
  }
  x = build.call("aten.view.default", {x, std::vector<int64_t>{1, 2 * kFeatures}});
  model.methods.emplace("forward", build.finish({net.build(build, x)}));
  return model;
}

// Returns the fraction of test samples for which the output of the correct class is the largest.
double accuracy(const TrainedModel& model, std::span<const std::byte> program) {
  tools::Session session({.model = "the model",
                          .data = {},
                          .pool = nullptr,
                          .fixed_threads = true,
                          .program = {program.begin(), program.end()}});
  const auto method = session.load_method("forward");
  const std::vector<int32_t> sizes(model.sizes.begin(), model.sizes.end());
  size_t right = 0;
  for (const Sample& sample : model.test) {
    Array array = tools::check(Array::copy_of(model.dtype, sample.input, sizes));
    tools::check(method->set_input(0, EValue(&array.mutable_tensor())));
    tools::check(method->execute());
    const Tensor& output = method->output(0).unchecked_tensor();
    const auto* values = output.data<float>();
    const auto count = static_cast<size_t>(output.numel());
    right += std::max_element(values, values + count) - values ==
             static_cast<std::ptrdiff_t>(sample.label);
  }
  return static_cast<double>(right) / static_cast<double>(model.test.size());
}

aot::LowerOptions lowering_of(const TrainedModel& model) {
  aot::LowerOptions lowering;
  lowering.partitioners = tools::make_partitioners(std::vector<std::string>{"xnnpack"}, {});
  lowering.emit.emit_debug_maps = false;
  lowering.calibration.count = model.calibration.size();
  lowering.calibration.read = [&](size_t i) {
    return aot::CalibrationSample{
        .name = std::to_string(i),
        .inputs = {aot::make_tensor_data(model.dtype, model.sizes, model.calibration[i].input)}};
  };
  return lowering;
}

AutoResult search(const TrainedModel& model, AutoOptions::Unit unit, Goal goal) {
  AutoOptions options;
  options.goal = goal;
  options.unit = unit;
  options.samples = 32;
  if (unit == AutoOptions::Unit::kScore) {
    options.score = [&](std::span<const std::byte> program) { return accuracy(model, program); };
  }
  return tools::search_precisions(model.methods, lowering_of(model), options);
}

void print(const char* bound, const AutoResult& result) {
  for (const AutoProgram& each : result.results) {
    std::printf("%s, %s: %zu bytes, %.4f ms, %.1f dB, score %.4f\n", bound, each.name.c_str(),
                each.bytes, each.ms.median, -10 * std::log10(each.noise), each.score.value_or(0));
  }
}

void expect_better_than_int8(const TrainedModel& model, double min_accuracy) {
  using Unit = AutoOptions::Unit;
  aot::Methods copy;
  copy.emplace("forward", model.methods.at("forward").copy());
  const double float_score =
      accuracy(model, aot::lower(std::move(copy), lowering_of(model)).emitted.pte);
  EXPECT_GE(float_score, min_accuracy) << "the training failed";

  // The chosen program scores at least as high as the float program and is at most half as large.
  // Times are printed but not checked, because other processes affect them.
  const AutoResult scored = search(model, Unit::kScore, {Goal::Kind::kAtLeastQuality, float_score});
  print("at least the score of float", scored);
  ASSERT_EQ(scored.results.size(), 3U);
  EXPECT_TRUE(scored.is_met);
  EXPECT_GE(*scored.results[2].score, float_score);
  EXPECT_LE(scored.results[2].bytes, scored.results[0].bytes / 2);

  // The chosen program is at most as large as the int8 program, and has a smaller error.
  const size_t int8_bytes = scored.results[1].bytes;
  const AutoResult small =
      search(model, Unit::kBytes, {Goal::Kind::kAtMostCost, static_cast<double>(int8_bytes)});
  print("at most the size of int8", small);
  EXPECT_TRUE(small.is_met);
  EXPECT_LE(small.results[2].bytes, int8_bytes);
  EXPECT_LT(small.results[2].noise, small.results[1].noise);
}

TEST(TrainedModelsTest, MixedPrecisionBeatsInt8ForTabularDataClassifier) {
  expect_better_than_int8(table_classifier(), 0.8);
}

TEST(TrainedModelsTest, MixedPrecisionBeatsInt8ForWordPredictor) {
  expect_better_than_int8(word_predictor(), 0.5);
}

}  // namespace
}  // namespace vitrine::test
