#include "aot/emit/content_pool.h"

#include "vitrine/scalar_type.h"

namespace vitrine::aot {

SharedBytes bytes_in_order(const TensorData& data, const std::vector<uint8_t>& dim_order) {
  TensorData ordered = data;
  for (size_t i = 0; i < dim_order.size(); ++i) {
    ordered.sizes[i] = data.sizes.at(dim_order[i]);
    ordered.strides[i] = data.strides.at(dim_order[i]);
  }
  const size_t width = element_size(data.dtype);
  const size_t size = static_cast<size_t>(data.numel()) * width;
  if (ordered.is_contiguous() && size != 0) {
    return {data.storage.subspan(static_cast<size_t>(data.storage_offset) * width, size),
            data.owner};
  }
  const auto copied = std::make_shared<const std::vector<std::byte>>(row_major_bytes(ordered));
  return {*copied, copied};
}

size_t ContentPool::add(SharedBytes content) {
  const std::string_view text(reinterpret_cast<const char*>(content.bytes.data()),
                              content.bytes.size());
  const auto [found, is_new] = positions_.try_emplace(text, entries_.size());
  if (is_new) entries_.push_back(std::move(content));
  return found->second;
}

}  // namespace vitrine::aot
