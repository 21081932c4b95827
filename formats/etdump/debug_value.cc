#include "formats/etdump/debug_value.h"

#include <cstring>

namespace vitrine::etdump {

std::vector<std::byte> row_major_bytes(const DebugTensor& tensor) {
  std::vector<std::byte> bytes;
  if (tensor.data.empty()) return bytes;
  size_t numel = 1;  // attach_debug_data() has bounded the product by the data
  for (const int64_t size : tensor.sizes) numel *= static_cast<size_t>(size);
  const size_t width = element_size(tensor.dtype);
  bytes.resize(numel * width);
  std::vector<int64_t> index(tensor.sizes.size(), 0);
  int64_t at = 0;
  for (size_t logical = 0; logical < numel; ++logical) {
    std::memcpy(bytes.data() + logical * width,
                tensor.data.data() + static_cast<size_t>(at) * width, width);
    for (size_t dim = index.size(); dim-- > 0;) {
      at += tensor.strides[dim];
      if (++index[dim] < tensor.sizes[dim]) break;
      at -= tensor.strides[dim] * index[dim];
      index[dim] = 0;
    }
  }
  return bytes;
}

}  // namespace vitrine::etdump
