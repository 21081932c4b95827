// Builds the models of the suite: known architectures with seeded random weights.
#pragma once

#include <span>

#include "aot/graph/exported_program.h"

namespace vitrine::bench {

struct ZooModel {
  const char* name;
  aot::ExportedProgram (*make)();
  double min_sqnr_db;       // required agreement of the outputs with the portable kernels
  bool is_dynamic = false;  // activations are quantized at run time
};

std::span<const ZooModel> zoo();

// Convolutional networks: f32[1, 3, 224, 224] -> f32[1, 1000].
aot::ExportedProgram mobilenet_v3_small();
aot::ExportedProgram efficientnet_b0();
aot::ExportedProgram resnet18();
// A U-Net: f32[1, 3, 128, 128] -> f32[1, 2, 128, 128].
aot::ExportedProgram unet();
// A DS-CNN: f32[1, 1, 49, 10] (the MFCCs of one second of sound) -> f32[1, 12].
aot::ExportedProgram keyword_spotting();
// Four blocks of ViT-tiny: f32[1, 197, 192] -> f32[1, 197, 192].
aot::ExportedProgram vit_blocks();
// 16 steps of a one-layer LSTM: f32[1, 16, 64] -> f32[1, 128].
aot::ExportedProgram lstm();

}  // namespace vitrine::bench
