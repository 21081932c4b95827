#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/sizes.h"

namespace vitrine::aot::results {
namespace {

template <size_t dims>
Value resized(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, dims + 2, dims + 2, "input");
  Sizes sizes = self.sizes;
  if (call.find("output_size") != nullptr) {
    const Sizes output_size = call.sizes("output_size");
    if (output_size.size() != dims) {
      call.refuse(fmt::format("output_size has {} items, expected {}", output_size.size(), dims));
    }
    std::ranges::copy(output_size, sizes.end() - static_cast<std::ptrdiff_t>(dims));
    return image_like(self, std::move(sizes));
  }
  const Argument* factors = call.find("scale_factors");
  if (factors == nullptr || factors->list() == nullptr || factors->list()->size() != dims) {
    call.refuse(fmt::format("needs output_size or a list of {} scale_factors", dims));
  }
  for (size_t i = 0; i < dims; ++i) {
    const auto* factor = (*factors->list())[i].get<double>();
    SymInt& size = sizes[2 + i];
    if (factor == nullptr || !(*factor > 0) || *factor > 1e6)
      call.refuse("scale_factors must be numbers in (0, 1e6]");
    const double rounded = std::floor(*factor);
    if (size.is_static()) {
      const double scaled = std::floor(static_cast<double>(size.value()) * *factor);
      if (!(scaled < 1e15)) call.refuse("the result is too large");
      size = static_cast<int64_t>(scaled);
    } else if (rounded == *factor) {
      size = size * SymInt(static_cast<int64_t>(rounded));
    } else {
      call.refuse("the scale factor of a dim with a symbolic size must be an integer");
    }
  }
  return image_like(self, std::move(sizes));
}

}  // namespace

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
