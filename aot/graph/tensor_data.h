// The data of weights and constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vitrine/scalar_type.h"

namespace vitrine::aot {

// A tensor's data: a strided view into bytes that `owner` keeps alive. Copies share the bytes.
// Code that creates tensor data must check that every element is inside `storage`.
struct TensorData {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements, >= 0
  int64_t storage_offset = 0;    // in elements
  bool requires_grad = false;
  std::span<const std::byte> storage;
  std::shared_ptr<const void> owner;

  int64_t numel() const;
  bool is_contiguous() const;
  // Returns an error such as "has the negative size -1", or "" if all elements are in `storage`.
  std::string check() const;
};

std::vector<std::byte> row_major_bytes(const TensorData& data);
// Makes row-major data that own their bytes. `bytes` must hold exactly the elements.
TensorData make_tensor_data(ScalarType dtype, std::vector<int64_t> sizes,
                            std::vector<std::byte> bytes);

}  // namespace vitrine::aot
