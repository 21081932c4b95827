// MethodMeta describes the inputs, outputs and memory of a method without loading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/evalue.h"

namespace vitrine {

// An input or output tensor. The spans are valid while the program exists.
struct TensorInfo {
  ScalarType dtype;
  std::span<const int32_t> sizes;  // the upper bounds if the shape is dynamic
  std::span<const uint8_t> dim_order;
  ShapeDynamism dynamism;
  size_t nbytes;           // at these sizes
  bool is_memory_planned;  // true also for constants; if false, the caller supplies the memory
};

// A view of a verified program, which must outlive the view. Thread-safe.
class MethodMeta {
 public:
  std::string_view name() const;
  size_t num_inputs() const;
  size_t num_outputs() const;
  // None if `index` is out of range.
  EValue::Tag input_tag(size_t index) const;
  EValue::Tag output_tag(size_t index) const;
  // Empty (u8, no sizes, 0 bytes) if `index` is out of range or the value is not a tensor.
  TensorInfo input_tensor(size_t index) const;
  TensorInfo output_tensor(size_t index) const;

  // The functions below return 0 or an empty string if `index` is out of range.

  // Planned buffers, whose memory the caller may supply, and their sizes in bytes. The program
  // refers to buffer i as memory_id i + 1.
  size_t num_planned_buffers() const;
  size_t planned_buffer_size(size_t index) const;

  size_t num_operators() const;
  // Name and overload of an operator, such as {"aten::add", "out"}.
  std::pair<std::string_view, std::string_view> operator_name(size_t index) const;
  size_t num_delegates() const;
  std::string_view delegate_id(size_t index) const;
  size_t num_instructions() const;

 private:
  friend struct ProgramAccess;  // runtime/program/program_access.h
  explicit MethodMeta(const void* plan) : plan_(plan) {}

  const void* plan_;  // the method's table in the file
};

}  // namespace vitrine
