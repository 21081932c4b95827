#include "tools/common/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "tools/common/tool_error.h"

namespace vitrine::tools {

Array zeros_like(const TensorInfo& info) {
  return check(Array::zeros(info.dtype, info.sizes, info.dim_order));
}

void fill_random(Array& array, std::mt19937_64& generator) {
  const std::span<std::byte> data = array.mutable_bytes();
  const auto fill = [&]<class T>(T (*make)(double)) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (size_t i = 0; i < data.size() / sizeof(T); ++i) {
      const T value = make(uniform(generator));
      std::memcpy(data.data() + i * sizeof(T), &value, sizeof(T));
    }
  };
  switch (array.dtype()) {
    case ScalarType::kFloat:
      fill(+[](double x) { return static_cast<float>(x); });
      break;
    case ScalarType::kDouble:
      fill(+[](double x) { return x; });
      break;
    case ScalarType::kHalf:
      fill(+[](double x) { return Half(static_cast<float>(x)); });
      break;
    case ScalarType::kBFloat16:
      fill(+[](double x) { return BFloat16(static_cast<float>(x)); });
      break;
    default:
      // Sets each element to 0 or 1. The lowest byte is the first byte (little-endian).
      for (size_t i = 0; i < data.size(); i += array.tensor().element_size()) {
        data[i] = static_cast<std::byte>(generator() & 1u);
      }
  }
}

std::vector<std::byte> row_major_bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.nbytes());
  if (bytes.empty()) return bytes;
  if (tensor.raw_data() == nullptr) throw ToolError("a tensor has no data");
  Array rows = check(Array::borrow(tensor.dtype(), bytes, tensor.sizes()));
  copy_elements(tensor, rows.mutable_tensor());
  return bytes;
}

std::string describe(ScalarType dtype, std::span<const int32_t> sizes) {
  return fmt::format("{}[{}]", scalar_type_name(dtype), fmt::join(sizes, ","));
}

std::string describe(const Tensor& tensor) { return describe(tensor.dtype(), tensor.sizes()); }

}  // namespace vitrine::tools
