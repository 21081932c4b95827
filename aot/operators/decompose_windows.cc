#include <algorithm>
#include <array>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// A volume, with or without a batch dim. Its slices along the depth are pooled as images.
struct Volume {
  Node* slices = nullptr;  // [batch * channels, depth, height, width]
  SymInt outer;            // batch * channels
  Sizes front;             // the sizes of the batch and channel dims
};

Volume read_volume(Decomposition& to) {
  Node* x = to.self();
  const size_t rank = rank_of(x);
  if (rank != 4 && rank != 5) to.refuse("the input has the wrong number of dims");
  Volume volume;
  const Sizes sizes = x->tensor()->sizes;
  volume.front.assign(sizes.begin(), sizes.end() - 3);
  volume.outer = product_of(volume.front);
  volume.slices = to.reshape(x, {volume.outer, sizes[rank - 3], sizes[rank - 2], sizes[rank - 1]});
  return volume;
}

// Pools `slices` along the depth. `along_depth` pools the columns of images with the shape
// [batch * channels, 1, depth, height * width].
template <class Pool>
Node* pool_depth(Decomposition& to, const Volume& volume, Node* slices, Pool along_depth) {
  const Sizes sizes = slices->tensor()->sizes;
  Node* columns = to.reshape(slices, {volume.outer, SymInt(1), sizes[1], sizes[2] * sizes[3]});
  Node* pooled = along_depth(columns);
  Sizes result = volume.front;
  result.push_back(size_at(pooled, 2));
  result.push_back(sizes[2]);
  result.push_back(sizes[3]);
  return to.reshape(pooled, result);
}

Dims in_plane(const Dims& all) { return {all[1], all[2]}; }
// Converts an argument of 3-D pooling for 2-D pooling of images [depth, height * width].
Dims in_depth(const Dims& all, int64_t width) { return {all[0], width}; }

Dims strides_of(Decomposition& to) {
  return to.integers(to.integers("stride").empty() ? "kernel_size" : "stride", 3);
}

struct Maxima {
  Node* values;
  Node* indices;
};

// Returns the maximum of each window and its index in the volume: pools each plane, and then the
// planes' maxima along the depth. In a tie, the first element wins.
Maxima max_of_windows(Decomposition& to, bool needs_indices) {
  const Volume volume = read_volume(to);
  const Dims kernel = to.integers("kernel_size", 3);
  const Dims stride = strides_of(to);
  const Dims padding = to.integers("padding", 3);
  const Dims dilation = to.integers("dilation", 3);
  const bool ceil_mode = to.boolean("ceil_mode");
  const auto pool = [&](Node* x, const Dims& k, const Dims& s, const Dims& p, const Dims& d) {
    Node* pooled = to("max_pool2d_with_indices", x, k, s, p, d, ceil_mode);
    return Maxima{to.item(pooled, 0), to.item(pooled, 1)};
  };
  const Maxima planes = pool(volume.slices, in_plane(kernel), in_plane(stride), in_plane(padding),
                             in_plane(dilation));
  Maxima result = {};
  result.values = pool_depth(to, volume, planes.values, [&](Node* columns) {
    const Maxima depth = pool(columns, in_depth(kernel, 1), in_depth(stride, 1),
                              in_depth(padding, 0), in_depth(dilation, 1));
    result.indices = depth.indices;  // depth * columns + column
    return depth.values;
  });
  if (!needs_indices) return result;
  // The index in the volume is the index in the plane plus depth * (size of a plane).
  const Sizes in_columns = result.indices->tensor()->sizes;
  const Sizes sizes = planes.values->tensor()->sizes;
  const SymInt num_columns = sizes[2] * sizes[3];
  Node* chosen = to.reshape(result.indices, {volume.outer, product_of(in_columns) / volume.outer});
  Node* candidates = to.reshape(planes.indices, {volume.outer, sizes[1] * num_columns});
  Node* index = to("gather", candidates, 1, chosen);
  Node* depth =
      to.make("aten.div.Tensor_mode", {chosen, to.size(num_columns)}, {{"rounding_mode", "floor"}});
  const SymInt plane = size_at(volume.slices, 2) * size_at(volume.slices, 3);
  index = to.add(index, to.mul(depth, to.size(plane)));
  result.indices = to.reshape(index, result.values->tensor()->sizes);
  return result;
}

}  // namespace

void max_pool3d(Decomposition& to) { to.replace(max_of_windows(to, false).values); }
void max_pool3d_with_indices(Decomposition& to) {
  const bool needs_indices = std::ranges::any_of(to.node().users(), [](const Node* user) {
    const Argument* item = user->arg(1);
    return item != nullptr && *item == Argument(1) && !user->users().empty();
  });
  const Maxima maxima = max_of_windows(to, needs_indices);
  if (needs_indices) return to.replace_items({maxima.values, maxima.indices});
  to.replace_items({maxima.values});
}

// Computes the means of the windows in each plane, and then averages these means. This is correct
// even for padded and clipped windows, because all planes of a window have the same number of
// elements.
void average_pool3d(Decomposition& to) {
  // Rejects integer inputs, because the planes' means would be rounded before they are averaged.
  if (!is_floating(to.self()->tensor()->dtype)) to.refuse("the input must have a float dtype");
  const Volume volume = read_volume(to);
  const Dims kernel = to.integers("kernel_size", 3);
  const Dims stride = strides_of(to);
  const Dims padding = to.integers("padding", 3);
  const bool ceil_mode = to.boolean("ceil_mode");
  const bool counts_padding = to.boolean("count_include_pad");
  const Argument divisor = to.arg("divisor_override");
  const auto pool = [&](Node* x, const Dims& k, const Dims& s, const Dims& p, const Argument& by) {
    ArgumentList args = {x, k, s, p, ceil_mode, counts_padding};
    if (!by.is_none()) args.push_back(by);
    return to.make("aten.avg_pool2d.default", std::move(args));
  };
  Node* slices = pool(volume.slices, in_plane(kernel), in_plane(stride), in_plane(padding),
                      divisor.is_none() ? Argument() : Argument(1));
  to.replace(pool_depth(to, volume, slices, [&](Node* columns) {
    return pool(columns, in_depth(kernel, 1), in_depth(stride, 1), in_depth(padding, 0), divisor);
  }));
}

namespace {

// Returns the output sizes of adaptive pooling. If an item of output_size is None, the dim keeps
// its size.
Dims adaptive_sizes(Decomposition& to) {
  const Argument output_size = to.arg("output_size");
  const ArgumentList repeated(3, output_size);
  const ArgumentList& items = output_size.list() == nullptr ? repeated : *output_size.list();
  const Node* x = to.self();
  if (items.size() != 3 || rank_of(x) < 4)
    to.refuse("output_size must have 3 items, and the input must have 4 or 5 dims");
  Dims sizes;
  for (size_t i = 0; i < 3; ++i) {
    const SymInt& input_size = size_at(x, rank_of(x) - 3 + i);
    if (const auto* size = items[i].get<int64_t>()) {
      sizes.push_back(*size);
    } else if (items[i].is_none() && input_size.is_static()) {
      sizes.push_back(input_size.value());
    } else {
      to.refuse("output_size must contain numbers");
    }
  }
  return sizes;
}

int64_t plane_of(Decomposition& to, const Node* columns) {
  if (!size_at(columns, 3).is_static()) to.refuse("height and width must not be symbolic");
  return size_at(columns, 3).value();
}

}  // namespace

void adaptive_average_pool3d(Decomposition& to) {
  const Dims sizes = adaptive_sizes(to);
  if (sizes == Dims{1, 1, 1}) return to.replace(to.mean(to.self(), {-1, -2, -3}, true));
  const Volume volume = read_volume(to);
  Node* slices = to("_adaptive_avg_pool2d", volume.slices, in_plane(sizes));
  to.replace(pool_depth(to, volume, slices, [&](Node* columns) {
    return to("_adaptive_avg_pool2d", columns, in_depth(sizes, plane_of(to, columns)));
  }));
}

void adaptive_max_pool3d(Decomposition& to) {
  const Dims sizes = adaptive_sizes(to);
  const Volume volume = read_volume(to);
  Node* slices = to.item(to("adaptive_max_pool2d", volume.slices, in_plane(sizes)), 0);
  to.replace_items({pool_depth(to, volume, slices, [&](Node* columns) {
    const Dims output_size = in_depth(sizes, plane_of(to, columns));
    return to.item(to("adaptive_max_pool2d", columns, output_size), 0);
  })});
}

namespace {

// The windows that cut an image into patches. Each list has one value per dim.
struct Patches {
  Dims kernel, dilation, padding, stride;
};
Patches read_patches(Decomposition& to) {
  Patches patches = {to.integers("kernel_size", 2), to.integers("dilation", 2),
                     to.integers("padding", 2), to.integers("stride", 2)};
  for (size_t i = 0; i < 2; ++i) {
    for (const int64_t value : {patches.kernel[i], patches.dilation[i], patches.stride[i]}) {
      if (value < 1 || value > INT32_MAX)
        to.refuse("kernel_size, dilation and stride must be positive and less than 2^31");
    }
    if (patches.padding[i] < 0 || patches.padding[i] > INT32_MAX)
      to.refuse("padding must be from 0 to 2^31 - 1");
  }
  return patches;
}

// Returns the indices of the rows (if `dim` is 0) or columns (if `dim` is 1) in the padded image.
// Element [i, j] of the result is the index of row or column i of window j.
Node* window_indices(Decomposition& to, const Patches& patches, size_t dim, const SymInt& size) {
  const int64_t span = patches.dilation[dim] * (patches.kernel[dim] - 1);
  const SymInt last = size + SymInt(2 * patches.padding[dim] - span);
  if (last.is_static() && last.value() < 1)
    to.refuse("kernel_size is larger than the padded input");
  Node* begins = to.unsqueeze(to.count(0, last, patches.stride[dim]), 0);
  Node* offsets = to.count(0, patches.kernel[dim] * patches.dilation[dim], patches.dilation[dim]);
  return to.add(begins, to.unsqueeze(offsets, -1));
}

Node* with_batch(Decomposition& to, size_t rank, bool& added) {
  Node* x = to.self();
  added = rank_of(x) == rank - 1;
  if (rank_of(x) != rank && !added) to.refuse("the input has the wrong number of dims");
  return added ? to.unsqueeze(x, 0) : x;
}

}  // namespace

// Converts images to patches [batch, channels * window, positions].
void image_to_columns(Decomposition& to) {
  bool added = false;
  Node* x = with_batch(to, 4, added);
  const Patches patches = read_patches(to);
  const Sizes sizes = x->tensor()->sizes;
  Node* rows = window_indices(to, patches, 0, sizes[2]);
  Node* columns = window_indices(to, patches, 1, sizes[3]);
  const Dims pads = {patches.padding[1], patches.padding[1], patches.padding[0],
                     patches.padding[0]};
  if (pads != Dims(4, 0)) x = to("constant_pad_nd", x, pads, 0.0);
  Node* tall = to.unsqueeze(to.unsqueeze(rows, -1), -1);
  Node* cut = to.index(x, {Argument(), Argument(), tall, columns});
  cut = to.permute(cut, {0, 1, 2, 4, 3, 5});
  Node* result =
      to.reshape(cut, {sizes[0], sizes[1] * SymInt(patches.kernel[0] * patches.kernel[1]),
                       size_at(rows, 1) * size_at(columns, 1)});
  to.replace(added ? to.squeeze(result, 0) : result);
}

// Converts patches to images. Elements of overlapping patches are added up.
void columns_to_image(Decomposition& to) {
  bool added = false;
  Node* x = with_batch(to, 3, added);
  const Dims size = to.integers("output_size", 2);
  for (const int64_t length : size) {
    if (length < 1 || length > INT32_MAX)
      to.refuse("output_size must be positive and less than 2^31");
  }
  const Patches patches = read_patches(to);
  const SymInt batch = size_at(x, 0);
  const SymInt channels = size_at(x, 1) / SymInt(patches.kernel[0] * patches.kernel[1]);
  Node* rows = window_indices(to, patches, 0, size[0]);
  Node* columns = window_indices(to, patches, 1, size[1]);
  x = to.reshape(x, {batch, channels, SymInt(patches.kernel[0]), SymInt(patches.kernel[1]),
                     size_at(rows, 1), size_at(columns, 1)});
  x = to.permute(x, {0, 1, 2, 4, 3, 5});
  Node* image = to.full({batch, channels, SymInt(size[0] + 2 * patches.padding[0]),
                         SymInt(size[1] + 2 * patches.padding[1])},
                        0, x->tensor()->dtype);
  Node* tall = to.unsqueeze(to.unsqueeze(rows, -1), -1);
  const Argument indices = Argument::list({Argument(), Argument(), tall, columns});
  image = to("index_put", image, indices, x, true);
  const Dims pads = {-patches.padding[1], -patches.padding[1], -patches.padding[0],
                     -patches.padding[0]};
  if (pads != Dims(4, 0)) image = to("constant_pad_nd", image, pads, 0.0);
  to.replace(added ? to.squeeze(image, 0) : image);
}

// Decomposes max_unpool: writes each element of the input to its index in `indices`. The other
// elements of the result are 0.
void max_unpool(Decomposition& to) {
  Node* x = to.self();
  Node* indices = to.tensor("indices");
  const size_t dims = to.node().target().op() == "max_unpool2d" ? 2 : 3;
  const size_t rank = rank_of(x);
  const Sizes sizes = x->tensor()->sizes;
  const Dims size = to.integers("output_size", dims);
  if (rank < dims || indices->tensor()->sizes != sizes)
    to.refuse("indices must have the same shape as the input");
  if (std::ranges::any_of(size, [](int64_t length) { return length < 1; })) {
    to.refuse("output_size must be positive");
  }
  const auto inner = static_cast<std::ptrdiff_t>(dims);
  const Sizes front(sizes.begin(), sizes.end() - inner);
  const auto flat = [&](SymInt elements) {
    Sizes all = front;
    all.push_back(std::move(elements));
    return all;
  };
  const SymInt elements = product_of(Sizes(sizes.end() - inner, sizes.end()));
  Sizes result = front;
  result.insert(result.end(), size.begin(), size.end());
  const SymInt spread = product_of(Sizes(size.begin(), size.end()));
  Node* zeros = to.full(flat(spread), 0, x->tensor()->dtype);
  Node* filled = to.make("aten.scatter.src",
                         {zeros, static_cast<int64_t>(front.size()),
                          to.reshape(indices, flat(elements)), to.reshape(x, flat(elements))});
  to.replace(to.reshape(filled, result));
}

}  // namespace vitrine::aot::decompositions
