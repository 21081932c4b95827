#include "examples/models/mobilenet_v2.h"

#include <algorithm>
#include <array>
#include <string>

#include "examples/models/quantized_layers.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

constexpr const char* kSequential = "torch.nn.modules.container.Sequential";

// Rounds to the nearest positive multiple of 8, but up if the result would be less than 0.9 *
// wanted, as torchvision does.
int64_t channels(double wanted) {
  const int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + 8 : rounded;
}

struct Shape {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
  double mean_square;  // mean square of the input, which determines the scale of int8 weights
};
// Assumed mean squares of a layer's input, by the kind of input.
constexpr double kImage = 1.0 / 3;  // uniform in [-1, 1]
constexpr double kRectified = 0.5;  // half of a distribution with variance one
constexpr double kPooled = 0.1;     // averages of rectified values

int64_t channels_of(const Node* x) { return x->tensor()->sizes.at(1).value(); }

// Builds the model's layers in f32 or in int8. In int8, every result is quantized.
class Layers {
 public:
  Layers(ModelBuilder& build, bool quantized) : build_(build), quantized_(quantized) {}

  // A convolution and the batch norm `norm`, which the int8 model folds into the weights.
  Node* conv_norm(const std::string& conv, const std::string& norm, Node* x, const Shape& shape) {
    const nn::ConvOptions options = {.kernel = shape.kernel,
                                     .stride = shape.stride,
                                     .padding = (shape.kernel - 1) / 2,
                                     .groups = shape.groups,
                                     .bias = false};
    if (quantized_) {
      return result(quantized_conv2d(build_, conv, x, shape.out, options, shape.mean_square));
    }
    return nn::batch_norm2d(build_, norm, nn::conv2d(build_, conv, x, shape.out, options));
  }

  Node* conv_norm_relu(const std::string& name, Node* x, const Shape& shape) {
    const auto module = build_.module(name, "torchvision.ops.misc.Conv2dNormActivation");
    return result(nn::relu6(build_, "2", conv_norm("0", "1", x, shape)));
  }

  // The sum can be twice as large as an operand, so its quantization scale is twice as large.
  Node* sum(Node* x, Node* y) {
    if (quantized_) x = dequantized_again(build_, x);
    return result(build_.call("aten.add.Tensor", {x, y}), 2 * kActivationScale);
  }

  Node* linear(const std::string& name, Node* x, int64_t out) {
    return quantized_ ? result(quantized_linear(build_, name, x, out, kPooled))
                      : nn::linear(build_, name, x, out);
  }

  Node* result(Node* x, double scale = kActivationScale) {
    return quantized_ ? requantized(build_, x, scale) : x;
  }

 private:
  ModelBuilder& build_;
  bool quantized_;
};

struct Block {
  int64_t out;
  int64_t stride;
  int64_t expansion;
  double mean_square;  // mean square of the input
};
Node* inverted_residual(ModelBuilder& build, Layers& layers, const std::string& name, Node* x,
                        const Block& block) {
  const auto module = build.module(name, "torchvision.models.mobilenetv2.InvertedResidual");
  const int64_t in = channels_of(x);
  const int64_t hidden = in * block.expansion;
  Node* y = x;
  {
    const auto conv = build.module("conv", kSequential);
    int next = 0;
    if (block.expansion != 1) {
      y = layers.conv_norm_relu(std::to_string(next++), y,
                                {.out = hidden, .mean_square = block.mean_square});
    }
    y = layers.conv_norm_relu(std::to_string(next), y,
                              {.out = hidden,
                               .kernel = 3,
                               .stride = block.stride,
                               .groups = hidden,
                               .mean_square = kRectified});
    y = layers.conv_norm(std::to_string(next + 1), std::to_string(next + 2), y,
                         {.out = block.out, .mean_square = kRectified});
  }
  return block.stride == 1 && in == block.out ? layers.sum(x, y) : y;
}

struct Stage {
  int64_t expansion;
  int64_t channels;
  int repeats;
  int64_t stride;  // stride of the first block
};
constexpr std::array<Stage, 7> kStages = {{{1, 16, 1, 1},
                                           {6, 24, 2, 2},
                                           {6, 32, 3, 2},
                                           {6, 64, 4, 2},
                                           {6, 96, 3, 1},
                                           {6, 160, 3, 2},
                                           {6, 320, 1, 1}}};

}  // namespace

aot::ExportedProgram mobilenet_v2(const MobileNetV2Options& options) {
  ModelBuilder build("torchvision.models.mobilenetv2.MobileNetV2", options.seed);
  Layers layers(build, options.quantized);
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, options.image_size, options.image_size});
  x = layers.result(x);
  {
    const auto features = build.module("features", kSequential);
    int next = 0;
    x = layers.conv_norm_relu(
        std::to_string(next++), x,
        {.out = channels(32 * options.width), .kernel = 3, .stride = 2, .mean_square = kImage});
    double mean_square = kRectified;
    for (const Stage& stage : kStages) {
      const int64_t out = channels(static_cast<double>(stage.channels) * options.width);
      for (int i = 0; i < stage.repeats; ++i) {
        x = inverted_residual(build, layers, std::to_string(next++), x,
                              {out, i == 0 ? stage.stride : 1, stage.expansion, mean_square});
        mean_square = i + 1;  // the input is the sum of i + 1 results
      }
    }
    x = layers.conv_norm_relu(
        std::to_string(next), x,
        {.out = channels(1280 * std::max(1.0, options.width)), .mean_square = mean_square});
  }
  x = layers.result(
      build.call("aten.adaptive_avg_pool2d.default", {x, std::vector<int64_t>{1, 1}}));
  x = layers.result(build.call("aten.flatten.using_ints", {x, 1}));
  {
    const auto classifier = build.module("classifier", kSequential);
    x = layers.result(nn::dropout(build, "0", x, 0.2));
    x = layers.linear("1", x, options.classes);
  }
  return build.finish({x});
}

}  // namespace vitrine::examples
