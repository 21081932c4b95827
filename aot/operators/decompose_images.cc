#include <fmt/format.h>

#include <algorithm>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

void adaptive_average_pool(Decomposition& to) {
  const Dims size = to.integers("output_size", 2);
  if (size == Dims{1, 1}) {
    to.replace(to.call("aten.mean.dim", {to.self(), Dims{-1, -2}, true}, to.spec()));
  } else {
    to.replace(to.call("aten._adaptive_avg_pool2d.default", {to.self(), size}, to.spec()));
  }
}

void max_pool(Decomposition& to) {
  TensorSpec indices = to.spec();
  indices.dtype = ScalarType::kLong;
  Node* pool = to.call("aten.max_pool2d_with_indices.default", to.node().args(),
                       Value::Items{to.spec(), indices});
  to.replace(to.item(pool, 0));
}

namespace {

// The next functions turn 1-D operators into 2-D operators on images of height 1.
Node* as_image(Decomposition& to) { return to.make("aten.unsqueeze.default", {to.self(), -2}); }
Node* from_image(Decomposition& to, Node* image) {
  return to.make("aten.squeeze.dims", {image, Dims{-2}});
}
// Returns the list [height, value of the 1-D operator's argument `name`].
Argument with_height(Decomposition& to, std::string_view name, int64_t height) {
  return Dims{height, to.integers(name, 1)[0]};
}
// The default stride is the kernel size.
Argument stride_with_height(Decomposition& to) {
  return with_height(to, to.integers("stride").empty() ? "kernel_size" : "stride", 1);
}

}  // namespace

void adaptive_average_pool1d(Decomposition& to) {
  Node* image = as_image(to);
  to.replace(from_image(
      to, to.make("aten.adaptive_avg_pool2d.default", {image, with_height(to, "output_size", 1)})));
}

void average_pool1d(Decomposition& to) {
  ArgumentList args = {as_image(to),
                       with_height(to, "kernel_size", 1),
                       stride_with_height(to),
                       with_height(to, "padding", 0),
                       to.boolean("ceil_mode"),
                       to.boolean("count_include_pad")};
  to.replace(from_image(to, to.make("aten.avg_pool2d.default", std::move(args))));
}

namespace {

// Pools an image of height 1. The indices of its maxima are also correct for the 1-D input.
Node* max_pool_of_image(Decomposition& to) {
  return to.make(
      "aten.max_pool2d_with_indices.default",
      {as_image(to), with_height(to, "kernel_size", 1), stride_with_height(to),
       with_height(to, "padding", 0), with_height(to, "dilation", 1), to.boolean("ceil_mode")});
}

void replace_by_rows(Decomposition& to, Node* pool) {
  to.replace_items({from_image(to, to.item(pool, 0)), from_image(to, to.item(pool, 1))});
}

}  // namespace

void max_pool1d(Decomposition& to) {
  to.replace(from_image(to, to.item(max_pool_of_image(to), 0)));
}

void max_pool1d_with_indices(Decomposition& to) { replace_by_rows(to, max_pool_of_image(to)); }

void adaptive_max_pool1d(Decomposition& to) {
  replace_by_rows(to, to.make("aten.adaptive_max_pool2d.default",
                              {as_image(to), with_height(to, "output_size", 1)}));
}

void resize_antialiased(Decomposition& to) {
  const Sizes& sizes = to.spec().sizes;
  ArgumentList args = {to.self(), to.size_list({sizes.at(2), sizes.at(3)}),
                       to.arg("align_corners")};
  if (const Argument factors = to.arg("scale_factors"); factors.list() != nullptr) {
    args.insert(args.end(), factors.list()->begin(), factors.list()->end());
  }
  to.replace(
      to.call(fmt::format("aten.{}.default", to.node().target().op()), std::move(args), to.spec()));
}

void grid_sample(Decomposition& to) {
  const bool is_volume = rank_of(to.self()) == 5;
  if (is_volume && to.integer("interpolation_mode") == 2) {
    to.refuse("bicubic interpolation of volumes is not supported");
  }
  to.replace(to.call(is_volume ? "aten.grid_sampler_3d.default" : "aten.grid_sampler_2d.default",
                     to.node().args(), to.spec()));
}

// Decomposes pixel_shuffle, which moves factor^2 channels into squares of pixels, and its inverse,
// pixel_unshuffle.
void pixel_shuffle(Decomposition& to) {
  Node* x = to.self();
  const bool upscales = to.node().target().op() == "pixel_shuffle";
  const int64_t factor = to.integer(upscales ? "upscale_factor" : "downscale_factor");
  const Sizes sizes = x->tensor()->sizes;
  const Sizes result = to.spec().sizes;
  const auto outer = static_cast<std::ptrdiff_t>(sizes.size()) - 3;
  if (outer < 0 || factor < 1)
    to.refuse("the input must have at least 3 dims, and the factor must be positive");
  Sizes split(sizes.begin(), sizes.begin() + outer);
  Dims dims;
  for (int64_t i = 0; i < outer; ++i) dims.push_back(i);
  const auto put = [&](std::initializer_list<SymInt> items, std::initializer_list<int64_t> order) {
    split.insert(split.end(), items);
    for (const int64_t dim : order) dims.push_back(outer + dim);
  };
  const SymInt& channels = upscales ? result[result.size() - 3] : sizes[sizes.size() - 3];
  const SymInt& height = upscales ? sizes[sizes.size() - 2] : result[result.size() - 2];
  const SymInt& width = upscales ? sizes.back() : result.back();
  if (upscales) {
    put({channels, SymInt(factor), SymInt(factor), height, width}, {0, 3, 1, 4, 2});
  } else {
    put({channels, height, SymInt(factor), width, SymInt(factor)}, {0, 2, 4, 1, 3});
  }
  x = to.permute(to.reshape(x, split), dims);
  x = to.make("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kContiguous}});
  x = to.reshape(x, result);
  to.replace(to.make("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kContiguous}}));
}

void channel_shuffle(Decomposition& to) {
  Node* x = to.self();
  const SymInt groups = to.integer("groups");
  const Sizes sizes = x->tensor()->sizes;
  if (sizes.size() < 3) to.refuse("the input must have at least 3 dims");
  Sizes split = sizes;
  split[1] = sizes[1] / groups;
  split.insert(split.begin() + 1, groups);
  Node* swapped = to.transpose(to.reshape(x, split), 1, 2);
  to.replace(to.reshape(swapped, sizes));
}

namespace {

enum class Padding : uint8_t { kReflect, kReplicate, kCircular };

// Returns the source index in the input for each element of the padded dim.
Node* source_index(Decomposition& to, Padding padding, const SymInt& size, int64_t before,
                   int64_t after) {
  Node* index = to.range(-before, size + SymInt(after));
  const SymInt last = size - SymInt(1);
  switch (padding) {
    case Padding::kReplicate:
      return to.make("aten.clamp.default", {index, 0, to.size(last)});
    case Padding::kCircular:
      return to.make("aten.remainder.Scalar", {index, to.size(size)});
    case Padding::kReflect:
      break;
  }
  // Reflects the index i at both ends of the dim: last - |last - |i||.
  for (int times = 0; times < 2; ++times) {
    index = to("abs", index);
    index = to.make("aten.sub.Tensor", {to.size(last), index});
  }
  return index;
}

void pad_by_index(Decomposition& to, Padding padding) {
  Node* x = to.self();
  const Dims pads = to.integers(to.node().target().op() == "pad" ? "pad" : "padding");
  const size_t rank = x->tensor()->rank();
  if (pads.size() % 2 != 0 || pads.size() / 2 > rank)
    to.refuse("padding must have an even number of items, at most two for each dim");
  constexpr int64_t kMax = int64_t{1} << 40;
  for (const int64_t pad : pads) {
    if (pad < -kMax || pad > kMax) to.refuse("padding is out of range");
  }
  const size_t dims = pads.size() / 2;
  for (size_t i = 0; i < dims; ++i) {
    const size_t dim = rank - dims + i;
    int64_t before = pads[2 * (dims - 1 - i)];
    int64_t after = pads[2 * (dims - 1 - i) + 1];
    if (padding == Padding::kCircular && (before < 0 || after < 0)) {
      // Slices off the elements that negative padding removes. Otherwise positive padding at the
      // other end would copy these elements.
      const SymInt end = x->tensor()->sizes[dim] + SymInt(std::min<int64_t>(after, 0));
      x = to.make("aten.slice.Tensor",
                  {x, static_cast<int64_t>(dim), -std::min<int64_t>(before, 0), to.size(end)});
      before = std::max<int64_t>(before, 0);
      after = std::max<int64_t>(after, 0);
    }
    ArgumentList indices(dim);
    indices.emplace_back(source_index(to, padding, x->tensor()->sizes[dim], before, after));
    indices.resize(rank);
    x = to.make("aten.index.Tensor", {x, Argument::list(indices)});
  }
  to.replace(x);
}
template <Padding padding>
void padded(Decomposition& to) {
  pad_by_index(to, padding);
}

}  // namespace

void pad(Decomposition& to) {
  const Argument word = to.value("mode");
  const std::string mode = word.get<std::string>() == nullptr ? "" : *word.get<std::string>();
  if (mode == "reflect" || mode == "replicate") {
    // Calls reflection_pad or replication_pad, because a backend may support these operators.
    const size_t dims = to.integers("pad").size() / 2;
    if (dims < 1 || dims > 3) to.refuse("only padding of 1 to 3 dims is supported");
    to.replace(to.make(fmt::format("aten.{}_pad{}d.default",
                                   mode == "reflect" ? "reflection" : "replication", dims),
                       {to.self(), to.arg("pad")}));
    return;
  }
  if (mode == "circular") return pad_by_index(to, Padding::kCircular);
  if (mode != "constant") to.refuse("unknown padding mode");
  Argument value = to.arg("value", 0.0);
  if (value.is_none()) value = 0.0;
  to.replace(to.call("aten.constant_pad_nd.default", {to.self(), to.arg("pad"), value}, to.spec()));
}

void reflection_pad(Decomposition& to) { padded<Padding::kReflect>(to); }
void replication_pad(Decomposition& to) { padded<Padding::kReplicate>(to); }

}  // namespace vitrine::aot::decompositions
