// Results of products, convolutions, pools, norms and resizings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/shapes/infer.h"
#include "aot/shapes/promotion.h"
#include "aot/shapes/strides.h"
#include "runtime/core/sliding_window.h"

namespace vitrine::aot {
namespace {

using Sizes = std::vector<SymInt>;

TensorSpec contiguous(const TensorSpec& like, Sizes sizes) {
  return contiguous_spec(like.dtype, std::move(sizes));
}

// Channels last if the input is.
TensorSpec image_like(const TensorSpec& input, Sizes sizes) {
  TensorSpec spec = contiguous(input, std::move(sizes));
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

Value product(const Call& call, size_t first, size_t rank) {
  const TensorSpec& a = call.tensor(first, "self");
  const TensorSpec& b = call.tensor(first + 1, "mat2");
  need_rank(call, a, rank, rank, "left matrix");
  need_rank(call, b, rank, rank, "right matrix");
  need_same(call, a.sizes[rank - 1], b.sizes[rank - 2], "inner sizes");
  Sizes sizes = a.sizes;
  sizes.back() = b.sizes.back();
  return contiguous(a, std::move(sizes));
}
Value mm(const Call& call) { return product(call, 0, 2); }
Value bmm(const Call& call) { return product(call, 0, 3); }
Value addmm(const Call& call) { return product(call, 1, 2); }
Value baddbmm(const Call& call) { return product(call, 1, 3); }

Value mv(const Call& call) {
  const TensorSpec& a = call.tensor(0, "self");
  need_rank(call, a, 2, 2, "matrix");
  return contiguous(a, {a.sizes[0]});
}
Value dot(const Call& call) { return contiguous(call.tensor(0, "self"), {}); }

Value matmul(const Call& call) {
  TensorSpec a = call.tensor(0, "self");
  TensorSpec b = call.tensor(1, "other");
  if (a.rank() == 0 || b.rank() == 0) call.refuse("an operand has no dims");
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a.sizes.insert(a.sizes.begin(), SymInt(1));
  if (column) b.sizes.emplace_back(1);
  need_same(call, a.sizes.back(), b.sizes[b.rank() - 2], "inner sizes");
  TensorSpec batch_a = a;
  TensorSpec batch_b = b;
  batch_a.sizes.resize(a.sizes.size() - 2);
  batch_b.sizes.resize(b.sizes.size() - 2);
  const TensorSpec* const batches[] = {&batch_a, &batch_b};
  Sizes sizes = broadcast_sizes(call, batches);
  if (!row) sizes.push_back(a.sizes[a.sizes.size() - 2]);
  if (!column) sizes.push_back(b.sizes.back());
  return contiguous(a, std::move(sizes));
}

Value linear(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  const TensorSpec& weight = call.tensor(1, "weight");
  if (input.rank() == 0) call.refuse("its input has no dims");
  need_rank(call, weight, 1, 2, "weight");
  need_same(call, input.sizes.back(), weight.sizes.back(), "features");
  Sizes sizes = input.sizes;
  if (weight.rank() == 2) {
    sizes.back() = weight.sizes[0];
  } else {
    sizes.pop_back();
  }
  return contiguous(input, std::move(sizes));
}

SlidingWindow make_window(const Call& call, int64_t kernel, int64_t stride, int64_t padding,
                          int64_t dilation) {
  SlidingWindow window{kernel, stride, dilation};
  if (mul_overflows(padding, 2, &window.padding)) call.refuse("its window is out of range");
  return window;
}

// The size of a dim after a window has gone over it.
SymInt slid_over(const Call& call, const SlidingWindow& window, const SymInt& size,
                 bool ceil_mode = false) {
  std::optional<SymInt> count;
  if (size.is_static()) {
    count = window_count(window, size.value(), ceil_mode);
  } else {
    count = window_count(window, size, ceil_mode);
  }
  if (!count) call.refuse("its window is out of range");
  return *count;
}

// And of one that a window of a transposed convolution has gone over.
SymInt slid_back(const Call& call, const SlidingWindow& window, const SymInt& size,
                 int64_t output_padding) {
  std::optional<SymInt> result;
  if (size.is_static()) {
    result = transposed_size(window, size.value(), output_padding);
  } else {
    result = transposed_size(window, size, output_padding);
  }
  if (!result) call.refuse("its window is out of range");
  return *result;
}

struct ConvolutionArguments {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

TensorSpec convolved(const Call& call, const ConvolutionArguments& with, size_t dims) {
  const TensorSpec& input = call.tensor(0, "input");
  const TensorSpec& weight = call.tensor(1, "weight");
  need_rank(call, weight, dims + 2, dims + 2, "weight");
  need_rank(call, input, dims + 1, dims + 2, "input");
  const bool has_batch = input.rank() == dims + 2;
  const size_t first = has_batch ? 2 : 1;
  Sizes sizes;
  if (has_batch) sizes.push_back(input.sizes[0]);
  const SymInt& channels = input.sizes[first - 1];
  if (with.groups < 1) call.refuse("its groups are not positive");
  need_same(call, channels,
            with.transposed ? weight.sizes[0] : weight.sizes[1] * SymInt(with.groups), "channels");
  sizes.push_back(with.transposed ? weight.sizes[1] * SymInt(with.groups) : weight.sizes[0]);
  for (size_t i = 0; i < dims; ++i) {
    if (!weight.sizes[i + 2].is_static()) call.refuse("its window is a symbol");
    const int64_t kernel = weight.sizes[i + 2].value();
    const SymInt& size = input.sizes[first + i];
    if (with.stride[i] < 1 || with.dilation[i] < 1)
      call.refuse("a stride or dilation is not positive");
    const SlidingWindow window =
        make_window(call, kernel, with.stride[i], with.padding[i], with.dilation[i]);
    sizes.push_back(with.transposed ? slid_back(call, window, size, with.output_padding[i])
                                    : slid_over(call, window, size));
    if (sizes.back().is_static() && sizes.back().value() < 1)
      call.refuse("its window exceeds its input");
  }
  TensorSpec spec = contiguous(input, std::move(sizes));
  if (is_channels_last(input) || is_channels_last(weight)) {
    spec.strides = channels_last_strides(spec.sizes);
  }
  return spec;
}

Value convolution(const Call& call) {
  const size_t dims = std::max<size_t>(call.tensor(1, "weight").rank(), 2) - 2;
  ConvolutionArguments with;
  with.stride = call.integers(3, "stride", dims, 1);
  with.padding = call.integers(4, "padding", dims, 0);
  with.dilation = call.integers(5, "dilation", dims, 1);
  with.transposed = call.boolean(6, "transposed", false);
  with.output_padding = call.integers(7, "output_padding", dims, 0);
  with.groups = call.integer(8, "groups", 1);
  return convolved(call, with, dims);
}

template <size_t dims>
Value conv(const Call& call) {
  ConvolutionArguments with;
  with.stride = call.integers(3, "stride", dims, 1);
  with.dilation = call.integers(5, "dilation", dims, 1);
  with.output_padding.assign(dims, 0);
  with.groups = call.integer(6, "groups", 1);
  const Argument* padding = call.find(4, "padding");
  const auto* word = padding == nullptr ? nullptr : padding->get<std::string>();
  with.padding =
      word != nullptr ? std::vector<int64_t>(dims, 0) : call.integers(4, "padding", dims, 0);
  if (word == nullptr || *word == "valid") return convolved(call, with, dims);
  TensorSpec spec = convolved(call, with, dims);
  const TensorSpec& input = call.tensor(0, "input");
  for (size_t i = 0; i < dims; ++i)
    spec.sizes[spec.rank() - 1 - i] = input.sizes[input.rank() - 1 - i];
  return contiguous(spec, spec.sizes);
}

template <size_t dims>
Value conv_transpose(const Call& call) {
  ConvolutionArguments with;
  with.stride = call.integers(3, "stride", dims, 1);
  with.padding = call.integers(4, "padding", dims, 0);
  with.output_padding = call.integers(5, "output_padding", dims, 0);
  with.groups = call.integer(6, "groups", 1);
  with.dilation = call.integers(7, "dilation", dims, 1);
  with.transposed = true;
  return convolved(call, with, dims);
}

// (self, kernel, stride, padding, [dilation,] ceil_mode, ...)
Sizes pooled(const Call& call, size_t dims, bool has_dilation) {
  const TensorSpec& self = call.tensor(0, "self");
  need_rank(call, self, dims + 1, dims + 2, "input");
  const std::vector<int64_t> kernel = call.integers(1, "kernel_size", dims, 1);
  const Argument* given = call.find(2, "stride");
  const bool has_stride = given != nullptr && (given->list() == nullptr || !given->list()->empty());
  const std::vector<int64_t> stride = has_stride ? call.integers(2, "stride", dims, 1) : kernel;
  const std::vector<int64_t> padding = call.integers(3, "padding", dims, 0);
  const std::vector<int64_t> dilation =
      has_dilation ? call.integers(4, "dilation", dims, 1) : std::vector<int64_t>(dims, 1);
  const bool ceil_mode = call.boolean(has_dilation ? 5 : 4, "ceil_mode", false);
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < dims; ++i) {
    SymInt& size = sizes[sizes.size() - dims + i];
    if (stride[i] < 1 || kernel[i] < 1) call.refuse("a window or stride is not positive");
    size = slid_over(call, make_window(call, kernel[i], stride[i], padding[i], dilation[i]), size,
                     ceil_mode);
    if (size.is_static() && size.value() < 1) call.refuse("its window exceeds its input");
  }
  return sizes;
}

template <size_t dims>
Value average_pool(const Call& call) {
  return image_like(call.tensor(0, "self"), pooled(call, dims, false));
}
template <size_t dims>
Value max_pool(const Call& call) {
  return image_like(call.tensor(0, "self"), pooled(call, dims, true));
}
template <size_t dims>
Value max_pool_with_indices(const Call& call) {
  const TensorSpec values = image_like(call.tensor(0, "self"), pooled(call, dims, true));
  TensorSpec indices = values;
  indices.dtype = ScalarType::kLong;
  return Value::Items{values, indices};
}

template <size_t dims>
Value adaptive_pool(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  need_rank(call, self, dims + 1, dims + 2, "input");
  Sizes sizes = self.sizes;
  const Argument* asked = call.find(1, "output_size");
  if (asked == nullptr) call.refuse("its output_size is missing");
  const ArgumentList one(dims, *asked);
  const ArgumentList& items = asked->list() == nullptr ? one : *asked->list();
  if (items.size() != dims) call.refuse("its output_size has another number of dims");
  for (size_t i = 0; i < dims; ++i) {
    if (items[i].is_none()) continue;
    const std::optional<SymInt> size = size_of(items[i]);
    if (!size) call.refuse("its output_size is no size");
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

TensorSpec dense_like(const TensorSpec& self) {
  TensorSpec spec = self;
  const TensorSpec* const inputs[] = {&self};
  spec.strides = elementwise_strides(inputs, self.sizes);
  spec.storage_offset = 0;
  return spec;
}

Value batch_norm(const Call& call) { return dense_like(call.tensor(0, "input")); }
Value instance_norm(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  return contiguous(input, input.sizes);
}

Value batch_norm_no_training(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  const TensorSpec empty = contiguous(input, {SymInt(0)});
  return Value::Items{dense_like(input), empty, empty};
}
Value batch_norm_legit(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  need_rank(call, input, 2, 5, "input");
  const TensorSpec moments = contiguous(input, {input.sizes[1]});
  return Value::Items{dense_like(input), moments, moments};
}

Value layer_norm(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  return contiguous(input, input.sizes);
}
Value native_layer_norm(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  const size_t inner = call.sizes(1, "normalized_shape").size();
  if (inner > input.rank()) call.refuse("its normalized_shape has more dims than its input");
  Sizes outer = input.sizes;
  std::fill(outer.end() - static_cast<std::ptrdiff_t>(inner), outer.end(), SymInt(1));
  const TensorSpec moments = contiguous(input, outer);
  return Value::Items{contiguous(input, input.sizes), moments, moments};
}
Value native_group_norm(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  const TensorSpec moments = contiguous(input, {call.size(3, "N"), call.size(6, "group")});
  return Value::Items{contiguous(input, input.sizes), moments, moments};
}

Value embedding(const Call& call) {
  const TensorSpec& weight = call.tensor(0, "weight");
  need_rank(call, weight, 2, 2, "weight");
  Sizes sizes = call.tensor(1, "indices").sizes;
  sizes.push_back(weight.sizes[1]);
  return contiguous(weight, std::move(sizes));
}

Value attention(const Call& call) {
  const TensorSpec& query = call.tensor(0, "query");
  const TensorSpec& value = call.tensor(2, "value");
  need_rank(call, query, 2, 64, "query");
  need_rank(call, value, 2, 64, "value");
  Sizes sizes = query.sizes;
  sizes.back() = value.sizes.back();
  TensorSpec spec = contiguous(query, sizes);
  spec.strides = dense_strides(sizes, dim_order_of(query));  // laid out as the query is
  return spec;
}

// (self, output_size?, ..., scale_factors?): of the last dims. `scales_at` is the argument's place.
template <size_t dims, size_t scales_at>
Value resized(const Call& call) {
  const TensorSpec& self = call.tensor(0, "input");
  need_rank(call, self, dims + 2, dims + 2, "input");
  Sizes sizes = self.sizes;
  if (call.find(1, "output_size") != nullptr) {
    const Sizes asked = call.sizes(1, "output_size");
    if (asked.size() != dims) call.refuse("its output_size has another number of dims");
    std::ranges::copy(asked, sizes.end() - static_cast<std::ptrdiff_t>(dims));
    return image_like(self, std::move(sizes));
  }
  const Argument* factors = call.find(scales_at, "scale_factors");
  if (factors == nullptr || factors->list() == nullptr || factors->list()->size() != dims) {
    call.refuse("it has neither an output_size nor scale_factors");
  }
  for (size_t i = 0; i < dims; ++i) {
    const auto* factor = (*factors->list())[i].get<double>();
    SymInt& size = sizes[2 + i];
    if (factor == nullptr || !(*factor > 0) || *factor > 1e6)
      call.refuse("a scale factor is no number");
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

Value grid_sample(const Call& call) {
  const TensorSpec& input = call.tensor(0, "input");
  const TensorSpec& grid = call.tensor(1, "grid");
  need_rank(call, input, 4, 5, "input");
  need_rank(call, grid, input.rank(), input.rank(), "grid");
  Sizes sizes = {input.sizes[0], input.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  return contiguous(input, std::move(sizes));
}

Value pixel_shuffle(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  need_rank(call, self, 3, 64, "input");
  const SymInt factor = call.integer(1, "upscale_factor");
  Sizes sizes = self.sizes;
  const size_t rank = sizes.size();
  sizes[rank - 3] = sizes[rank - 3] / (factor * factor);
  sizes[rank - 2] = sizes[rank - 2] * factor;
  sizes[rank - 1] = sizes[rank - 1] * factor;
  return contiguous(self, std::move(sizes));
}
Value pixel_unshuffle(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  need_rank(call, self, 3, 64, "input");
  const SymInt factor = call.integer(1, "downscale_factor");
  Sizes sizes = self.sizes;
  const size_t rank = sizes.size();
  sizes[rank - 3] = sizes[rank - 3] * factor * factor;
  sizes[rank - 2] = sizes[rank - 2] / factor;
  sizes[rank - 1] = sizes[rank - 1] / factor;
  return contiguous(self, std::move(sizes));
}

Value distances(const Call& call) {
  const TensorSpec& a = call.tensor(0, "x1");
  const TensorSpec& b = call.tensor(1, "x2");
  need_rank(call, a, 2, 64, "x1");
  need_rank(call, b, 2, 64, "x2");
  TensorSpec outer_a = a;
  TensorSpec outer_b = b;
  outer_a.sizes.resize(a.rank() - 2);
  outer_b.sizes.resize(b.rank() - 2);
  const TensorSpec* const outer[] = {&outer_a, &outer_b};
  Sizes sizes = broadcast_sizes(call, outer);
  sizes.push_back(a.sizes[a.rank() - 2]);
  sizes.push_back(b.sizes[b.rank() - 2]);
  return contiguous(a, std::move(sizes));
}
Value own_distances(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  need_rank(call, self, 2, 2, "input");
  const SymInt& rows = self.sizes[0];
  return contiguous(self, {rows * (rows - SymInt(1)) / SymInt(2)});
}

constexpr InferRow kLayerResults[] = {
    {"aten._adaptive_avg_pool2d.default", adaptive_pool<2>},
    {"aten._adaptive_avg_pool3d.default", adaptive_pool<3>},
    {"aten._cdist_forward.default", distances},
    {"aten._native_batch_norm_legit.default", batch_norm_legit},
    {"aten._native_batch_norm_legit.no_stats", batch_norm_legit},
    {"aten._native_batch_norm_legit_no_training.default", batch_norm_no_training},
    {"aten._pdist_forward.default", own_distances},
    {"aten._upsample_bilinear2d_aa.default", resized<2, 99>},
    {"aten._upsample_bilinear2d_aa.vec", resized<2, 3>},
    {"aten.adaptive_avg_pool1d.default", adaptive_pool<1>},
    {"aten.adaptive_avg_pool2d.default", adaptive_pool<2>},
    {"aten.adaptive_avg_pool3d.default", adaptive_pool<3>},
    {"aten.adaptive_max_pool1d.default", adaptive_max_pool<1>},
    {"aten.adaptive_max_pool2d.default", adaptive_max_pool<2>},
    {"aten.addmm.default", addmm},
    {"aten.avg_pool1d.default", average_pool<1>},
    {"aten.avg_pool2d.default", average_pool<2>},
    {"aten.avg_pool3d.default", average_pool<3>},
    {"aten.baddbmm.default", baddbmm},
    {"aten.batch_norm.default", batch_norm},
    {"aten.bmm.default", bmm},
    {"aten.cdist.default", distances},
    {"aten.conv1d.default", conv<1>},
    {"aten.conv1d.padding", conv<1>},
    {"aten.conv2d.default", conv<2>},
    {"aten.conv2d.padding", conv<2>},
    {"aten.conv3d.default", conv<3>},
    {"aten.conv3d.padding", conv<3>},
    {"aten.conv_transpose1d.default", conv_transpose<1>},
    {"aten.conv_transpose2d.input", conv_transpose<2>},
    {"aten.conv_transpose3d.input", conv_transpose<3>},
    {"aten.convolution.default", convolution},
    {"aten.dot.default", dot},
    {"aten.embedding.default", embedding},
    {"aten.grid_sampler.default", grid_sample},
    {"aten.grid_sampler_2d.default", grid_sample},
    {"aten.group_norm.default", layer_norm},
    {"aten.instance_norm.default", instance_norm},
    {"aten.layer_norm.default", layer_norm},
    {"aten.linear.default", linear},
    {"aten.matmul.default", matmul},
    {"aten.max_pool1d.default", max_pool<1>},
    {"aten.max_pool2d.default", max_pool<2>},
    {"aten.max_pool2d_with_indices.default", max_pool_with_indices<2>},
    {"aten.max_pool3d.default", max_pool<3>},
    {"aten.mm.default", mm},
    {"aten.mv.default", mv},
    {"aten.native_group_norm.default", native_group_norm},
    {"aten.native_layer_norm.default", native_layer_norm},
    {"aten.pdist.default", own_distances},
    {"aten.pixel_shuffle.default", pixel_shuffle},
    {"aten.pixel_unshuffle.default", pixel_unshuffle},
    {"aten.rms_norm.default", layer_norm},
    {"aten.scaled_dot_product_attention.default", attention},
    {"aten.upsample_bicubic2d.vec", resized<2, 3>},
    {"aten.upsample_bilinear2d.vec", resized<2, 3>},
    {"aten.upsample_linear1d.vec", resized<1, 3>},
    {"aten.upsample_nearest1d.vec", resized<1, 2>},
    {"aten.upsample_nearest2d.vec", resized<2, 2>},
};

}  // namespace

std::span<const InferRow> layer_results() { return kLayerResults; }

}  // namespace vitrine::aot
