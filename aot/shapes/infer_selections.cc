// Results of operators that select, join, sort and repeat elements.
#include <algorithm>

#include "aot/shapes/infer.h"
#include "aot/shapes/promotion.h"
#include "aot/shapes/results.h"
#include "aot/shapes/sizes.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot::results {
namespace {

bool is_empty_vector(const TensorSpec& spec) {
  return spec.rank() == 1 && spec.sizes[0] == SymInt(0);
}

}  // namespace

Value concatenated(const Call& call) {
  const std::vector<const TensorSpec*> tensors = call.tensors("tensors");
  if (tensors.empty()) call.refuse("it joins nothing");
  // Tensors of shape [0] are ignored, whatever the others' rank.
  const auto first = std::ranges::find_if(
      tensors, [](const TensorSpec* tensor) { return !is_empty_vector(*tensor); });
  TensorSpec spec = first == tensors.end() ? *tensors.front() : **first;
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  if (spec.rank() == 0) call.refuse("its inputs have no dims");
  spec.sizes[dim] = 0;
  for (const TensorSpec* tensor : tensors) {
    if (is_empty_vector(*tensor) && spec.rank() != 1) continue;
    if (tensor->rank() != spec.rank()) call.refuse("its inputs differ in rank");
    for (size_t i = 0; i < spec.rank(); ++i) {
      const bool fits = !tensor->sizes[i].is_static() || !spec.sizes[i].is_static() ||
                        tensor->sizes[i] == spec.sizes[i];
      if (i != dim && !fits) call.refuse("its inputs differ in a dim that is not joined");
    }
    spec.sizes[dim] = spec.sizes[dim] + tensor->sizes[dim];
  }
  spec.dtype = result_type(tensors);
  const bool channels_last = std::ranges::all_of(
      tensors, [](const TensorSpec* tensor) { return is_channels_last(*tensor); });
  spec.strides = channels_last ? channels_last_strides(spec.sizes) : contiguous_strides(spec.sizes);
  spec.storage_offset = 0;
  return spec;
}

Value stacked(const Call& call) {
  const std::vector<const TensorSpec*> tensors = call.tensors("tensors");
  if (tensors.empty()) call.refuse("it joins nothing");
  Sizes sizes = tensors.front()->sizes;
  const size_t dim = wrapped(call.integer("dim"), sizes.size() + 1);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim),
               SymInt(static_cast<int64_t>(tensors.size())));
  return contiguous_spec(result_type(tensors), std::move(sizes));
}

// x[i, j]: indices are broadcast together. They take the place of the first if they are neighbours,
// else they come first.
Value indexed(const Call& call) {
  const TensorSpec& self = call.self();
  const Argument* list = call.find("indices");
  if (list == nullptr || list->list() == nullptr) call.refuse("its indices are not a list");
  std::vector<const TensorSpec*> indices;
  std::vector<size_t> places;
  Sizes kept;
  size_t dim = 0;
  for (const Argument& item : *list->list()) {
    const Node* node = item.node();
    if (node == nullptr) {
      if (dim >= self.rank()) call.refuse("it has more indices than dims");
      kept.push_back(self.sizes[dim++]);
      continue;
    }
    if (node->tensor() == nullptr) call.refuse("an index is not a tensor");
    if (node->tensor()->dtype == ScalarType::kBool)
      call.refuse("the number of elements that a mask picks is unknown");
    if (dim >= self.rank()) call.refuse("it has more indices than dims");
    indices.push_back(node->tensor());
    places.push_back(dim++);
  }
  if (indices.empty()) call.refuse("it has no index");
  const Sizes picked = broadcast_sizes(call, indices);
  const bool are_neighbours = places.back() - places.front() + 1 == places.size();
  const size_t front = are_neighbours ? places.front() : 0;
  for (; dim < self.rank(); ++dim) kept.push_back(self.sizes[dim]);
  kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(front), picked.begin(), picked.end());
  return contiguous_spec(self.dtype, std::move(kept));
}

Value like_self(const Call& call) {
  TensorSpec spec = call.self();
  if (!is_dense(spec)) spec.strides = contiguous_strides(spec.sizes);
  spec.storage_offset = 0;
  return spec;
}
Value contiguous_like_self(const Call& call) {
  const TensorSpec& self = call.self();
  return contiguous_spec(self.dtype, self.sizes);
}

Value index_select(const Call& call) {
  TensorSpec spec = call.self();
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  const TensorSpec& index = call.tensor("index");
  if (spec.rank() > 0) spec.sizes[dim] = index.rank() == 0 ? SymInt(1) : index.sizes[0];
  return contiguous_spec(spec.dtype, spec.sizes);
}

Value gathered(const Call& call) {
  const TensorSpec& index = call.tensor("index");
  return contiguous_spec(call.self().dtype, index.sizes);
}

namespace {

Value pad_by(const Call& call, const Sizes& pads) {
  const TensorSpec& self = call.self();
  if (pads.size() % 2 != 0 || pads.size() / 2 > self.rank()) call.refuse("its pads do not fit");
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    SymInt& size = sizes[sizes.size() - 1 - i];
    size = size + pads[2 * i] + pads[2 * i + 1];
    if (size.is_static() && size.value() < 0) call.refuse("it cuts off more than the input has");
  }
  TensorSpec spec = contiguous_spec(self.dtype, std::move(sizes));
  if (is_channels_last(self)) spec.strides = channels_last_strides(spec.sizes);
  return spec;
}

}  // namespace

Value padded(const Call& call) { return pad_by(call, call.sizes("pad")); }
Value padded_edges(const Call& call) { return pad_by(call, call.sizes("padding")); }

namespace {

Value repeat(const Call& call, Sizes sizes) {
  const TensorSpec& self = call.self();
  if (sizes.size() < self.rank()) call.refuse("it has fewer repeats than its input dims");
  const size_t added = sizes.size() - self.rank();
  for (size_t i = 0; i < self.rank(); ++i) sizes[i + added] = sizes[i + added] * self.sizes[i];
  return contiguous_spec(self.dtype, std::move(sizes));
}

}  // namespace

Value repeated(const Call& call) { return repeat(call, call.sizes("repeats")); }
// Repeats may be fewer than dims.
Value tiled(const Call& call) {
  Sizes sizes = call.sizes("dims");
  const size_t rank = call.self().rank();
  if (sizes.size() < rank) sizes.insert(sizes.begin(), rank - sizes.size(), 1);
  return repeat(call, std::move(sizes));
}

Value repeat_interleave(const Call& call) {
  const TensorSpec& self = call.self();
  const SymInt repeats = call.size("repeats");
  Sizes sizes = self.sizes;
  if (call.find("dim") == nullptr) {
    sizes = {product_of(self.sizes) * repeats};
  } else {
    SymInt& size = sizes.at(wrapped(call.integer("dim"), self.rank()));
    size = size * repeats;
  }
  return contiguous_spec(self.dtype, std::move(sizes));
}

Value topk(const Call& call) {
  const TensorSpec& self = call.self();
  Sizes sizes = self.sizes;
  const size_t dim = wrapped(call.integer("dim"), self.rank());
  if (self.rank() > 0) sizes[dim] = call.size("k");
  return Value::Items{contiguous_spec(self.dtype, sizes),
                      contiguous_spec(ScalarType::kLong, sizes)};
}

Value sorted(const Call& call) {
  const TensorSpec values = *like_self(call).tensor();
  TensorSpec indices = values;
  indices.dtype = ScalarType::kLong;
  return Value::Items{values, indices};
}

Value sorted_order(const Call& call) {
  TensorSpec spec = *like_self(call).tensor();
  spec.dtype = ScalarType::kLong;
  return spec;
}

Value one_hot(const Call& call) {
  Sizes sizes = call.self().sizes;
  const int64_t classes = call.integer("num_classes");
  if (classes < 1) call.refuse("its num_classes is not given");
  sizes.emplace_back(classes);
  return contiguous_spec(ScalarType::kLong, std::move(sizes));
}

}  // namespace vitrine::aot::results
