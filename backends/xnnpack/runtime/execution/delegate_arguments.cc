#include "backends/xnnpack/runtime/execution/delegate_arguments.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "backends/xnnpack/runtime/reader/bf16.h"
#include "backends/xnnpack/runtime/reader/datatype.h"
#include "backends/xnnpack/runtime/reader/slack.h"
#include "backends/xnnpack/runtime/reader/tensor_shape.h"

namespace vitrine::xnnpack {
namespace {

Error describe_mismatch(const Tensor& tensor, const Value& value) {
  char text[128];
  describe(tensor, text, sizeof text);
  return Error::make(ErrorCode::kInvalidArgument, "is %s, but the delegate expects %s of rank %zu",
                     text, value.type_name(), value.shape.rank);
}

// XNNPACK writes 32-bit indices. This function converts them to 64 bits in place.
void widen(Tensor& tensor) {
  auto* bytes = static_cast<std::byte*>(tensor.mutable_raw_data());
  for (size_t i = static_cast<size_t>(tensor.numel()); i-- > 0;) {
    int32_t narrow;
    std::memcpy(&narrow, bytes + i * sizeof narrow, sizeof narrow);
    const int64_t wide = narrow;
    std::memcpy(bytes + i * sizeof wide, &wide, sizeof wide);
  }
}

bool must_widen(const Tensor& tensor, ScalarType written) {
  return written == ScalarType::kInt && tensor.dtype() == ScalarType::kLong;
}

}  // namespace

DelegateArguments::~DelegateArguments() {
  if (memory_ != nullptr) memory_->give_back(copied_bytes());
}

Error DelegateArguments::bind(Budget* memory) {
  memory_ = memory;
  for (uint32_t argument = 0; argument < graph_.external_count; ++argument) {
    const uint32_t index = graph_.externals[argument];
    if (index == kNone) continue;
    const Value& value = graph_.values[index];
    VITRINE_RETURN_IF_ERROR(
        bindings_.push_back({argument, index, value.is_output, !value.is_output || value.used,
                             false, value.argument_type()}));
    VITRINE_RETURN_IF_ERROR(data_.push_back({argument, nullptr}));
  }
  return copies_.resize(bindings_.size());
}

bool DelegateArguments::are_unchanged(Call call) const {
  if (call.size() != graph_.external_count) return false;
  const xnn_external_value* data = data_.data();
  for (const Binding& binding : bindings_) {
    const EValue* argument = call[binding.argument];
    if (argument == nullptr || !argument->is_tensor()) return false;
    const Tensor& tensor = argument->unchecked_tensor();
    if (tensor.raw_data() != (data++)->data || tensor.dtype() != binding.dtype ||
        (binding.is_output && tensor.is_read_only()) ||
        (binding.needs_slack && !tensor.has_slack()) ||
        !has_shape(tensor, shapes_[binding.value])) {
      return false;
    }
  }
  return true;
}

Error DelegateArguments::check(Call call, bool* shapes_changed) {
  for (const Binding& binding : bindings_) {
    const EValue* argument = call[binding.argument];
    if (argument == nullptr || !argument->is_tensor()) {
      return Error::make(ErrorCode::kInvalidArgument, "argument %u is not a tensor",
                         binding.argument);
    }
    const Tensor& tensor = argument->unchecked_tensor();
    const Value& value = graph_.values[binding.value];
    const bool dtype_fits =
        tensor.dtype() == binding.dtype || (binding.is_output && must_widen(tensor, binding.dtype));
    if (!dtype_fits || xnnpack_rank(tensor) != value.shape.rank) {
      return describe_mismatch(tensor, value).in("argument %u", binding.argument);
    }
    if (binding.is_output && tensor.is_read_only()) {
      return Error::make(
          ErrorCode::kInvalidProgram,
          "argument %u is an output of the delegate, but it is a constant of the program",
          binding.argument);
    }
    if (tensor.raw_data() == nullptr && tensor.numel() != 0) {
      return Error::make(ErrorCode::kInvalidState, "argument %u has no memory", binding.argument);
    }
    if (binding.is_output) continue;
    if (!has_shape(tensor, shapes_[binding.value])) {
      shapes_[binding.value] = shape_of(tensor);
      *shapes_changed = true;
    }
  }
  return Error();
}

Error DelegateArguments::resize_outputs(Call call) const {
  for (const Binding& binding : bindings_) {
    if (!binding.is_output) continue;
    Tensor& tensor = call[binding.argument]->unchecked_tensor();
    const Shape& shape = shapes_[binding.value];
    if (has_shape(tensor, shape)) continue;
    std::array<int32_t, kMaxDims> sizes{};
    for (size_t i = 0; i < tensor.rank(); ++i) {
      if (shape[i] > INT32_MAX) {
        return Error::make(ErrorCode::kNotSupported,
                           "argument %u: the size %zu does not fit in 32 bits", binding.argument,
                           shape[i]);
      }
      sizes[tensor.dim_order()[i]] = static_cast<int32_t>(shape[i]);
    }
    if (tensor.rank() == 0 && shape[0] != 1) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "argument %u has rank 0, but the result has %zu elements",
                         binding.argument, shape[0]);
    }
    if (Error error = tensor.resize({sizes.data(), tensor.rank()}); !error.ok()) {
      return std::move(error).in("argument %u", binding.argument);
    }
  }
  for (const Binding& binding : bindings_) {
    if (has_shape(call[binding.argument]->unchecked_tensor(), shapes_[binding.value])) continue;
    return Error::make(ErrorCode::kInvalidProgram,
                       "argument %u shares its tensor with an output of another shape",
                       binding.argument);
  }
  return Error();
}

Result<bool> DelegateArguments::has_empty_input() const {
  const auto is_empty = [this](const Binding& binding) {
    return std::ranges::count(shapes_[binding.value].used(), size_t{0}) != 0;
  };
  const Binding* empty_input = nullptr;
  const Binding* filled_output = nullptr;
  for (const Binding& binding : bindings_) {
    if (binding.is_output && !is_empty(binding)) filled_output = &binding;
    if (!binding.is_output && is_empty(binding)) empty_input = &binding;
  }
  if (empty_input != nullptr && filled_output != nullptr) {
    return Error::make(ErrorCode::kNotSupported,
                       "argument %u is an empty input, but output argument %u is not empty",
                       empty_input->argument, filled_output->argument);
  }
  return empty_input != nullptr;
}

Error DelegateArguments::grow_copy(size_t binding, size_t bytes) {
  DataBuffer& copy = copies_[binding];
  if (copy.size() >= bytes) return Error();
  if (memory_ != nullptr) memory_->give_back(copy.size());
  copy = DataBuffer();
  if (memory_ != nullptr && !memory_->take(bytes)) {
    return Error::make(
        ErrorCode::kOutOfResources,
        "argument %u needs a copy of %zu bytes, because %s, but max_memory_bytes leaves only %llu",
        bindings_[binding].argument, bytes,
        bindings_[binding].is_bf16() ? "XNNPACK computes bf16 values as fp32"
                                     : "XNNPACK may read past the last page of the argument",
        static_cast<unsigned long long>(memory_->left()));
  }
  Result<DataBuffer> made = DataBuffer::allocate(bytes);
  if (!made.ok()) {
    if (memory_ != nullptr) memory_->give_back(bytes);
    return made.take_error();
  }
  copy = *std::move(made);
  return Error();
}

Error DelegateArguments::allocate_copies() {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    if (!bindings_[i].is_bf16()) continue;
    const uint32_t value = bindings_[i].value;
    const std::optional<size_t> bytes =
        tensor_bytes(*graph_.values[value].datatype, shapes_[value]);
    if (!bytes) {
      return Error::make(ErrorCode::kOutOfResources, "argument %u is too large",
                         bindings_[i].argument);
    }
    VITRINE_RETURN_IF_ERROR(grow_copy(i, *bytes));
  }
  return Error();
}

Error DelegateArguments::choose_addresses(Call call, bool* addresses_changed) {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    Binding& binding = bindings_[i];
    Tensor& tensor = call[binding.argument]->unchecked_tensor();
    void* data = tensor.mutable_raw_data();
    binding.needs_slack =
        !binding.is_bf16() && binding.is_read && !can_be_read_past(data, tensor.nbytes());
    if (binding.is_bf16()) {
      const auto count = static_cast<size_t>(tensor.numel());
      VITRINE_RETURN_IF_ERROR(grow_copy(i, count * sizeof(float)));
      data = copies_[i].owned_data();
      if (!binding.is_output) widen_bf16(tensor.raw_data(), data, count);
    } else if (binding.needs_slack && !tensor.has_slack()) {
      VITRINE_RETURN_IF_ERROR(grow_copy(i, tensor.nbytes()));
      data = copies_[i].owned_data();
      if (!binding.is_output) std::memcpy(data, tensor.raw_data(), tensor.nbytes());
    }
    if (data_[i].data == data) continue;
    data_[i].data = data;
    *addresses_changed = true;
  }
  return Error();
}

void DelegateArguments::finish_outputs(Call call) const {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    if (!bindings_[i].is_output) continue;
    Tensor& tensor = call[bindings_[i].argument]->unchecked_tensor();
    if (bindings_[i].is_bf16()) {
      round_to_bf16(data_[i].data, tensor.mutable_raw_data(), static_cast<size_t>(tensor.numel()));
    } else if (data_[i].data != tensor.raw_data()) {
      std::memcpy(tensor.mutable_raw_data(), data_[i].data, tensor.nbytes());
    }
    if (must_widen(tensor, bindings_[i].dtype)) widen(tensor);
  }
}

size_t DelegateArguments::copied_bytes() const {
  size_t sum = 0;
  for (const DataBuffer& copy : copies_) sum += copy.size();
  return sum;
}

}  // namespace vitrine::xnnpack
