#include "bench/models/zoo.h"

#include "examples/models/mobilenet_v2.h"
#include "examples/models/quantized_mlp.h"
#include "examples/models/transformer.h"

namespace vitrine::bench {
namespace {

aot::ExportedProgram mobilenet_v2() { return examples::mobilenet_v2(); }
aot::ExportedProgram mobilenet_v2_int8() { return examples::mobilenet_v2({.quantized = true}); }
aot::ExportedProgram decoder_step() {
  return examples::cached_decoder(
      {.layers = 4, .features = 256, .heads = 8, .hidden = 1024, .words = 2048, .length = 256});
}
aot::ExportedProgram static_mlp() {
  return examples::quantized_mlp({.inputs = 256, .hidden = 512, .outputs = 64});
}
aot::ExportedProgram dynamic_mlp() {
  return examples::quantized_mlp({.inputs = 256, .hidden = 512, .outputs = 64, .dynamic = true});
}

// Minimum SQNR in dB of a model's outputs.
constexpr double kFloat = 60;
constexpr double kInt8 = 20;
constexpr ZooModel kZoo[] = {
    {"mobilenet_v2", mobilenet_v2, kFloat},
    {"mobilenet_v2_int8", mobilenet_v2_int8, kInt8},
    {"mobilenet_v3_small", mobilenet_v3_small, kFloat},
    {"efficientnet_b0", efficientnet_b0, kFloat},
    {"resnet18", resnet18, kFloat},
    {"unet", unet, kFloat},
    {"vit_blocks", vit_blocks, kFloat},
    {"decoder_step", decoder_step, kFloat},
    {"keyword_spotting", keyword_spotting, kFloat},
    {"lstm", lstm, kFloat},
    {"dynamic_mlp", dynamic_mlp, kInt8, true},
    {"static_mlp", static_mlp, kInt8},
};

}  // namespace

std::span<const ZooModel> zoo() { return kZoo; }

}  // namespace vitrine::bench
