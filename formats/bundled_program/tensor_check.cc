#include "formats/bundled_program/tensor_check.h"

#include <fmt/format.h>

#include "vitrine/tensor.h"

namespace vitrine::bundled {

std::string fault_of(const BundledTensor& tensor) {
  const size_t element = element_size(tensor.dtype);
  if (element == 0) return "scalar_type is unknown";
  if (tensor.sizes.size() > kMaxRank) {
    return fmt::format("has {} dimensions; the maximum is {}", tensor.sizes.size(), kMaxRank);
  }
  if (tensor.dim_order.size() != tensor.sizes.size() || !is_permutation(tensor.dim_order)) {
    return "dim_order is not a permutation of the dimensions";
  }
  const Result<int64_t> numel = checked_numel(tensor.sizes);
  if (!numel.ok()) return fmt::format("sizes: {}", numel.error().message());
  const uint64_t bytes = static_cast<uint64_t>(*numel) * element;
  if (bytes != tensor.data.size()) {
    return fmt::format("data has {} bytes; dtype and sizes require {}", tensor.data.size(), bytes);
  }
  return "";
}

}  // namespace vitrine::bundled
