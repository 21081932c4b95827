#include "kernels/util/convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/gemm.h"
#include "runtime/core/sliding_window.h"

namespace vitrine {

namespace {

// Depth, height and width.
using Spatial = std::array<int64_t, 3>;

Spatial spatial_sizes(const Layout& layout) {
  return {layout.sizes[2], layout.sizes[3], layout.sizes[4]};
}

Spatial unravel(int64_t index, const Spatial& sizes) {
  return {index / sizes[2] / sizes[1], index / sizes[2] % sizes[1], index % sizes[2]};
}

int64_t offset_of(const Spatial& position, const Layout& layout) {
  return position[0] * layout.strides[2] + position[1] * layout.strides[3] +
         position[2] * layout.strides[4];
}

struct Operands {
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  Tensor& out;
  Layout input_layout;
  Layout weight_layout;  // [output channels, input channels, kernel...] of one group
  Layout out_layout;
  int64_t group_rows;
  int64_t group_channels;
  int64_t weight_group_stride;
};

// The operands of the matrix product for one image and one group. Rows are output channels, and
// columns are output positions. Taps are the positions in the kernel. The product sums over all
// pairs of an input channel and a tap, at depth channel * taps + tap.
template <class Sum>
class PatchOperands final : public GemmOperands<Sum> {
 public:
  PatchOperands(const Operands& operands, const ConvolutionWindow& window, const ElementMover& load,
                const ElementMover& store)
      : operands_(operands),
        window_(window),
        load_(load),
        store_(store),
        kernel_(spatial_sizes(operands.weight_layout)),
        in_(spatial_sizes(operands.input_layout)),
        out_(spatial_sizes(operands.out_layout)),
        element_size_(static_cast<int64_t>(operands.input.element_size())),
        is_sum_(operands.input.dtype() == sum_dtype<Sum>) {
    const Layout& weight = operands.weight_layout;
    const Spatial strides{weight.strides[2], weight.strides[3], weight.strides[4]};
    dense_weights_ = (kernel_[1] == 1 || strides[1] == strides[2] * kernel_[2]) &&
                     (kernel_[0] == 1 || strides[0] == strides[2] * kernel_[2] * kernel_[1]) &&
                     weight.strides[1] == strides[2] * kernel_[2] * kernel_[1] * kernel_[0];
  }

  void run(int64_t image, int64_t group) {
    const Layout& in = operands_.input_layout;
    const Layout& out = operands_.out_layout;
    first_row_ = group * operands_.group_rows;
    input_offset_ = image * in.strides[0] + group * operands_.group_channels * in.strides[1];
    weight_offset_ = group * operands_.weight_group_stride;
    out_offset_ = image * out.strides[0] + first_row_ * out.strides[1];
    const int64_t depth = operands_.group_channels * kernel_[0] * kernel_[1] * kernel_[2];
    gemm(operands_.group_rows, out_[0] * out_[1] * out_[2], depth, *this);
  }

  void load_rows(int64_t row, int64_t count, int64_t depth, int64_t depth_count,
                 Sum* panel) override {
    const Layout& layout = operands_.weight_layout;
    const void* data = operands_.weight.raw_data();
    const int64_t first = weight_offset_ + row * layout.strides[0];
    if (dense_weights_) {
      for (int64_t r = 0; r < count; ++r) {
        load_.move(data, first + r * layout.strides[0] + depth * layout.strides[4],
                   layout.strides[4], panel, r, kGemmTileRows, depth_count);
      }
      return;
    }
    for_each_tap(depth, depth_count, [&](int64_t d, int64_t channel, const Spatial& tap) {
      load_.move(data, first + channel * layout.strides[1] + offset_of(tap, layout),
                 layout.strides[0], panel, d * kGemmTileRows, 1, count);
    });
  }

  void load_columns(int64_t column, int64_t count, int64_t depth, int64_t depth_count,
                    Sum* panel) override {
    if (column != column_) locate_patches(column, count);
    if (is_sum_) {
      gather(count, depth, depth_count, panel);
      return;
    }
    alignas(16) std::byte raw[kGemmBlockDepth * kGemmTileColumns * sizeof(Sum)];
    if (count < kGemmTileColumns) {
      std::memset(raw, 0, static_cast<size_t>(depth_count * kGemmTileColumns * element_size_));
    }
    switch (element_size_) {
      case 1:
        gather(count, depth, depth_count, reinterpret_cast<uint8_t*>(raw));
        break;
      case 2:
        gather(count, depth, depth_count, reinterpret_cast<uint16_t*>(raw));
        break;
      default:
        gather(count, depth, depth_count, reinterpret_cast<uint32_t*>(raw));
        break;
    }
    load_.move(raw, 0, 1, panel, 0, 1, depth_count * kGemmTileColumns);
  }

  void store(int64_t row, int64_t column, int64_t count, Sum* sums) override {
    if (operands_.bias != nullptr) {
      Sum bias;
      load_.move(operands_.bias->raw_data(), first_row_ + row, 1, &bias, 0, 1, 1);
      for (int64_t i = 0; i < count; ++i) sums[i] += bias;
    }
    const Layout& layout = operands_.out_layout;
    const int64_t first = out_offset_ + row * layout.strides[1];
    // Each pass stores one line, because the stride of `out` is constant only within a line.
    for (int64_t i = 0; i < count;) {
      const Spatial position = unravel(column + i, out_);
      const int64_t part = std::min(count - i, out_[2] - position[2]);
      store_.move(sums, i, 1, operands_.out.mutable_raw_data(), first + offset_of(position, layout),
                  layout.strides[4], part);
      i += part;
    }
  }

 private:
  // Calls visit(d, channel, tap) for each d < count: the input channel and tap at depth + d.
  template <class Visit>
  void for_each_tap(int64_t depth, int64_t count, Visit&& visit) const {
    const int64_t taps = kernel_[0] * kernel_[1] * kernel_[2];
    int64_t channel = depth / taps;
    Spatial tap = unravel(depth % taps, kernel_);
    for (int64_t d = 0; d < count; ++d) {
      visit(d, channel, std::as_const(tap));
      if (++tap[2] < kernel_[2]) continue;
      tap[2] = 0;
      if (++tap[1] < kernel_[1]) continue;
      tap[1] = 0;
      if (++tap[0] < kernel_[0]) continue;
      tap[0] = 0;
      ++channel;
    }
  }

  void locate_patches(int64_t column, int64_t count) {
    column_ = column;
    inside_ = !window_.transposed;
    const Layout& in = operands_.input_layout;
    for (int64_t c = 0; c < count; ++c) {
      const Spatial position = unravel(column + c, out_);
      for (size_t i = 0; i < 3; ++i) {
        starts_[c][i] = window_.transposed ? position[i] + window_.padding[i]
                                           : position[i] * window_.stride[i] - window_.padding[i];
        inside_ = inside_ && starts_[c][i] >= 0 &&
                  starts_[c][i] + (kernel_[i] - 1) * window_.dilation[i] < in_[i];
      }
      if (inside_) offsets_[c] = offset_of(starts_[c], in);
    }
    adjacent_ = inside_ && count == kGemmTileColumns;
    for (int64_t c = 0; adjacent_ && c < count; ++c) adjacent_ = offsets_[c] == offsets_[0] + c;
  }

  // Sets `position` to the input element that `tap` multiplies in the patch at `start`. Returns
  // false if the element does not exist.
  bool find_input(const Spatial& start, const Spatial& tap, Spatial& position) const {
    for (size_t i = 0; i < 3; ++i) {
      int64_t at = start[i];
      if (window_.transposed) {
        at -= tap[i] * window_.dilation[i];
        if (at < 0 || at % window_.stride[i] != 0) return false;
        at /= window_.stride[i];
      } else {
        at += tap[i] * window_.dilation[i];
      }
      if (at < 0 || at >= in_[i]) return false;
      position[i] = at;
    }
    return true;
  }

  template <class Element>
  void gather(int64_t count, int64_t depth, int64_t depth_count, Element* panel) const {
    const Layout& in = operands_.input_layout;
    const Element* data = operands_.input.template unchecked_data<Element>() + input_offset_;
    for_each_tap(depth, depth_count, [&](int64_t d, int64_t channel, const Spatial& tap) {
      const Element* plane = data + channel * in.strides[1];
      Element* to = panel + d * kGemmTileColumns;
      if (inside_) {
        const Spatial step{tap[0] * window_.dilation[0], tap[1] * window_.dilation[1],
                           tap[2] * window_.dilation[2]};
        const Element* from = plane + offset_of(step, in);
        if (adjacent_) {
          std::memcpy(to, from + offsets_[0], kGemmTileColumns * sizeof(Element));
        } else {
          for (int64_t c = 0; c < count; ++c) to[c] = from[offsets_[c]];
        }
        return;
      }
      for (int64_t c = 0; c < count; ++c) {
        Spatial position;
        to[c] = find_input(starts_[c], tap, position) ? plane[offset_of(position, in)] : Element(0);
      }
    });
  }

  const Operands& operands_;
  const ConvolutionWindow& window_;
  const ElementMover& load_;
  const ElementMover& store_;
  Spatial kernel_;
  Spatial in_;
  Spatial out_;
  int64_t element_size_;
  bool is_sum_;
  bool dense_weights_;

  int64_t first_row_ = 0;
  int64_t input_offset_ = 0;
  int64_t weight_offset_ = 0;
  int64_t out_offset_ = 0;

  // The first column of the tile in the last call of locate_patches().
  int64_t column_ = -1;
  bool inside_ = false;    // no patch reaches into the padding
  bool adjacent_ = false;  // inside_, and the patches begin at consecutive elements
  // Plain arrays: int64_t cannot index a std::array on 32-bit machines without a cast.
  Spatial starts_[kGemmTileColumns];
  int64_t offsets_[kGemmTileColumns];
};

bool read_numbers(KernelContext& context, size_t spatial, std::span<const int64_t> list,
                  int64_t min, const char* name, Spatial& numbers) {
  if (list.size() != 1 && list.size() != spatial) {
    context.fail(ErrorCode::kInvalidArgument, "%s has %zu numbers, expected 1 or %zu", name,
                 list.size(), spatial);
    return false;
  }
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t number = list[list.size() == 1 ? 0 : i];
    if (number < min || number > INT32_MAX) {
      context.fail(ErrorCode::kInvalidArgument, "%s %lld is out of range", name,
                   static_cast<long long>(number));
      return false;
    }
    numbers[3 - spatial + i] = number;
  }
  return true;
}

bool check_shapes(KernelContext& context, bool fits, const Tensor& input, const Tensor& weight,
                  const Tensor& out, int64_t groups) {
  if (fits) return true;
  char texts[3][96];
  const Tensor* tensors[] = {&input, &weight, &out};
  for (size_t i = 0; i < 3; ++i) describe(*tensors[i], texts[i], sizeof texts[i]);
  context.fail(ErrorCode::kInvalidArgument,
               "the shapes of input %s and weight %s (%lld groups) do not match out %s", texts[0],
               texts[1], static_cast<long long>(groups), texts[2]);
  return false;
}

}  // namespace

std::optional<ConvolutionWindow> read_convolution_window(
    KernelContext& context, size_t spatial, std::span<const int64_t> stride,
    std::span<const int64_t> padding, std::span<const int64_t> dilation, bool transposed,
    std::span<const int64_t> output_padding, int64_t groups) {
  ConvolutionWindow window;
  window.transposed = transposed;
  window.groups = groups;
  if (spatial < 1 || spatial > 3) {
    context.fail(ErrorCode::kInvalidArgument,
                 "a convolution has 1 to 3 spatial dimensions, found %zu", spatial);
    return std::nullopt;
  }
  if (groups < 1 || groups > INT32_MAX) {
    context.fail(ErrorCode::kInvalidArgument, "groups %lld is out of range",
                 static_cast<long long>(groups));
    return std::nullopt;
  }
  if (!read_numbers(context, spatial, stride, 1, "stride", window.stride) ||
      !read_numbers(context, spatial, padding, 0, "padding", window.padding) ||
      !read_numbers(context, spatial, dilation, 1, "dilation", window.dilation) ||
      ((transposed || !output_padding.empty()) &&
       !read_numbers(context, spatial, output_padding, 0, "output_padding",
                     window.output_padding))) {
    return std::nullopt;
  }
  if (!transposed) window.output_padding = {};
  for (size_t i = 0; i < 3; ++i) {
    if (window.output_padding[i] >= std::max(window.stride[i], window.dilation[i])) {
      context.fail(ErrorCode::kInvalidArgument,
                   "output_padding must be smaller than stride or dilation");
      return std::nullopt;
    }
  }
  return window;
}

std::optional<int64_t> convolution_output_size(const ConvolutionWindow& window, size_t dim,
                                               int64_t input, int64_t kernel) {
  const SlidingWindow sliding{kernel, window.stride[dim], window.dilation[dim],
                              2 * window.padding[dim]};
  const std::optional<int64_t> size =
      window.transposed ? transposed_size(sliding, input, window.output_padding[dim])
                        : window_count(sliding, input);
  if (input < 0 || !size || *size < 1 || *size > INT32_MAX) return std::nullopt;
  return size;
}

Layout layout_5d(const Tensor& tensor) {
  Layout layout(tensor);
  while (layout.rank < 5) layout.insert(2, 1, 0);
  return layout;
}

bool check_convolution(KernelContext& context, const Convolution& convolution) {
  const auto& [input, weight, bias, window, out] = convolution;
  const size_t rank = input.rank();
  if (!check_shapes(context,
                    rank >= 3 && rank <= 5 && weight.rank() == rank && out.rank() == rank &&
                        input.size(0) == out.size(0),
                    input, weight, out, window.groups)) {
    return false;
  }
  const int64_t channels = input.size(1);
  const int64_t rows = out.size(1);
  const int64_t weight_channels = window.transposed ? channels : rows;
  const int64_t split_channels = window.transposed ? rows : channels;
  if (!check_shapes(context,
                    channels % window.groups == 0 && rows % window.groups == 0 &&
                        weight.size(0) == weight_channels &&
                        weight.size(1) == split_channels / window.groups,
                    input, weight, out, window.groups)) {
    return false;
  }
  const ScalarType dtype = out.dtype();
  if (!check_dtype_in<RealHBF16Types>(context, out) ||
      !check_dtype(context, input, dtype, "input") ||
      !check_dtype(context, weight, dtype, "weight")) {
    return false;
  }
  if (bias != nullptr && (!check_dtype(context, *bias, dtype, "bias") ||
                          !check_sizes(context, *bias, std::array{out.size(1)}, "bias"))) {
    return false;
  }
  return check_data(context, {&input, &weight, bias, &out});
}

void convolve(KernelContext& context, const Convolution& convolution) {
  const Tensor& input = convolution.input;
  const Tensor& weight = convolution.weight;
  Tensor& out = convolution.out;
  const ConvolutionWindow& window = convolution.window;
  if (out.numel() == 0) return;  // avoids a loop over possibly many empty images or groups
  Operands operands{input,
                    weight,
                    convolution.bias,
                    out,
                    layout_5d(input),
                    layout_5d(weight),
                    layout_5d(out),
                    out.size(1) / window.groups,
                    input.size(1) / window.groups,
                    0};
  Layout& layout = operands.weight_layout;
  operands.weight_group_stride =
      layout.strides[0] * (window.transposed ? operands.group_channels : operands.group_rows);
  if (window.transposed) layout.swap(0, 1);
  const ScalarType dtype = out.dtype();
  dispatch_sum(context, dtype, [&]<class Sum>() {
    const auto load = ElementMover::make(context, dtype, sum_dtype<Sum>);
    const auto store = ElementMover::make(context, sum_dtype<Sum>, dtype);
    if (!load || !store) return;
    PatchOperands<Sum> product(operands, window, *load, *store);
    for (int64_t image = 0; image < input.size(0); ++image) {
      for (int64_t group = 0; group < window.groups; ++group) product.run(image, group);
    }
  });
}

void convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const Tensor* bias, std::span<const int64_t> stride,
                 std::span<const int64_t> padding, std::span<const int64_t> dilation,
                 bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                 Tensor& out, Convolve convolve) {
  const size_t rank = input.rank();
  if (rank < 3 || rank > 5) {
    return context.fail(ErrorCode::kInvalidArgument, "input has rank %zu, expected 3 to 5", rank);
  }
  if (!check_rank(context, weight, rank, "weight")) return;
  const auto window = read_convolution_window(context, rank - 2, stride, padding, dilation,
                                              transposed, output_padding, groups);
  if (!window) return;
  std::array<int64_t, 5> sizes;
  sizes[0] = input.size(0);
  sizes[1] = transposed ? weight.size(1) * groups : weight.size(0);
  for (size_t i = 2; i < rank; ++i) {
    const auto size =
        convolution_output_size(*window, 5 - rank + i - 2, input.size(i), weight.size(i));
    if (!size) {
      return context.fail(
          ErrorCode::kInvalidArgument,
          "a kernel of size %d does not fit in an input of size %d in dimension %zu",
          weight.size(i), input.size(i), i);
    }
    sizes[i] = *size;
  }
  if (!resize_to(context, out, std::span(sizes).first(rank))) return;
  const Convolution arguments{input, weight, bias, *window, out};
  if (check_convolution(context, arguments)) convolve(context, arguments);
}

}  // namespace vitrine
