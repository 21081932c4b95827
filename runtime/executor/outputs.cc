// Memory for outputs that a program does not plan, and how results get there.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/executor/tensor_memory.h"
#include "vitrine/method.h"

namespace vitrine {

Error Method::set_output_data(size_t index, std::span<std::byte> memory) {
  if (index >= outputs_.size() || meta_.output_tag(index) != EValue::Tag::kTensor) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu is not a tensor of this method",
                       index);
  }
  if (meta_.output_tensor(index).is_memory_planned) {
    return Error::make(ErrorCode::kInvalidState, "output %zu is memory-planned", index);
  }
  if (is_input(outputs_[index])) {
    return Error::make(ErrorCode::kInvalidState,
                       "output %zu is an input, too: set_input gives its memory", index);
  }
  Restored* const restored = find_restored(outputs_[index]);
  const EValue& value = restored != nullptr ? restored->before : *outputs_[index];
  Tensor& output = value.unchecked_tensor();
  if (memory.size() < output.bound_nbytes()) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu needs %zu bytes, not %zu", index,
                       output.bound_nbytes(), memory.size());
  }
  if (!is_aligned(memory.data(), output)) return misaligned(output).in("output %zu", index);
  if (restored != nullptr) output.return_to(restored->memory);
  output.set_data(memory.data(), memory.size() - output.bound_nbytes() >= kReadableSlack);
  if (restored != nullptr) {
    restored->memory = output;
    restored->is_given = true;
    deliver_ = deliver;
  }
  return Error();
}

bool Method::is_input(const EValue* value) const {
  return std::ranges::find(inputs_, value, &Input::value) != inputs_.end();
}

// A branch's move, or a view, puts another tensor or other memory where an output was.
bool Method::Restored::is_elsewhere() const {
  if (!is_given) return false;
  const Tensor& result = value->unchecked_tensor();
  return &result != &before.unchecked_tensor() || result.raw_data() != memory.raw_data();
}

// Makes `result` a copy in temporary memory, which stays while other tensors are written.
Error Method::set_aside(EValue& result) {
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

// Where there are several, one may lie in another's memory, so all are set aside first.
Error Method::place_results() {
  const auto count = std::ranges::count_if(restored_, &Restored::is_elsewhere);
  for (Restored& each : restored_) {
    if (!each.is_elsewhere()) continue;
    const Tensor& result = each.value->unchecked_tensor();
    if (!result.same_dim_order(each.memory) || !result.is_readable()) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "an output has no memory, or another dim order than it should");
    }
    if (count > 1) VITRINE_RETURN_IF_ERROR(set_aside(*each.value));
  }
  for (Restored& each : restored_) {
    if (!each.is_elsewhere()) continue;
    const Tensor result = each.value->unchecked_tensor();
    Tensor& own = each.before.unchecked_tensor();
    own.return_to(each.memory);
    *each.value = each.before;
    VITRINE_RETURN_IF_ERROR(copy_to(result, own));
  }
  return Error();
}

Error Method::deliver(Method& method) {
  Error error = method.place_results();
  if (!error.ok()) method.restore();  // nothing refers to what was set aside
  if (!method.temp_.empty()) method.temp_.reset();
  return error;
}

Error Method::allocate_outputs() {
  constexpr size_t kAlignment = 64;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]->is_tensor() || meta_.output_tensor(i).is_memory_planned) continue;
    const Restored* const restored = find_restored(outputs_[i]);
    const Tensor& output = restored != nullptr ? restored->memory : outputs_[i]->unchecked_tensor();
    if (output.raw_data() != nullptr) continue;
    if (!load_steps_.take(inputs_.size())) {
      return Error::make(ErrorCode::kOutOfResources,
                         "too many inputs and outputs (max_load_steps)");
    }
    if (is_input(outputs_[i])) continue;
    const size_t bytes = output.bound_nbytes() + kReadableSlack;
    auto* memory = static_cast<std::byte*>(arena_.allocate(bytes, kAlignment));
    if (memory == nullptr) {
      return Error::make(ErrorCode::kMemoryAllocationFailed,
                         "no memory for output %zu: %llu bytes of the %llu that max_memory_bytes "
                         "allows are taken",
                         i, static_cast<unsigned long long>(memory_.used()),
                         static_cast<unsigned long long>(memory_.limit()));
    }
    std::memset(memory, 0, bytes);
    VITRINE_RETURN_IF_ERROR(set_output_data(i, {memory, bytes}));
  }
  return Error();
}

}  // namespace vitrine
