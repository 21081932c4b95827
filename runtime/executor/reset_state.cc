// Resets planned memory to its content after loading.
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "runtime/core/sort.h"
#include "runtime/executor/method_parts.h"
#include "runtime/executor/shared_memory.h"
#include "runtime/program/program_access.h"
#include "vitrine/method.h"

namespace vitrine {

namespace fbs = schema::program;

// Returns the bytes of a value that can be state, or an empty span. Each execution computes values
// with dynamic shapes, so these values are not state. The address comes from the plan, because an
// execution may have moved a view.
std::span<std::byte> Method::bytes_to_reset(uint32_t value) const {
  const fbs::Tensor* tensor = ProgramAccess::plan(meta_).values()->Get(value)->val_as_Tensor();
  if (tensor == nullptr || tensor->allocation_info() == nullptr ||
      tensor->shape_dynamism() != fbs::TensorShapeDynamism::STATIC) {
    return {};
  }
  const fbs::AllocationDetails& info = *tensor->allocation_info();
  std::byte* const buffer = buffers_[info.memory_id() - 1].data;
  if (buffer == nullptr) return {};
  const uint64_t offset = planned_offset(info);
  size_t bytes = element_size(static_cast<ScalarType>(tensor->scalar_type()));
  for (const int32_t size : *tensor->sizes()) bytes *= static_cast<size_t>(size);
  return {buffer + offset, bytes};
}

Error Method::reset_state() {
  const SharedMemory::ExclusiveUse use(shared_state_);
  if (!use) return state_in_use_error();
  Error error = zero_state_memory();
  temp_.reset();
  VITRINE_RETURN_IF_ERROR(std::move(error));
  for (Input& input : inputs_) input.is_set = input.is_set && !input.is_planned;
  set_half_reset(true);
  // A value without an initial value may share bytes with a state. All memory is therefore zeroed
  // before initial values are copied.
  for (uint32_t i = 0; i < values_.size(); ++i) {
    const std::span<std::byte> to = bytes_to_reset(i);
    if (!to.empty()) VITRINE_RETURN_IF_ERROR(copy_initial_value(i, to), "values[%u]", i);
  }
  set_half_reset(false);
  return Error();
}

void Method::set_half_reset(bool is_half_reset) {
  is_half_reset_ = is_half_reset;
  if (shared_state_ != nullptr) shared_state_->is_half_reset = is_half_reset;
}

// Zeroes each byte only once, although values may overlap.
Error Method::zero_state_memory() {
  const auto bytes = temp_.allocate_array<std::span<std::byte>>(values_.size());
  if (bytes.size() != values_.size()) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory to list states");
  }
  for (uint32_t i = 0; i < values_.size(); ++i) bytes[i] = bytes_to_reset(i);
  const std::less<const std::byte*> is_before;
  sort(bytes, [&](auto a, auto b) { return is_before(a.data(), b.data()); });
  std::byte* done = nullptr;
  for (const std::span<std::byte> each : bytes) {
    std::byte* const end = each.data() + each.size();
    std::byte* const begin = std::max(each.data(), done, is_before);
    if (!is_before(begin, end)) continue;
    std::fill(begin, end, std::byte{0});
    done = end;
  }
  return Error();
}

// Loading has compared the layouts of the initial value and the tensor.
Error Method::copy_initial_value(uint32_t value, std::span<std::byte> to) {
  const fbs::Tensor& tensor = *ProgramAccess::plan(meta_).values()->Get(value)->val_as_Tensor();
  const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  const bool is_external =
      extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL;
  const uint32_t index = tensor.data_buffer_idx();
  if (!is_external && index == 0) return Error();
  VITRINE_ASSIGN_OR_RETURN(const DataBuffer initial,
                           is_external
                               ? named_data_.get(extra->fully_qualified_name()->string_view())
                               : ProgramAccess::mutable_data(*program_, index, to.size()));
  std::memcpy(to.data(), initial.bytes().data(), std::min(to.size(), initial.size()));
  return Error();
}

}  // namespace vitrine
