#include "aot/shapes/sizes.h"

#include <fmt/format.h>

#include "aot/shapes/strides.h"

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

void need_rank(const Call& call, const TensorSpec& spec, size_t least, size_t most,
               std::string_view what) {
  if (spec.rank() < least || spec.rank() > most) {
    call.refuse(fmt::format("its {} has {} dims", what, spec.rank()));
  }
}

void need_same(const Call& call, const SymInt& a, const SymInt& b, std::string_view what) {
  if (a.is_static() && b.is_static() && !(a == b)) {
    call.refuse(fmt::format("{} differ: {} and {}", what, to_text(a), to_text(b)));
  }
}

int64_t bounded(const Call& call, int64_t value) {
  if (value > INT32_MAX || value < -INT32_MAX) call.refuse("its window is too large");
  return value;
}

SymInt window(const Call& call, const SymInt& size, int64_t kernel, int64_t stride, int64_t padding,
              int64_t dilation, bool ceil_mode) {
  if (size.is_static() && size.value() > INT64_C(1) << 48) call.refuse("its input is too large");
  for (const int64_t value : {kernel, stride, padding, dilation}) bounded(call, value);
  const SymInt span = size + SymInt(2 * padding - dilation * (kernel - 1) - 1);
  const SymInt steps =
      ceil_mode ? (span + SymInt(stride - 1)) / SymInt(stride) : span / SymInt(stride);
  SymInt count = steps + SymInt(1);
  // The last window must begin inside of the input or its left padding.
  if (ceil_mode && count.is_static() && size.is_static() &&
      (count.value() - 1) * stride >= size.value() + padding) {
    count = count - SymInt(1);
  }
  return count;
}

}  // namespace vitrine::aot::results
