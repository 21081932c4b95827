#include "vitrine/kernel_context.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/extension/derived_data.h"
#include "vitrine/evalue.h"

namespace vitrine {

void KernelContext::fail(ErrorCode code, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fail(Error::make(code, "%s", text));
}

void KernelContext::fail(Error error) {
  if (failed_) return;
  failed_ = true;
  error_ = std::move(error);
}

Error KernelContext::take_error() {
  failed_ = false;
  return std::exchange(error_, Error());
}

bool KernelContext::resize_checked(Tensor& out, std::span<const int32_t> sizes) {
  if (is_input(out)) {
    char text[128];
    describe(out, text, sizeof text);
    fail(ErrorCode::kInvalidProgram,
         "output %s is also an input of the operator, so its shape cannot change", text);
    return false;
  }
  Error error = out.resize(sizes);
  if (error.ok()) return true;
  fail(std::move(error));
  return false;
}

bool KernelContext::is_input(const Tensor& tensor) const {
  for (size_t i = 0; inputs_ >> i != 0; ++i) {
    if (((inputs_ >> i) & 1u) == 0) continue;
    std::span<Tensor* const> tensors;
    const EValue& value = *arguments_[i];
    if (value.is_tensor() && &value.unchecked_tensor() == &tensor) return true;
    const bool is_list =
        value.tag() == EValue::Tag::kListTensor || value.tag() == EValue::Tag::kListOptionalTensor;
    if (is_list && value.read_tensor_list(&tensors) &&
        std::ranges::find(tensors, &tensor) != tensors.end()) {
      return true;
    }
  }
  return false;
}

void* KernelContext::allocate_temp(std::initializer_list<int64_t> factors) {
  const std::optional<int64_t> bytes = checked_product(factors);
  if (bytes && static_cast<uint64_t>(*bytes) <= kMaxBytes) {
    return allocate_temp(static_cast<size_t>(std::max<int64_t>(*bytes, 1)));
  }
  fail(ErrorCode::kMemoryAllocationFailed, "the size of temporary memory overflows");
  return nullptr;
}

KernelContext::Derived KernelContext::derive(const Tensor& from, uint64_t key, size_t bytes) {
  Derived result{nullptr, false};
  if (derived_ != nullptr && from.is_constant()) {
    result.data = derived_->find_or_add(from.raw_data(), key, bytes, result.is_new);
    if (result.data == nullptr && result.is_new) {
      fail(ErrorCode::kMemoryAllocationFailed, "no memory for %zu bytes of packed weights", bytes);
    }
  }
  return result;
}

void* KernelContext::allocate_temp(size_t bytes, size_t alignment) {
  void* memory = temp_->allocate(bytes, alignment);
  if (memory == nullptr) {
    fail(ErrorCode::kMemoryAllocationFailed, "no temporary memory for %zu bytes", bytes);
  }
  return memory;
}

}  // namespace vitrine
