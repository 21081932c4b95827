#include "bench/models/zoo.h"

#include "examples/models/mobilenet_v2.h"
#include "examples/models/quantised_mlp.h"
#include "examples/models/transformer.h"

namespace vitrine::bench {
namespace {

aot::ExportedProgram mobilenet_v2() { return examples::mobilenet_v2(); }
aot::ExportedProgram decoder_step() {
  return examples::cached_decoder(
      {.layers = 4, .features = 256, .heads = 8, .hidden = 1024, .words = 2048, .length = 256});
}
aot::ExportedProgram static_mlp() {
  return examples::quantised_mlp({.inputs = 256, .hidden = 512, .outputs = 64});
}

constexpr double kFloat = 60;
constexpr double kInt8 = 20;
constexpr ZooModel kZoo[] = {
    {"mobilenet_v2", "MobileNetV2, 224 x 224", mobilenet_v2, kFloat},
    {"mobilenet_v3_small", "MobileNetV3-small, 224 x 224", mobilenet_v3_small, kFloat},
    {"efficientnet_b0", "EfficientNet-B0, 224 x 224", efficientnet_b0, kFloat},
    {"resnet18", "ResNet-18, 224 x 224", resnet18, kFloat},
    {"unet", "U-Net of 4 levels, 128 x 128", unet, kFloat},
    {"vit_blocks", "4 blocks of ViT-tiny, 197 tokens", vit_blocks, kFloat},
    {"decoder_step", "4 decoder layers, a token with 256 places of cache", decoder_step, kFloat},
    {"keyword_spotting", "DS-CNN on 49 x 10 MFCCs", keyword_spotting, kFloat},
    {"lstm", "LSTM, 16 steps of 128", lstm, kFloat},
    {"dynamic_mlp", "MLP 256-512-64, dynamic int8", dynamic_mlp, kInt8},
    {"static_mlp", "MLP 256-512-64, static int8", static_mlp, kInt8},
};

}  // namespace

std::span<const ZooModel> zoo() { return kZoo; }

}  // namespace vitrine::bench
