// Quantise and dequantise calls, as PT2E's quantiser and torchao leave them in graphs.
#pragma once

#include <cstdint>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::xnnpack {

bool is_quantise(const Node& node);
bool is_dequantise(const Node& node);
bool is_choose_params(const Node& node);
// A quantise or dequantise call whose scale and zero point are computed from the data.
bool is_dynamic(const Node& node);

struct QuantParams {
  enum class Kind : uint8_t { kPerTensor, kPerChannel, kPerBlock, kPerToken };
  Kind kind = Kind::kPerTensor;
  double scale = 1.0;      // of kPerTensor with fixed numbers
  int64_t zero_point = 0;  // likewise
  int64_t axis = 0;        // of kPerChannel
  int64_t block_size = 0;  // of kPerBlock: along dim 1
  Node* scales = nullptr;  // where they are tensors
  Node* zero_points = nullptr;
  int64_t quant_min = 0;
  int64_t quant_max = 0;
  ScalarType dtype = ScalarType::kChar;

  // The same fixed numbers for a whole tensor.
  bool is_same_per_tensor(const QuantParams& other) const {
    return kind == Kind::kPerTensor && other.kind == Kind::kPerTensor && scales == nullptr &&
           other.scales == nullptr && scale == other.scale && zero_point == other.zero_point &&
           dtype == other.dtype;
  }
};

// The parameters of a quantise or dequantise call. AotErrors name the node and the argument that
// the operator does not allow.
QuantParams quant_params(const Node& node);

}  // namespace vitrine::aot::xnnpack
