// Makes small payloads of backends that Vitrine does not run. They were written by hand from the
// descriptions of their formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/program_builder.h"

namespace vitrine::test {

struct ForeignPayload {
  const char* backend;
  AlignedBytes bytes;
};

// One payload for each backend with a public payload format or a public header.
std::vector<ForeignPayload> foreign_payloads();

// linear(x [1,4], inline weight [2,4], named bias "bias_key") -> relu. The weight has the default
// constant id 0, which the writer leaves out.
AlignedBytes vulkan_payload();
// x [1..16,4] -> Addmm with the constant "ab12/weight" -> Silu.
AlignedBytes mlx_payload(uint8_t second_operator = 27);
// A function with conv(x, weight in weights/weight.bin) and relu, in a .mlpackage.
AlignedBytes core_ml_payload();
AlignedBytes core_ml_text_payload();
// One convolution [4,4,8] -> [4,4,16] with a kernel of 3 x 3, and a DMA of 64 bytes.
AlignedBytes ethos_u_payload();
// CONV2D and CLAMP of TOSA in SPIR-V, with a constant of 6 bytes.
AlignedBytes vgf_payload();
AlignedBytes tosa_payload();
AlignedBytes openvino_payload(std::string_view xml = {});
AlignedBytes qnn_payload();
AlignedBytes neutron_payload();
AlignedBytes mps_payload();
AlignedBytes native_payload();

}  // namespace vitrine::test
