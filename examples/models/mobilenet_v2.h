// torchvision's MobileNetV2 with seeded weights.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct MobileNetV2Options {
  double width = 1.0;        // factor on channels
  int64_t image_size = 224;  // pixels a side, a multiple of 32
  int64_t classes = 1000;
  // Batch norms folded into convolutions, and int8 as PyTorch's pt2e flow leaves it with
  // ExecuTorch's XNNPACKQuantizer.
  bool quantised = false;
  uint64_t seed = 1;
};

// In training IR, as torch.export produces it. Input x: f32[1, 3, size, size]; result: f32[1,
// classes].
aot::ExportedProgram mobilenet_v2(const MobileNetV2Options& options = {});

}  // namespace vitrine::examples
