// The suite's models: known architectures with seeded weights, so that no file is needed.
#pragma once

#include <span>

#include "aot/graph/exported_program.h"

namespace vitrine::bench {

struct ZooModel {
  const char* name;
  aot::ExportedProgram (*make)();
  double min_sqnr_db;       // of the outputs, to those of the portable kernels
  bool is_dynamic = false;  // quantised by the range of each run
};

std::span<const ZooModel> zoo();

// Convolutional: f32[1, 3, 224, 224] to f32[1, 1000].
aot::ExportedProgram mobilenet_v3_small();
aot::ExportedProgram efficientnet_b0();
aot::ExportedProgram resnet18();
// f32[1, 3, 128, 128] to f32[1, 2, 128, 128].
aot::ExportedProgram unet();
// DS-CNN: f32[1, 1, 49, 10] (MFCCs of a second) to f32[1, 12].
aot::ExportedProgram keyword_spotting();
// Four blocks of ViT-tiny: f32[1, 197, 192] to the same.
aot::ExportedProgram vit_blocks();
// 16 steps of one layer: f32[1, 16, 64] to f32[1, 128].
aot::ExportedProgram lstm();

}  // namespace vitrine::bench
