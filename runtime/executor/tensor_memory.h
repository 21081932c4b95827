// Checks memory that a caller supplies, and copies tensors into planned memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vitrine/tensor.h"

namespace vitrine {

inline bool is_aligned(const void* data, const Tensor& tensor) {
  const size_t alignment = std::clamp<size_t>(tensor.element_size(), 1, 8);
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

inline Error misaligned(const Tensor& tensor) {
  return Error::make(ErrorCode::kInvalidArgument, "the memory is not aligned for elements of %s",
                     scalar_type_name(tensor.dtype()));
}

inline Error copy_to(const Tensor& given, Tensor& planned) {
  if (!planned.is_writable()) {
    return Error::make(ErrorCode::kInvalidState,
                       "the program has no memory for a copy of the tensor");
  }
  VITRINE_RETURN_IF_ERROR(planned.resize(given.sizes()));
  if (given.nbytes() != 0) {
    std::memmove(planned.mutable_raw_data(), given.raw_data(), given.nbytes());
  }
  return Error();
}

}  // namespace vitrine
