// Defines the backend id, the operators and the format of the payload, which both halves of the
// demo share.
//
// A payload begins with the text that ExecuTorch's backend_with_delegate_mapping_demo.py writes:
// the number of operators, then the name and the identifier of each.
//
//   4#conv_relu_op,0,sin_decomp_from_tan,1,cos_decomp_from_tan,2,div_decomp_from_tan,3,
//
// One to four zero bytes pad the text to a multiple of four bytes. ExecuTorch's payloads consist of
// only the text, so they have no weights and cannot run. In this demo's payloads, little-endian
// 32-bit words follow:
//
//   kMagic, the number of inputs, the number of outputs
//   for each value: its rank, its sizes; values are the inputs and then one result per operator
//   for each output: the index of its value
//   for each operator: the index of each input value, and for conv_relu_op also stride, padding and
//     dilation (height and width each), groups, the sizes of the weight [out, in / groups, height,
//     width], 1 if there is a bias or else 0, the weight, the bias
//
// Values are f32 and row-major. The inputs of an operator have smaller indices than its result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace demo {

// ExecuTorch's demo uses the same id.
inline constexpr char kBackendId[] = "BackendWithDelegateMappingDemo";
inline constexpr uint32_t kMagic = 0x32444D56;  // "VMD2"
inline constexpr size_t kMaxRank = 16;

enum class OperatorKind : uint32_t { kConvRelu, kSin, kCos, kDiv };

struct OperatorRow {
  std::string_view name;  // name in payloads and traces
  uint32_t num_inputs;
  std::array<std::string_view, 2> ops;  // base names of the source ops; the second name may be
                                        // empty
};
// Rows are in the order of OperatorKind.
inline constexpr std::array<OperatorRow, 4> kOperators = {
    OperatorRow{"conv_relu_op", 1, {"convolution", "relu"}},
    OperatorRow{"sin_decomp_from_tan", 1, {"tan"}},
    OperatorRow{"cos_decomp_from_tan", 1, {"tan"}},
    OperatorRow{"div_decomp_from_tan", 2, {"tan"}},
};

}  // namespace demo
