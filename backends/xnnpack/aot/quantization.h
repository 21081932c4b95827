// Reads the quantize and dequantize calls that PT2E's quantizer and torchao put into graphs.
#pragma once

#include <cstdint>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::xnnpack {

bool is_quantize(const Node& node);
bool is_dequantize(const Node& node);
bool is_choose_params(const Node& node);
// Returns true for a call whose scale and zero point are computed at run time.
bool is_dynamic(const Node& node);

struct QuantParams {
  enum class Kind : uint8_t { kPerTensor, kPerChannel, kPerBlock, kPerToken };
  Kind kind = Kind::kPerTensor;
  double scale = 1.0;      // valid for kPerTensor with constant parameters
  int64_t zero_point = 0;  // valid for kPerTensor with constant parameters
  int64_t axis = 0;        // valid for kPerChannel
  int64_t block_size = 0;  // valid for kPerBlock, along dim 1
  Node* scales = nullptr;  // null if the scale is a number
  Node* zero_points = nullptr;
  int64_t quant_min = 0;
  int64_t quant_max = 0;
  ScalarType dtype = ScalarType::kChar;

  bool is_same_per_tensor(const QuantParams& other) const {
    return kind == Kind::kPerTensor && other.kind == Kind::kPerTensor && scales == nullptr &&
           other.scales == nullptr && scale == other.scale && zero_point == other.zero_point &&
           dtype == other.dtype;
  }
};

// Throws AotError if an argument is invalid. The message names the node and the argument.
QuantParams quant_params(const Node& node);

}  // namespace vitrine::aot::xnnpack
