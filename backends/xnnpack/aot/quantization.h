// Reads the quantize and dequantize calls that PT2E's quantizer and torchao put into graphs.
#pragma once

#include <cstdint>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::xnnpack {

bool is_quantize(const Node& node);
bool is_dequantize(const Node& node);
bool is_choose_params(const Node& node);
// Returns true for a quantize or dequantize call whose scale and zero point the model computes at
// run time.
bool is_dynamic(const Node& node);

struct QuantParams {
  enum class Kind : uint8_t { kPerTensor, kPerChannel, kPerBlock, kPerToken };
  Kind kind = Kind::kPerTensor;
  double scale = 1.0;           // for kPerTensor with constant parameters
  int64_t zero_point = 0;       // for kPerTensor with constant parameters
  int64_t axis = 0;             // for kPerChannel
  int64_t block_size = 0;       // for kPerBlock, along dim 1
  Node* scales = nullptr;       // set if the scales are a tensor
  Node* zero_points = nullptr;  // set if the zero points are a tensor
  int64_t quant_min = 0;
  int64_t quant_max = 0;
  ScalarType dtype = ScalarType::kChar;

  // Returns true if both calls quantize per tensor, with the same constant parameters.
  bool is_same_per_tensor(const QuantParams& other) const {
    return kind == Kind::kPerTensor && other.kind == Kind::kPerTensor && scales == nullptr &&
           other.scales == nullptr && scale == other.scale && zero_point == other.zero_point &&
           dtype == other.dtype;
  }
};

// Returns the parameters of a quantize or dequantize call. AotErrors name the node and the invalid
// argument.
QuantParams quant_params(const Node& node);

}  // namespace vitrine::aot::xnnpack
