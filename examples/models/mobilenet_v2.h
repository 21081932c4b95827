// Builds torchvision's MobileNetV2 with seeded weights.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct MobileNetV2Options {
  double width = 1.0;        // factor for the numbers of channels
  int64_t image_size = 224;  // height and width in pixels, a multiple of 32
  int64_t classes = 1000;
  // If true, the model is quantized to int8, and batch norms are folded into convolutions. The
  // graph has the form that PyTorch's pt2e flow produces with ExecuTorch's XNNPACKQuantizer.
  bool quantized = false;
  uint64_t seed = 1;
};

// Returns the model in training IR, as torch.export produces it. Input x: f32[1, 3, image_size,
// image_size]; result: f32[1, classes].
aot::ExportedProgram mobilenet_v2(const MobileNetV2Options& options = {});

}  // namespace vitrine::examples
