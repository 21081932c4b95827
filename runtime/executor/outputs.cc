// Sets or allocates the memory of outputs that are not memory-planned, and copies results that are
// elsewhere into this memory.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/executor/method_parts.h"
#include "runtime/executor/tensor_memory.h"
#include "vitrine/method.h"

namespace vitrine {

Error Method::set_output_data(size_t index, std::span<std::byte> memory) {
  if (index >= outputs_.size() || meta_.output_tag(index) != EValue::Tag::kTensor) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu is not a tensor of this method",
                       index);
  }
  if (meta_.output_tensor(index).is_memory_planned) {
    return Error::make(ErrorCode::kInvalidState,
                       "output %zu is memory-planned, so its memory cannot be set", index);
  }
  if (is_input(outputs_[index])) {
    return Error::make(ErrorCode::kInvalidState,
                       "output %zu is also an input; set its memory with set_input()", index);
  }
  RestoredValue* const restored = find_restored(outputs_[index]);
  const EValue& value = restored != nullptr ? restored->initial : *outputs_[index];
  Tensor& output = value.unchecked_tensor();
  if (memory.size() < output.bound_nbytes()) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu needs %zu bytes, got %zu", index,
                       output.bound_nbytes(), memory.size());
  }
  if (!is_aligned(memory.data(), output)) return misaligned(output).in("output %zu", index);
  if (restored != nullptr) output.restore_memory(restored->memory);
  output.set_data(memory.data(), memory.size() - output.bound_nbytes() >= kReadableSlack);
  if (restored != nullptr) {
    restored->memory = output;
    restored->has_caller_memory = true;
    finish_outputs_ = finish_outputs;
  }
  return Error();
}

bool Method::is_input(const EValue* value) const {
  return std::ranges::find(inputs_, value, &Input::value) != inputs_.end();
}

// True if the caller set the output's memory, but the result is elsewhere, because of a move
// instruction or a view.
bool Method::RestoredValue::was_moved() const {
  if (!has_caller_memory) return false;
  const Tensor& result = value->unchecked_tensor();
  return &result != &initial.unchecked_tensor() || result.raw_data() != memory.raw_data();
}

// Replaces `result` with a copy in temporary memory.
Error Method::copy_to_temporary(EValue& result) {
  const Tensor& from = result.unchecked_tensor();
  const std::span<Tensor> tensor = temp_.allocate_array<Tensor>(1);
  const std::span<int32_t> sizes = temp_.allocate_array<int32_t>(from.rank());
  const std::span<int64_t> strides = temp_.allocate_array<int64_t>(from.rank());
  void* const data = temp_.allocate(from.nbytes(), alignof(std::max_align_t));
  if (tensor.empty() || sizes.size() != from.rank() || strides.size() != from.rank() ||
      data == nullptr) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no temporary memory for an output");
  }
  std::ranges::copy(from.sizes(), sizes.begin());
  if (from.nbytes() != 0) std::memcpy(data, from.raw_data(), from.nbytes());
  tensor[0] = Tensor(from.dtype(), sizes, from.dim_order(), strides, data);
  result = EValue(tensor.data());
  return Error();
}

// Copies moved results (see was_moved()) to the caller's memory. Several results are first saved in
// temporary memory, because copying a result could overwrite another result.
Error Method::copy_moved_outputs() {
  const auto count = std::ranges::count_if(restored_, &RestoredValue::was_moved);
  for (RestoredValue& each : restored_) {
    if (!each.was_moved()) continue;
    const Tensor& result = each.value->unchecked_tensor();
    if (!result.same_dim_order(each.memory) || !result.is_readable()) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "the result has no memory, or its dim order differs from the output's");
    }
    if (count > 1) VITRINE_RETURN_IF_ERROR(copy_to_temporary(*each.value));
  }
  for (RestoredValue& each : restored_) {
    if (!each.was_moved()) continue;
    const Tensor result = each.value->unchecked_tensor();
    Tensor& own = each.initial.unchecked_tensor();
    own.restore_memory(each.memory);
    *each.value = each.initial;
    VITRINE_RETURN_IF_ERROR(copy_to(result, own));
  }
  return Error();
}

Error Method::finish_outputs(Method& method) {
  Error error = method.copy_moved_outputs();
  if (!error.ok()) method.restore();  // values must not refer to temporary memory
  if (!method.temp_.empty()) method.temp_.reset();
  return error;
}

Error Method::allocate_outputs() {
  constexpr size_t kAlignment = 64;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]->is_tensor() || meta_.output_tensor(i).is_memory_planned) continue;
    const RestoredValue* const restored = find_restored(outputs_[i]);
    const Tensor& output = restored != nullptr ? restored->memory : outputs_[i]->unchecked_tensor();
    if (output.raw_data() != nullptr) continue;
    if (!load_steps_.take(inputs_.size())) {
      return Error::make(ErrorCode::kOutOfResources,
                         "the method has too many inputs and outputs (max_load_steps)");
    }
    if (is_input(outputs_[i])) continue;
    const size_t bytes = output.bound_nbytes() + kReadableSlack;
    auto* memory = static_cast<std::byte*>(arena_.allocate(bytes, kAlignment));
    if (memory == nullptr) {
      return Error::make(ErrorCode::kMemoryAllocationFailed,
                         "no memory for output %zu: %llu of the %llu bytes that max_memory_bytes "
                         "allows are in use",
                         i, static_cast<unsigned long long>(memory_.used()),
                         static_cast<unsigned long long>(memory_.limit()));
    }
    std::memset(memory, 0, bytes);
    VITRINE_RETURN_IF_ERROR(set_output_data(i, {memory, bytes}));
  }
  return Error();
}

}  // namespace vitrine
