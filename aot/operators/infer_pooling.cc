#include <fmt/format.h>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/sizes.h"

namespace vitrine::aot::results {
namespace {

Sizes pooled(const Call& call, size_t dims) {
  const TensorSpec& self = call.self();
  need_rank(call, self, dims + 1, dims + 2, "input");
  const std::vector<int64_t> kernel = call.integers("kernel_size", dims);
  const bool has_stride = !call.integers("stride").empty();
  const std::vector<int64_t> stride = has_stride ? call.integers("stride", dims) : kernel;
  const std::vector<int64_t> padding = call.integers("padding", dims);
  const std::vector<int64_t> dilation = call.value("dilation").is_none()
                                            ? std::vector<int64_t>(dims, 1)
                                            : call.integers("dilation", dims);
  const bool ceil_mode = call.boolean("ceil_mode");
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < dims; ++i) {
    SymInt& size = sizes[sizes.size() - dims + i];
    if (stride[i] < 1 || kernel[i] < 1) call.refuse("kernel_size and stride must be positive");
    size = window_steps(call, make_window(call, kernel[i], stride[i], padding[i], dilation[i]),
                        size, ceil_mode);
    if (size.is_static() && size.value() < 1)
      call.refuse("kernel_size is larger than the padded input");
  }
  return sizes;
}

template <size_t dims>
Value average_pool(const Call& call) {
  return image_like(call.self(), pooled(call, dims));
}

template <size_t dims>
Value max_pool(const Call& call) {
  return image_like(call.self(), pooled(call, dims));
}

template <size_t dims>
Value adaptive_pool(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, dims + 1, dims + 2, "input");
  Sizes sizes = self.sizes;
  const Argument* output_size = call.find("output_size");
  if (output_size == nullptr) call.refuse("output_size is missing");
  const ArgumentList repeated(dims, *output_size);
  const ArgumentList& items = output_size->list() == nullptr ? repeated : *output_size->list();
  if (items.size() != dims) {
    call.refuse(fmt::format("output_size has {} items, expected {}", items.size(), dims));
  }
  for (size_t i = 0; i < dims; ++i) {
    if (items[i].is_none()) continue;
    const std::optional<SymInt> size = size_of(items[i]);
    if (!size) call.refuse("output_size contains an item that is not a size");
    sizes[sizes.size() - dims + i] = *size;
  }
  return image_like(self, std::move(sizes));
}

template <size_t dims>
Value adaptive_max_pool(const Call& call) {
  const TensorSpec values = *adaptive_pool<dims>(call).tensor();
  TensorSpec indices = values;
  indices.dtype = ScalarType::kLong;
  return Value::Items{values, indices};
}

}  // namespace

Value average_pool1d(const Call& call) { return average_pool<1>(call); }
Value average_pool2d(const Call& call) { return average_pool<2>(call); }
Value average_pool3d(const Call& call) { return average_pool<3>(call); }

Value max_pool1d(const Call& call) { return max_pool<1>(call); }
Value max_pool2d(const Call& call) { return max_pool<2>(call); }
Value max_pool3d(const Call& call) { return max_pool<3>(call); }
Value max_pool2d_with_indices(const Call& call) {
  const TensorSpec values = image_like(call.self(), pooled(call, 2));
  TensorSpec indices = values;
  indices.dtype = ScalarType::kLong;
  return Value::Items{values, indices};
}

Value adaptive_pool1d(const Call& call) { return adaptive_pool<1>(call); }
Value adaptive_pool2d(const Call& call) { return adaptive_pool<2>(call); }
Value adaptive_pool3d(const Call& call) { return adaptive_pool<3>(call); }

Value adaptive_max_pool1d(const Call& call) { return adaptive_max_pool<1>(call); }
Value adaptive_max_pool2d(const Call& call) { return adaptive_max_pool<2>(call); }

}  // namespace vitrine::aot::results
