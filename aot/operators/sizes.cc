#include "aot/operators/sizes.h"

#include <fmt/format.h>

#include "aot/operators/strides.h"

namespace vitrine::aot::results {

TensorSpec contiguous_like(const TensorSpec& like, Sizes sizes) {
  return contiguous_spec(like.dtype, std::move(sizes));
}

TensorSpec image_like(const TensorSpec& input, Sizes sizes) {
  TensorSpec spec = contiguous_like(input, std::move(sizes));
  if (is_channels_last(input) && spec.rank() == input.rank()) {
    spec.strides = channels_last_strides(spec.sizes);
  }
  return spec;
}

void need_rank(const Call& call, const TensorSpec& spec, size_t min_rank, size_t max_rank,
               std::string_view what) {
  if (spec.rank() >= min_rank && spec.rank() <= max_rank) return;
  const std::string expected = min_rank == max_rank ? fmt::format("{}", min_rank)
                                                    : fmt::format("{} to {}", min_rank, max_rank);
  call.refuse(fmt::format("{} has {} dims, expected {}", what, spec.rank(), expected));
}

void need_same(const Call& call, const SymInt& a, const SymInt& b, std::string_view what) {
  if (a.is_static() && b.is_static() && !(a == b)) {
    call.refuse(fmt::format("{} are {} and {}; they must be equal", what, to_text(a), to_text(b)));
  }
}

SlidingWindow make_window(const Call& call, int64_t kernel, int64_t stride, int64_t padding,
                          int64_t dilation) {
  SlidingWindow window{kernel, stride, dilation};
  if (mul_overflows(padding, 2, &window.padding)) call.refuse("padding is out of range");
  return window;
}

SymInt window_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                    bool ceil_mode) {
  std::optional<SymInt> count;
  if (size.is_static()) {
    count = window_count(window, size.value(), ceil_mode);
  } else {
    count = window_count(window, size, ceil_mode);
  }
  if (!count) call.refuse("the size of the result is out of range");
  return *count;
}

SymInt transposed_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                        int64_t output_padding) {
  std::optional<SymInt> result;
  if (size.is_static()) {
    result = transposed_size(window, size.value(), output_padding);
  } else {
    result = transposed_size(window, size, output_padding);
  }
  if (!result) call.refuse("the size of the result is out of range");
  return *result;
}

}  // namespace vitrine::aot::results
