#include "host/host_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

// Calls visit(logical position, memory position) for each element of `tensor`.
template <class Visit>
void for_each_element(const Tensor& tensor, Visit visit) {
  std::vector<int32_t> index(tensor.rank(), 0);
  int64_t memory = 0;
  for (int64_t logical = 0; logical < tensor.numel(); ++logical) {
    visit(static_cast<size_t>(logical), static_cast<size_t>(memory));
    for (size_t dim = tensor.rank(); dim-- > 0;) {
      memory += tensor.strides()[dim];
      if (++index[dim] < tensor.size(dim)) break;
      memory -= tensor.strides()[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace

HostTensor::HostTensor(ScalarType dtype, std::span<const int32_t> sizes,
                       std::span<const uint8_t> dim_order)
    : sizes_(sizes.begin(), sizes.end()),
      dim_order_(dim_order.begin(), dim_order.end()),
      strides_(sizes.size()) {
  const int64_t numel = check(checked_numel(sizes_));
  const size_t bytes = static_cast<size_t>(numel) * element_size(dtype);
  data_.reserve(bytes + kReadableSlack);  // XNNPACK may load past the end
  data_.resize(bytes);
  tensor_ = Tensor(dtype, sizes_, dim_order_, strides_, nullptr);
  tensor_.set_data(data_.data(), /*has_slack=*/true);
}

void HostTensor::set_from_logical(std::span<const std::byte> bytes) {
  if (bytes.size() != data_.size()) {
    throw ToolError(
        fmt::format("{} takes {} bytes, not {}", describe(tensor_), data_.size(), bytes.size()));
  }
  if (data_.empty()) return;
  if (tensor_.is_contiguous()) {
    std::memcpy(data_.data(), bytes.data(), data_.size());
    return;
  }
  const size_t size = tensor_.element_size();
  for_each_element(tensor_, [&](size_t logical, size_t memory) {
    std::memcpy(data_.data() + memory * size, bytes.data() + logical * size, size);
  });
}

void HostTensor::fill_random(std::mt19937_64& generator) {
  const auto fill = [&]<class T>(T (*make)(double)) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (size_t i = 0; i < data_.size() / sizeof(T); ++i) {
      const T value = make(uniform(generator));
      std::memcpy(data_.data() + i * sizeof(T), &value, sizeof(T));
    }
  };
  switch (tensor_.dtype()) {
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
      // The low byte of each element, since elements are little-endian.
      for (size_t i = 0; i < data_.size(); i += tensor_.element_size()) {
        data_[i] = static_cast<std::byte>(generator() & 1u);
      }
  }
}

std::vector<std::byte> logical_bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.nbytes());
  if (bytes.empty()) return bytes;
  const auto* data = static_cast<const std::byte*>(tensor.raw_data());
  if (data == nullptr) throw ToolError("a tensor has no data");
  if (tensor.is_contiguous()) {
    std::memcpy(bytes.data(), data, bytes.size());
    return bytes;
  }
  const size_t size = tensor.element_size();
  for_each_element(tensor, [&](size_t logical, size_t memory) {
    std::memcpy(bytes.data() + logical * size, data + memory * size, size);
  });
  return bytes;
}

std::string describe(ScalarType dtype, std::span<const int32_t> sizes) {
  return fmt::format("{}[{}]", scalar_type_name(dtype), fmt::join(sizes, ","));
}

std::string describe(const Tensor& tensor) { return describe(tensor.dtype(), tensor.sizes()); }

}  // namespace vitrine::tools
