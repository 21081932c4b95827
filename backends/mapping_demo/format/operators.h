// What both halves of the demo and its traces agree on. Payload: docs/formats/mapping_demo_blob.md
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vitrine::mapping_demo {

// As programs name the backend; ExecuTorch's name for it.
inline constexpr char kBackendId[] = "BackendWithDelegateMappingDemo";

inline constexpr uint32_t kMagic = 0x31444D56;  // "VMD1"

enum class OperatorKind : uint32_t { kConvRelu, kSin, kCos, kDiv };

struct OperatorRow {
  const char* name;  // in payloads and traces
  uint32_t num_inputs;
  // Base names of the ops of a model that it is made of. An absent second one is empty.
  std::array<std::string_view, 2> ops;
};
// By OperatorKind.
inline constexpr std::array<OperatorRow, 4> kOperators = {
    OperatorRow{"conv_relu_op", 1, {"convolution", "relu"}},
    OperatorRow{"sin_decomp_from_tan", 1, {"tan"}},
    OperatorRow{"cos_decomp_from_tan", 1, {"tan"}},
    OperatorRow{"div_decomp_from_tan", 2, {"tan"}},
};

}  // namespace vitrine::mapping_demo
