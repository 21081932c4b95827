// Tensors that own their memory, and conversion between memory order and logical order.
//
// Files of tensor data hold elements in logical (row-major) order, whatever the dim order of the
// program's tensor, as numpy's tofile() writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vitrine/tensor.h"

namespace vitrine::tools {

class HostTensor {
 public:
  // Zeroed. Throws ToolError if the sizes are negative or their product overflows.
  HostTensor(ScalarType dtype, std::span<const int32_t> sizes, std::span<const uint8_t> dim_order);
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  Tensor& tensor() { return tensor_; }
  std::span<std::byte> bytes() { return data_; }

  // `bytes` must have exactly the tensor's size.
  void set_from_logical(std::span<const std::byte> bytes);
  // Floats uniform in [-1, 1), integers and bools 0 or 1 (valid as indices of most tables).
  void fill_random(std::mt19937_64& generator);

 private:
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  std::vector<int64_t> strides_;
  std::vector<std::byte> data_;
  Tensor tensor_;
};

// The elements of `tensor` in logical order.
std::vector<std::byte> logical_bytes(const Tensor& tensor);

// "f32[1,3,224,224]"
std::string describe(const Tensor& tensor);
std::string describe(ScalarType dtype, std::span<const int32_t> sizes);

}  // namespace vitrine::tools
