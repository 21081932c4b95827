// Results of pools, resizings and what else is made of images.
#include <algorithm>
#include <cmath>

#include "aot/shapes/infer.h"
#include "aot/shapes/results.h"
#include "aot/shapes/sizes.h"

namespace vitrine::aot::results {
namespace {

Sizes pooled(const Call& call, size_t dims) {
  const TensorSpec& self = call.self();
  need_rank(call, self, dims + 1, dims + 2, "input");
  const std::vector<int64_t> kernel = call.integers("kernel_size", dims);
  const std::vector<int64_t> asked = call.integers("stride");
  const std::vector<int64_t> stride = asked.empty() ? kernel : call.integers("stride", dims);
  const std::vector<int64_t> padding = call.integers("padding", dims);
  const std::vector<int64_t> dilation = call.value("dilation").is_none()
                                            ? std::vector<int64_t>(dims, 1)
                                            : call.integers("dilation", dims);
  const bool ceil_mode = call.boolean("ceil_mode");
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < dims; ++i) {
    SymInt& size = sizes[sizes.size() - dims + i];
    if (stride[i] < 1 || kernel[i] < 1) call.refuse("a window or stride is not positive");
    size = window_steps(call, make_window(call, kernel[i], stride[i], padding[i], dilation[i]),
                        size, ceil_mode);
    if (size.is_static() && size.value() < 1) call.refuse("its window exceeds its input");
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
  const Argument* asked = call.find("output_size");
  if (asked == nullptr) call.refuse("its output_size is missing");
  const ArgumentList one(dims, *asked);
  const ArgumentList& items = asked->list() == nullptr ? one : *asked->list();
  if (items.size() != dims) call.refuse("its output_size has the wrong number of dims");
  for (size_t i = 0; i < dims; ++i) {
    if (items[i].is_none()) continue;
    const std::optional<SymInt> size = size_of(items[i]);
    if (!size) call.refuse("output_size is not a size");
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

// Resizes the last dims.
template <size_t dims>
Value resized(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, dims + 2, dims + 2, "input");
  Sizes sizes = self.sizes;
  if (call.find("output_size") != nullptr) {
    const Sizes asked = call.sizes("output_size");
    if (asked.size() != dims) call.refuse("its output_size has the wrong number of dims");
    std::ranges::copy(asked, sizes.end() - static_cast<std::ptrdiff_t>(dims));
    return image_like(self, std::move(sizes));
  }
  const Argument* factors = call.find("scale_factors");
  if (factors == nullptr || factors->list() == nullptr || factors->list()->size() != dims) {
    call.refuse("it has neither an output_size nor scale_factors");
  }
  for (size_t i = 0; i < dims; ++i) {
    const auto* factor = (*factors->list())[i].get<double>();
    SymInt& size = sizes[2 + i];
    if (factor == nullptr || !(*factor > 0) || *factor > 1e6)
      call.refuse("a scale factor is not a number");
    const double whole = std::floor(*factor);
    if (size.is_static()) {
      const double scaled = std::floor(static_cast<double>(size.value()) * *factor);
      if (!(scaled < 1e15)) call.refuse("its result is too large");
      size = static_cast<int64_t>(scaled);
    } else if (whole == *factor) {
      size = size * SymInt(static_cast<int64_t>(whole));
    } else {
      call.refuse("it scales a symbolic size by a fraction");
    }
  }
  return image_like(self, std::move(sizes));
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

Value resized1d(const Call& call) { return resized<1>(call); }
Value resized2d(const Call& call) { return resized<2>(call); }

Value grid_sample(const Call& call) {
  const TensorSpec& input = call.self();
  const TensorSpec& grid = call.tensor("grid");
  need_rank(call, input, 4, 5, "input");
  need_rank(call, grid, input.rank(), input.rank(), "grid");
  Sizes sizes = {input.sizes[0], input.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  return contiguous_like(input, std::move(sizes));
}

Value pixel_shuffle(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, 3, 64, "input");
  const SymInt factor = call.integer("upscale_factor");
  Sizes sizes = self.sizes;
  const size_t rank = sizes.size();
  sizes[rank - 3] = sizes[rank - 3] / (factor * factor);
  sizes[rank - 2] = sizes[rank - 2] * factor;
  sizes[rank - 1] = sizes[rank - 1] * factor;
  return contiguous_like(self, std::move(sizes));
}
Value pixel_unshuffle(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, 3, 64, "input");
  const SymInt factor = call.integer("downscale_factor");
  Sizes sizes = self.sizes;
  const size_t rank = sizes.size();
  sizes[rank - 3] = sizes[rank - 3] * factor * factor;
  sizes[rank - 2] = sizes[rank - 2] / factor;
  sizes[rank - 1] = sizes[rank - 1] / factor;
  return contiguous_like(self, std::move(sizes));
}

}  // namespace vitrine::aot::results
