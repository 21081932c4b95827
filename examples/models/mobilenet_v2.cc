#include "examples/models/mobilenet_v2.h"

#include <algorithm>
#include <array>
#include <string>

#include "aot/builder/layers.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

constexpr const char* kSequential = "torch.nn.modules.container.Sequential";

// The nearest multiple of 8, but at least nine tenths of the value.
int64_t channels(double wanted) {
  const int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + 8 : rounded;
}

struct ConvShape {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
};

Node* conv_norm_relu(ModelBuilder& build, const std::string& name, Node* x,
                     const ConvShape& shape) {
  const auto module = build.module(name, "torchvision.ops.misc.Conv2dNormActivation");
  x = nn::conv2d(build, "0", x, shape.out,
                 {.kernel = shape.kernel,
                  .stride = shape.stride,
                  .padding = (shape.kernel - 1) / 2,
                  .groups = shape.groups,
                  .bias = false});
  x = nn::batch_norm2d(build, "1", x);
  return nn::relu6(build, "2", x);
}

int64_t channels_of(const Node* x) { return x->tensor()->sizes.at(1).value(); }

Node* inverted_residual(ModelBuilder& build, const std::string& name, Node* x, int64_t out,
                        int64_t stride, int64_t expansion) {
  const auto module = build.module(name, "torchvision.models.mobilenetv2.InvertedResidual");
  const int64_t in = channels_of(x);
  const int64_t hidden = in * expansion;
  Node* y = x;
  {
    const auto conv = build.module("conv", kSequential);
    int next = 0;
    if (expansion != 1) {
      y = conv_norm_relu(build, std::to_string(next++), y, {.out = hidden});
    }
    y = conv_norm_relu(build, std::to_string(next++), y,
                       {.out = hidden, .kernel = 3, .stride = stride, .groups = hidden});
    y = nn::conv2d(build, std::to_string(next++), y, out, {.kernel = 1, .bias = false});
    y = nn::batch_norm2d(build, std::to_string(next), y);
  }
  return stride == 1 && in == out ? build.call("aten.add.Tensor", {x, y}) : y;
}

struct Stage {
  int64_t expansion;
  int64_t channels;
  int repeats;
  int64_t stride;  // of the first block
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
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, options.image_size, options.image_size});
  {
    const auto features = build.module("features", kSequential);
    int next = 0;
    x = conv_norm_relu(build, std::to_string(next++), x,
                       {.out = channels(32 * options.width), .kernel = 3, .stride = 2});
    for (const Stage& stage : kStages) {
      const int64_t out = channels(static_cast<double>(stage.channels) * options.width);
      for (int i = 0; i < stage.repeats; ++i) {
        x = inverted_residual(build, std::to_string(next++), x, out, i == 0 ? stage.stride : 1,
                              stage.expansion);
      }
    }
    x = conv_norm_relu(build, std::to_string(next), x,
                       {.out = channels(1280 * std::max(1.0, options.width))});
  }
  x = build.call("aten.adaptive_avg_pool2d.default", {x, std::vector<int64_t>{1, 1}});
  x = build.call("aten.flatten.using_ints", {x, 1});
  {
    const auto classifier = build.module("classifier", kSequential);
    x = nn::dropout(build, "0", x, 0.2);
    x = nn::linear(build, "1", x, options.classes);
  }
  return build.finish({x});
}

}  // namespace vitrine::examples
