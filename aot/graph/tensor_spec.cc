#include "aot/graph/tensor_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace vitrine::aot {

bool TensorSpec::is_static() const {
  return std::ranges::all_of(sizes, [](const SymInt& size) { return size.is_static(); });
}

std::vector<SymInt> dense_strides(const std::vector<SymInt>& sizes,
                                  const std::vector<uint8_t>& dim_order) {
  std::vector<SymInt> strides(sizes.size());
  SymInt stride = 1;
  for (size_t i = dim_order.size(); i-- > 0;) {
    const uint8_t dim = dim_order[i];
    strides[dim] = stride;
    // For strides, a dim of size 0 counts as a dim of size 1, as in PyTorch.
    if (!(sizes[dim].is_static() && sizes[dim].value() == 0)) stride = stride * sizes[dim];
  }
  return strides;
}

std::vector<SymInt> contiguous_strides(const std::vector<SymInt>& sizes) {
  std::vector<uint8_t> order(sizes.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  return dense_strides(sizes, order);
}

TensorSpec contiguous_spec(ScalarType dtype, std::vector<SymInt> sizes) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.strides = contiguous_strides(sizes);
  spec.sizes = std::move(sizes);
  return spec;
}

std::vector<uint8_t> dim_order_of(const TensorSpec& spec) {
  std::vector<uint8_t> order(spec.strides.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  // std::sort needs a strict weak order, which exceeds() does not define for symbolic strides.
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && exceeds(spec.strides[order[j]], spec.strides[order[j - 1]]); --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  return order;
}

std::vector<uint8_t> kept_dim_order(const TensorSpec& spec) {
  static const std::vector<uint8_t> kChannelsLast2d = {0, 2, 3, 1};
  static const std::vector<uint8_t> kChannelsLast3d = {0, 2, 3, 4, 1};
  std::vector<uint8_t> order = dim_order_of(spec);
  if (order != kChannelsLast2d && order != kChannelsLast3d) std::ranges::sort(order);
  return order;
}

std::string to_text(const TensorSpec& spec) {
  std::string sizes;
  for (const SymInt& size : spec.sizes) {
    if (!sizes.empty()) sizes += ", ";
    sizes += to_text(size);
  }
  return fmt::format("{}[{}]", scalar_type_name(spec.dtype), sizes);
}

}  // namespace vitrine::aot
