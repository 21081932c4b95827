// Describes the inputs, outputs and memory of a method, which need not be loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/evalue.h"

namespace vitrine {

// Describes an input or output that is a tensor. Views belong to the program.
struct TensorInfo {
  ScalarType dtype;
  std::span<const int32_t> sizes;  // the upper bound if dynamic
  std::span<const uint8_t> dim_order;
  ShapeDynamism dynamism;
  size_t nbytes;           // at these sizes
  bool is_memory_planned;  // or a constant. false: the caller gives the memory
};

// A view of a verified program, which outlives it. Thread-safe.
class MethodMeta {
 public:
  std::string_view name() const;
  size_t num_inputs() const;
  size_t num_outputs() const;
  // None if there are not so many inputs or outputs.
  EValue::Tag input_tag(size_t index) const;
  EValue::Tag output_tag(size_t index) const;
  // Zeroed (u8, no sizes, 0 bytes) if there is no such input or output, or if it is not a tensor.
  TensorInfo input_tensor(size_t index) const;
  TensorInfo output_tensor(size_t index) const;

  // For an `index` beyond their number: 0, or empty.

  // Memory that the caller may supply, in bytes; buffer i holds memory_id i + 1.
  size_t num_planned_buffers() const;
  size_t planned_buffer_size(size_t index) const;

  size_t num_operators() const;
  // Operator `index` of the plan: name and overload, e.g. {"aten::add", "out"}.
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
