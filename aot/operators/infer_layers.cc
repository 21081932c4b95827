#include <fmt/format.h>

#include <algorithm>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/sizes.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

struct ConvolutionArguments {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

TensorSpec convolved(const Call& call, const ConvolutionArguments& args, size_t dims) {
  const TensorSpec& input = call.self();
  const TensorSpec& weight = call.tensor("weight");
  need_rank(call, weight, dims + 2, dims + 2, "weight");
  need_rank(call, input, dims + 1, dims + 2, "input");
  const bool has_batch = input.rank() == dims + 2;
  const size_t first = has_batch ? 2 : 1;
  Sizes sizes;
  if (has_batch) sizes.push_back(input.sizes[0]);
  const SymInt& channels = input.sizes[first - 1];
  if (args.groups < 1)
    call.refuse(fmt::format("groups is {}, but it must be positive", args.groups));
  need_same(call, channels,
            args.transposed ? weight.sizes[0] : weight.sizes[1] * SymInt(args.groups), "channels");
  sizes.push_back(args.transposed ? weight.sizes[1] * SymInt(args.groups) : weight.sizes[0]);
  for (size_t i = 0; i < dims; ++i) {
    if (!weight.sizes[i + 2].is_static())
      call.refuse("the kernel sizes of the weight must be numbers");
    const int64_t kernel = weight.sizes[i + 2].value();
    const SymInt& size = input.sizes[first + i];
    if (args.stride[i] < 1 || args.dilation[i] < 1)
      call.refuse("stride and dilation must be positive");
    const SlidingWindow window =
        make_window(call, kernel, args.stride[i], args.padding[i], args.dilation[i]);
    sizes.push_back(args.transposed ? transposed_steps(call, window, size, args.output_padding[i])
                                    : window_steps(call, window, size));
    if (sizes.back().is_static() && sizes.back().value() < 1)
      call.refuse("the kernel is larger than the padded input");
  }
  TensorSpec spec = contiguous_like(input, std::move(sizes));
  if (is_channels_last(input) || is_channels_last(weight)) {
    spec.strides = channels_last_strides(spec.sizes);
  }
  return spec;
}

template <size_t dims>
Value conv(const Call& call) {
  ConvolutionArguments args;
  args.stride = call.integers("stride", dims);
  args.dilation = call.integers("dilation", dims);
  args.output_padding.assign(dims, 0);
  args.groups = call.integer("groups");
  const Argument* padding = call.find("padding");
  const auto* word = padding == nullptr ? nullptr : padding->get<std::string>();
  args.padding = word != nullptr ? std::vector<int64_t>(dims, 0) : call.integers("padding", dims);
  if (word == nullptr || *word == "valid") return convolved(call, args, dims);
  TensorSpec spec = convolved(call, args, dims);
  const TensorSpec& input = call.self();
  for (size_t i = 0; i < dims; ++i)
    spec.sizes[spec.rank() - 1 - i] = input.sizes[input.rank() - 1 - i];
  return contiguous_like(spec, spec.sizes);
}

template <size_t dims>
Value conv_transpose(const Call& call) {
  ConvolutionArguments args;
  args.stride = call.integers("stride", dims);
  args.padding = call.integers("padding", dims);
  args.output_padding = call.integers("output_padding", dims);
  args.groups = call.integer("groups");
  args.dilation = call.integers("dilation", dims);
  args.transposed = true;
  return convolved(call, args, dims);
}

TensorSpec dense_like(const TensorSpec& self) {
  TensorSpec spec = self;
  const TensorSpec* const inputs[] = {&self};
  spec.strides = elementwise_strides(inputs, self.sizes);
  spec.storage_offset = 0;
  return spec;
}

}  // namespace

Value convolution(const Call& call) {
  const size_t dims = std::max<size_t>(call.tensor("weight").rank(), 2) - 2;
  ConvolutionArguments args;
  args.stride = call.integers("stride", dims);
  args.padding = call.integers("padding", dims);
  args.dilation = call.integers("dilation", dims);
  args.transposed = call.boolean("transposed");
  args.output_padding = call.integers("output_padding", dims);
  args.groups = call.integer("groups");
  return convolved(call, args, dims);
}

Value conv1d(const Call& call) { return conv<1>(call); }
Value conv2d(const Call& call) { return conv<2>(call); }
Value conv3d(const Call& call) { return conv<3>(call); }

Value conv_transpose1d(const Call& call) { return conv_transpose<1>(call); }
Value conv_transpose2d(const Call& call) { return conv_transpose<2>(call); }
Value conv_transpose3d(const Call& call) { return conv_transpose<3>(call); }

Value batch_norm(const Call& call) { return dense_like(call.self()); }

Value batch_norm_no_training(const Call& call) {
  const TensorSpec& input = call.self();
  const TensorSpec empty = contiguous_like(input, {SymInt(0)});
  return Value::Items{dense_like(input), empty, empty};
}
Value batch_norm_legit(const Call& call) {
  const TensorSpec& input = call.self();
  need_rank(call, input, 2, 5, "input");
  const TensorSpec moments = contiguous_like(input, {input.sizes[1]});
  return Value::Items{dense_like(input), moments, moments};
}

Value layer_norm(const Call& call) {
  const TensorSpec& input = call.self();
  return contiguous_like(input, input.sizes);
}
Value native_layer_norm(const Call& call) {
  const TensorSpec& input = call.self();
  const size_t inner = call.sizes("normalized_shape").size();
  if (inner > input.rank()) call.refuse("normalized_shape has more dims than the input");
  Sizes outer = input.sizes;
  std::fill(outer.end() - static_cast<std::ptrdiff_t>(inner), outer.end(), SymInt(1));
  const TensorSpec moments = contiguous_like(input, outer);
  return Value::Items{contiguous_like(input, input.sizes), moments, moments};
}
Value native_group_norm(const Call& call) {
  const TensorSpec& input = call.self();
  const TensorSpec moments = contiguous_like(input, {call.size("N"), call.size("group")});
  return Value::Items{contiguous_like(input, input.sizes), moments, moments};
}

Value embedding(const Call& call) {
  const TensorSpec& weight = call.tensor("weight");
  need_rank(call, weight, 2, 2, "weight");
  Sizes sizes = call.tensor("indices").sizes;
  sizes.push_back(weight.sizes[1]);
  return contiguous_like(weight, std::move(sizes));
}

}  // namespace vitrine::aot::results
