#include "aot/graph/tensor_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/core/checked_math.h"

namespace vitrine::aot {

int64_t TensorData::numel() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

bool TensorData::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= std::max<int64_t>(sizes[i], 1);
  }
  return true;
}

std::string TensorData::check() const {
  const size_t width = element_size(dtype);
  if (width == 0) return "has a dtype that cannot be stored";
  if (sizes.size() != strides.size()) {
    return fmt::format("has {} sizes but {} strides", sizes.size(), strides.size());
  }
  if (storage_offset < 0) return fmt::format("has the negative offset {}", storage_offset);
  int64_t count = 1;
  int64_t last = storage_offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = 0;
    if (sizes[i] < 0) return fmt::format("has the negative size {}", sizes[i]);
    if (strides[i] < 0) return fmt::format("has the negative stride {}", strides[i]);
    if (mul_overflows(count, sizes[i], &count)) return "has too many elements";
    if (sizes[i] > 0 &&
        (mul_overflows(sizes[i] - 1, strides[i], &reach) || add_overflows(last, reach, &last))) {
      return "has elements beyond the address space";
    }
  }
  const auto stored = static_cast<int64_t>(storage.size() / width);
  if (count > 0 && last >= stored) {
    return fmt::format("reads element {}, but its record has only {} elements", last, stored);
  }
  // Limits repeated elements of expanded tensors, because a small file could expand to any size.
  constexpr int64_t kMaxRepeats = 4096;
  if (count / kMaxRepeats > stored) {
    return fmt::format("has {} elements, but its record has only {}", count, stored);
  }
  return "";
}

std::vector<std::byte> row_major_bytes(const TensorData& data) {
  const size_t width = element_size(data.dtype);
  std::vector<std::byte> bytes(static_cast<size_t>(data.numel()) * width);
  if (bytes.empty()) return bytes;
  const std::byte* base = data.storage.data() + static_cast<size_t>(data.storage_offset) * width;
  if (data.is_contiguous()) {
    std::memcpy(bytes.data(), base, bytes.size());
    return bytes;
  }
  std::vector<int64_t> index(data.sizes.size());
  for (size_t at = 0; at < bytes.size(); at += width) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * data.strides[i];
    std::memcpy(&bytes[at], base + static_cast<size_t>(offset) * width, width);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < data.sizes[i]) break;
      index[i] = 0;
    }
  }
  return bytes;
}

TensorData make_tensor_data(ScalarType dtype, std::vector<int64_t> sizes,
                            std::vector<std::byte> bytes) {
  TensorData data;
  data.dtype = dtype;
  data.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    data.strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  data.sizes = std::move(sizes);
  const auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  data.storage = *owned;
  data.owner = owned;
  return data;
}

}  // namespace vitrine::aot
