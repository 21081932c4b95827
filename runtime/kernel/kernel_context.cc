#include "runtime/kernel/kernel_context.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

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

void* KernelContext::allocate_temp(size_t bytes, size_t alignment) {
  void* memory = temp_->allocate(bytes, alignment);
  if (memory == nullptr) {
    fail(ErrorCode::kMemoryAllocationFailed, "no temporary memory for %zu bytes", bytes);
  }
  return memory;
}

}  // namespace vitrine
