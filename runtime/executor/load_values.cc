// Makes the values of a plan: numbers, lists and tensors with their memory.
#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "runtime/core/checked_math.h"
#include "runtime/executor/method_loader.h"

namespace vitrine {
namespace {

bool is_external(const fbs::Tensor& tensor) {
  const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  return extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL;
}

}  // namespace

Error MethodLoader::make_values() {
  const uint32_t count = plan_.values()->size();
  method_.values_ = arena_.allocate_array<EValue>(count);
  if (method_.values_.size() != count) return no_memory("values");
  for (uint32_t i = 0; i < count; ++i) {
    VITRINE_RETURN_IF_ERROR(make_value(*plan_.values()->Get(i), method_.values_[i]),
                            "%s, values[%u]", plan_.name()->c_str(), i);
  }
  return Error();
}

Error MethodLoader::make_value(const fbs::EValue& from, EValue& to) {
  switch (from.val_type()) {
    case fbs::KernelTypes::Int:
      to = EValue(from.val_as_Int()->int_val());
      return Error();
    case fbs::KernelTypes::Bool:
      to = EValue(from.val_as_Bool()->bool_val());
      return Error();
    case fbs::KernelTypes::Double:
      to = EValue(from.val_as_Double()->double_val());
      return Error();
    case fbs::KernelTypes::String:
      to = EValue(from.val_as_String()->string_val()->string_view());
      return Error();
    case fbs::KernelTypes::DoubleList: {
      const auto* items = from.val_as_DoubleList()->items();
      to = EValue(std::span<const double>(items->data(), items->size()));
      return Error();
    }
    case fbs::KernelTypes::BoolList:
      return make_bool_list(*from.val_as_BoolList()->items(), to);
    case fbs::KernelTypes::IntList:
      return make_int_list(*from.val_as_IntList()->items(), to);
    case fbs::KernelTypes::TensorList:
      return make_tensor_list(*from.val_as_TensorList()->items(), false, to);
    case fbs::KernelTypes::OptionalTensorList:
      return make_tensor_list(*from.val_as_OptionalTensorList()->items(), true, to);
    case fbs::KernelTypes::Tensor:
      return make_tensor(*from.val_as_Tensor(), to);
    default:
      to = EValue();
      return Error();
  }
}

// Copies the bytes to a new list, because a byte in the file may be neither 0 nor 1.
Error MethodLoader::make_bool_list(const flatbuffers::Vector<uint8_t>& items, EValue& to) {
  const std::span<bool> list = arena_.allocate_array<bool>(items.size());
  if (list.size() != items.size()) return no_memory("a bool list");
  for (uint32_t i = 0; i < items.size(); ++i) list[i] = items.Get(i) != 0;
  to = EValue(std::span<const bool>(list));
  return Error();
}

Error MethodLoader::make_int_list(const flatbuffers::Vector<int64_t>& items, EValue& to) {
  const std::span<EValue*> values = arena_.allocate_array<EValue*>(items.size());
  const std::span<int64_t> scratch = arena_.allocate_array<int64_t>(items.size());
  const std::span<IntListBody> body = arena_.allocate_array<IntListBody>(1);
  if (values.size() != items.size() || scratch.size() != items.size() || body.empty()) {
    return no_memory("an int list");
  }
  for (uint32_t i = 0; i < items.size(); ++i) {
    values[i] = &method_.values_[static_cast<size_t>(items.Get(i))];
  }
  body[0] = {values, scratch.data()};
  to = EValue(body.data());
  return Error();
}

Error MethodLoader::make_tensor_list(const flatbuffers::Vector<int32_t>& items, bool optional,
                                     EValue& to) {
  const std::span<EValue*> values = arena_.allocate_array<EValue*>(items.size());
  const std::span<Tensor*> scratch = arena_.allocate_array<Tensor*>(items.size());
  const std::span<TensorListBody> body = arena_.allocate_array<TensorListBody>(1);
  if (values.size() != items.size() || scratch.size() != items.size() || body.empty()) {
    return no_memory("a tensor list");
  }
  for (uint32_t i = 0; i < items.size(); ++i) {
    values[i] = items.Get(i) < 0 ? nullptr : &method_.values_[static_cast<size_t>(items.Get(i))];
  }
  body[0] = {values, scratch.data()};
  to = EValue(body.data(), optional);
  return Error();
}

Error MethodLoader::make_tensor(const fbs::Tensor& from, EValue& to) {
  const uint32_t rank = from.sizes()->size();
  const std::span<int32_t> sizes = arena_.allocate_array<int32_t>(rank);
  const std::span<int64_t> strides = arena_.allocate_array<int64_t>(rank);
  const std::span<Tensor> tensor = arena_.allocate_array<Tensor>(1);
  if (sizes.size() != rank || strides.size() != rank || tensor.empty()) {
    return no_memory("a tensor");
  }
  std::copy(from.sizes()->begin(), from.sizes()->end(), sizes.begin());
  tensor[0] = Tensor(static_cast<ScalarType>(from.scalar_type()), sizes,
                     {from.dim_order()->data(), rank}, strides, nullptr,
                     from.shape_dynamism() == fbs::TensorShapeDynamism::STATIC
                         ? ShapeDynamism::kStatic
                         : ShapeDynamism::kDynamicBound);
  to = EValue(tensor.data());
  return find_data(from, tensor[0]);
}

// Finds the tensor's data in planned memory, in the program or in external data. An input or output
// may get its memory later.
Error MethodLoader::find_data(const fbs::Tensor& from, Tensor& tensor) {
  SharedMemory::StateTensor* state = nullptr;
  if (const fbs::AllocationDetails* info = from.allocation_info()) {
    const uint64_t offset = planned_offset(*info);
    const Method::PlannedBuffer& buffer = method_.buffers_[info->memory_id() - 1];
    if (buffer.data != nullptr) {
      tensor.set_data(buffer.data + offset,
                      range_fits(offset, tensor.nbytes() + kReadableSlack, buffer.readable));
    }
    if (method_.is_shared(info->memory_id() - 1) && tensor.nbytes() != 0) {
      state = &method_.shared_state_->tensor_at(offset);
    }
  }
  if (from.data_buffer_idx() == 0 && !is_external(from)) return Error();
  // Shared state keeps the content that another method has set. The bytes are charged nevertheless,
  // because reset_state() copies the initial value.
  if (state != nullptr && state->has_value) return charge_bytes(tensor.nbytes());
  Error error = find_contents(from, tensor);
  if (state != nullptr) state->has_value = error.ok();
  return error;
}

// Sets a tensor's content: a constant, or the initial value of planned memory.
Error MethodLoader::find_contents(const fbs::Tensor& from, Tensor& tensor) {
  if (is_external(from)) {
    return find_external_data(*from.extra_tensor_info(), from.allocation_info() != nullptr, tensor);
  }
  const uint32_t index = from.data_buffer_idx();
  if (from.allocation_info() != nullptr) {
    Result<DataBuffer> initial = ProgramAccess::mutable_data(program_, index, tensor.nbytes());
    return initial.ok() ? copy_initial(initial->bytes(), tensor) : initial.take_error();
  }
  VITRINE_ASSIGN_OR_RETURN(const auto bytes,
                           ProgramAccess::constant_data(program_, index, tensor.nbytes()));
  VITRINE_RETURN_IF_ERROR(
      set_constant(bytes, ProgramAccess::constants_have_slack(program_), tensor));
  tensor.set_constant();
  return Error();
}

// The copied bytes are charged, because any number of states may share the same bytes of the file.
Error MethodLoader::copy_initial(std::span<const std::byte> bytes, Tensor& tensor) {
  Error error = charge_bytes(tensor.nbytes());
  if (error.ok() && tensor.nbytes() != 0) {
    std::memcpy(tensor.mutable_raw_data(), bytes.data(), tensor.nbytes());
  }
  return error;
}

Error MethodLoader::set_constant(std::span<const std::byte> bytes, bool has_slack, Tensor& tensor) {
  const std::byte* data = bytes.data();
  const size_t alignment = std::min<size_t>(tensor.element_size(), 8);
  if (tensor.nbytes() != 0 && reinterpret_cast<uintptr_t>(data) % alignment != 0) {
    // Kernels need aligned elements, but a file may contain a constant at any offset.
    VITRINE_RETURN_IF_ERROR(charge_bytes(tensor.nbytes()));
    void* copy = arena_.allocate(tensor.nbytes(), 16);
    if (copy == nullptr) return no_memory("a misaligned constant");
    std::memcpy(copy, data, tensor.nbytes());
    data = static_cast<const std::byte*>(copy);
    has_slack = false;
  }
  tensor.set_data(const_cast<std::byte*>(data), has_slack);
  tensor.set_read_only();
  return Error();
}

Error MethodLoader::find_external_data(const fbs::ExtraTensorInfo& extra, bool is_mutable,
                                       Tensor& tensor) {
  const std::string_view key = extra.fully_qualified_name()->string_view();
  const auto refuse = [key](const char* why) {
    return Error::make(ErrorCode::kInvalidExternalData, "weight %.*s %s",
                       static_cast<int>(key.size()), key.data(), why);
  };
  if (options_.external_data == nullptr) {
    return refuse("is stored outside the program; pass its .ptd file (--data)");
  }
  VITRINE_RETURN_IF_ERROR(charge_steps(key.size()));  // tensors may share a long key
  VITRINE_ASSIGN_OR_RETURN(const auto layout, options_.external_data->layout(key));
  if (!layout || layout->dtype != tensor.dtype() || !tensor.has_sizes(layout->sizes) ||
      !std::ranges::equal(layout->dim_order, tensor.dim_order())) {
    return refuse("has a different dtype, shape or dim order in the .ptd file than in the program");
  }
  Result<DataBuffer> data = options_.external_data->get(key);
  if (!data.ok()) return data.take_error();
  if (data->size() < tensor.nbytes()) return refuse("is too short in the .ptd file");
  // A buffer that owns its memory was read for this value alone. The buffer may be larger than the
  // value, so all of its bytes are charged.
  if (data->is_owned()) VITRINE_RETURN_IF_ERROR(charge_bytes(data->size()));
  if (is_mutable) return copy_initial(data->bytes(), tensor);
  // A value uses at most one buffer, so one slot per value suffices.
  if (method_.external_.empty()) {
    external_slots_ = arena_.allocate_array<DataBuffer*>(plan_.values()->size());
  }
  const bool has_memory =
      !external_slots_.empty() && (!data->is_owned() || method_.memory_.take(data->size()));
  auto* kept = has_memory ? new (std::nothrow) DataBuffer(std::move(*data)) : nullptr;
  if (kept == nullptr) return no_memory("external data");
  external_slots_[method_.external_.size()] = kept;
  method_.external_ = external_slots_.first(method_.external_.size() + 1);
  return set_constant(kept->bytes(), kept->has_slack(), tensor);
}

}  // namespace vitrine
