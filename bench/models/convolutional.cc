#include <algorithm>
#include <string>
#include <vector>

#include "bench/models/zoo.h"
#include "examples/models/layers.h"

namespace vitrine::bench {
namespace {

using aot::Argument;
using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

constexpr const char* kBlock = "torch.nn.modules.container.Sequential";

int64_t channels_of(const Node* x) { return x->tensor()->sizes.at(1).value(); }

// Applies an activation operator such as "aten.relu.default". Returns `x` if `op` is null.
Node* activated(ModelBuilder& build, const char* op, Node* x) {
  return op == nullptr ? x : build.call(op, {x});
}

struct Conv {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
};
Node* conv_norm(ModelBuilder& build, const std::string& name, Node* x, const Conv& conv,
                const char* activation) {
  const auto module = build.module(name, kBlock);
  x = nn::conv2d(build, "conv", x, conv.out,
                 {.kernel = conv.kernel,
                  .stride = conv.stride,
                  .padding = conv.kernel / 2,
                  .groups = conv.groups,
                  .bias = false});
  return activated(build, activation, nn::batch_norm2d(build, "norm", x));
}

Node* pooled(ModelBuilder& build, Node* x) {
  return build.call("aten.adaptive_avg_pool2d.default", {x, std::vector<int64_t>{1, 1}});
}

Node* squeeze_and_excite(ModelBuilder& build, Node* x, int64_t inner, const char* activation,
                         const char* gate) {
  const auto module = build.module("squeeze", kBlock);
  Node* scale = nn::conv2d(build, "down", pooled(build, x), inner, {.kernel = 1});
  scale =
      nn::conv2d(build, "up", activated(build, activation, scale), channels_of(x), {.kernel = 1});
  return build.call("aten.mul.Tensor", {activated(build, gate, scale), x});
}

// An inverted residual block, optionally with squeeze-and-excitation.
struct Inverted {
  int64_t kernel;
  int64_t hidden;
  int64_t out;
  int64_t squeeze;  // channels of the squeeze; 0: no squeeze-and-excitation
  const char* activation;
  int64_t stride;
};
Node* inverted(ModelBuilder& build, const std::string& name, Node* x, const Inverted& block,
               const char* squeeze_activation, const char* gate) {
  const auto module = build.module(name, kBlock);
  Node* y = x;
  if (block.hidden != channels_of(x)) {
    y = conv_norm(build, "expand", y, {.out = block.hidden}, block.activation);
  }
  y = conv_norm(
      build, "depthwise", y,
      {.out = block.hidden, .kernel = block.kernel, .stride = block.stride, .groups = block.hidden},
      block.activation);
  if (block.squeeze != 0) y = squeeze_and_excite(build, y, block.squeeze, squeeze_activation, gate);
  y = conv_norm(build, "project", y, {.out = block.out}, nullptr);
  const bool is_residual = block.stride == 1 && block.out == channels_of(x);
  return is_residual ? build.call("aten.add.Tensor", {x, y}) : y;
}

Node* flattened(ModelBuilder& build, Node* x) {
  return build.call("aten.flatten.using_ints", {pooled(build, x), 1});
}

Node* image(ModelBuilder& build, int64_t channels, int64_t height, int64_t width) {
  return build.input("x", ScalarType::kFloat, {1, channels, height, width});
}

constexpr const char* kRelu = "aten.relu.default";
constexpr const char* kHardswish = "aten.hardswish.default";
constexpr const char* kHardsigmoid = "aten.hardsigmoid.default";
constexpr const char* kSilu = "aten.silu.default";
constexpr const char* kSigmoid = "aten.sigmoid.default";

// Howard et al. 2019, table 2.
constexpr Inverted kMobileNetV3Small[] = {
    {3, 16, 16, 8, kRelu, 2},         {3, 72, 24, 0, kRelu, 2},
    {3, 88, 24, 0, kRelu, 1},         {5, 96, 40, 24, kHardswish, 2},
    {5, 240, 40, 64, kHardswish, 1},  {5, 240, 40, 64, kHardswish, 1},
    {5, 120, 48, 32, kHardswish, 1},  {5, 144, 48, 40, kHardswish, 1},
    {5, 288, 96, 72, kHardswish, 2},  {5, 576, 96, 144, kHardswish, 1},
    {5, 576, 96, 144, kHardswish, 1},
};

// The blocks of EfficientNet-B0: Tan and Le 2019, table 1.
struct Stage {
  int64_t expansion;
  int64_t kernel;
  int64_t out;
  int repeats;
  int64_t stride;
};
constexpr Stage kEfficientNetB0[] = {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2},  {6, 5, 40, 2, 2},
                                     {6, 3, 80, 3, 2}, {6, 5, 112, 3, 1}, {6, 5, 192, 4, 2},
                                     {6, 3, 320, 1, 1}};

Node* residual(ModelBuilder& build, const std::string& name, Node* x, int64_t out, int64_t stride) {
  const auto module = build.module(name, kBlock);
  Node* y = conv_norm(build, "1", x, {.out = out, .kernel = 3, .stride = stride}, kRelu);
  y = conv_norm(build, "2", y, {.out = out, .kernel = 3}, nullptr);
  if (channels_of(x) != out) {
    x = conv_norm(build, "down", x, {.out = out, .stride = stride}, nullptr);
  }
  return build.call(kRelu, {build.call("aten.add.Tensor", {x, y})});
}

Node* max_pooled(ModelBuilder& build, Node* x, int64_t kernel, int64_t padding) {
  const auto pair = [](int64_t value) { return Argument(std::vector<int64_t>{value, value}); };
  return build.call("aten.max_pool2d.default", {x, pair(kernel), pair(2), pair(padding)});
}

Node* double_conv(ModelBuilder& build, const std::string& name, Node* x, int64_t out) {
  const auto module = build.module(name, kBlock);
  x = conv_norm(build, "1", x, {.out = out, .kernel = 3}, kRelu);
  return conv_norm(build, "2", x, {.out = out, .kernel = 3}, kRelu);
}

}  // namespace

aot::ExportedProgram mobilenet_v3_small() {
  ModelBuilder build("torchvision.models.mobilenetv3.MobileNetV3");
  Node* x = image(build, 3, 224, 224);
  x = conv_norm(build, "stem", x, {.out = 16, .kernel = 3, .stride = 2}, kHardswish);
  int next = 0;
  for (const Inverted& block : kMobileNetV3Small) {
    x = inverted(build, std::to_string(next++), x, block, kRelu, kHardsigmoid);
  }
  x = flattened(build, conv_norm(build, "head", x, {.out = 576}, kHardswish));
  x = build.call(kHardswish, {nn::linear(build, "hidden", x, 1024)});
  return build.finish({nn::linear(build, "classes", x, 1000)});
}

aot::ExportedProgram efficientnet_b0() {
  ModelBuilder build("torchvision.models.efficientnet.EfficientNet");
  Node* x = image(build, 3, 224, 224);
  x = conv_norm(build, "stem", x, {.out = 32, .kernel = 3, .stride = 2}, kSilu);
  int next = 0;
  for (const Stage& stage : kEfficientNetB0) {
    for (int i = 0; i < stage.repeats; ++i) {
      const int64_t in = channels_of(x);
      x = inverted(build, std::to_string(next++), x,
                   {stage.kernel, in * stage.expansion, stage.out, std::max<int64_t>(1, in / 4),
                    kSilu, i == 0 ? stage.stride : 1},
                   kSilu, kSigmoid);
    }
  }
  x = flattened(build, conv_norm(build, "head", x, {.out = 1280}, kSilu));
  return build.finish({nn::linear(build, "classes", x, 1000)});
}

aot::ExportedProgram resnet18() {
  ModelBuilder build("torchvision.models.resnet.ResNet");
  Node* x = image(build, 3, 224, 224);
  x = conv_norm(build, "stem", x, {.out = 64, .kernel = 7, .stride = 2}, kRelu);
  x = max_pooled(build, x, 3, 1);
  for (int64_t stage = 0; stage < 4; ++stage) {
    for (const int64_t block : {0, 1}) {
      x = residual(build, std::to_string(stage) + "_" + std::to_string(block), x, 64 << stage,
                   block == 0 && stage > 0 ? 2 : 1);
    }
  }
  return build.finish({nn::linear(build, "classes", flattened(build, x), 1000)});
}

aot::ExportedProgram unet() {
  ModelBuilder build("vitrine.bench.UNet");
  Node* x = image(build, 3, 128, 128);
  std::vector<Node*> skips;
  for (const int64_t out : {16, 32, 64}) {
    skips.push_back(double_conv(build, "down" + std::to_string(out), x, out));
    x = max_pooled(build, skips.back(), 2, 0);
  }
  x = double_conv(build, "middle", x, 128);
  for (const int64_t out : {64, 32, 16}) {
    const auto side = skips.back()->tensor()->sizes.at(2).value();
    x = build.call("aten.upsample_bilinear2d.vec",
                   {x, std::vector<int64_t>{side, side}, false, Argument()});
    x = build.call("aten.cat.default", {Argument::list({skips.back(), x}), 1});
    skips.pop_back();
    x = double_conv(build, "up" + std::to_string(out), x, out);
  }
  return build.finish({nn::conv2d(build, "classes", x, 2, {.kernel = 1})});
}

// The small DS-CNN (keyword spotting): Zhang et al. 2017, "Hello Edge".
aot::ExportedProgram keyword_spotting() {
  ModelBuilder build("vitrine.bench.KeywordSpotting");
  Node* x = image(build, 1, 49, 10);
  x = conv_norm(build, "stem", x, {.out = 64, .kernel = 5, .stride = 2}, kRelu);
  for (int i = 0; i < 4; ++i) {
    const auto module = build.module(std::to_string(i), kBlock);
    x = conv_norm(build, "depthwise", x, {.out = 64, .kernel = 3, .groups = 64}, kRelu);
    x = conv_norm(build, "pointwise", x, {.out = 64}, kRelu);
  }
  return build.finish({nn::linear(build, "classes", flattened(build, x), 12)});
}

}  // namespace vitrine::bench
