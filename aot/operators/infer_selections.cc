#include <fmt/format.h>

#include <algorithm>

#include "aot/operators/infer.h"
#include "aot/operators/promotion.h"
#include "aot/operators/results.h"
#include "aot/operators/sizes.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

bool is_empty_vector(const TensorSpec& spec) {
  return spec.rank() == 1 && spec.sizes[0] == SymInt(0);
}

}  // namespace

Value concatenated(const Call& call) {
  const std::vector<const TensorSpec*> tensors = call.tensors("tensors");
  if (tensors.empty()) call.refuse("needs at least one tensor");
  // Skips tensors of shape [0], which PyTorch concatenates with tensors of any rank.
  const auto first = std::ranges::find_if(
      tensors, [](const TensorSpec* tensor) { return !is_empty_vector(*tensor); });
  TensorSpec spec = first == tensors.end() ? *tensors.front() : **first;
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  if (spec.rank() == 0) call.refuse("cannot concatenate 0-d tensors");
  spec.sizes[dim] = 0;
  for (const TensorSpec* tensor : tensors) {
    if (is_empty_vector(*tensor) && spec.rank() != 1) continue;
    if (tensor->rank() != spec.rank()) {
      call.refuse(fmt::format("inputs have ranks {} and {}; they must be equal", spec.rank(),
                              tensor->rank()));
    }
    for (size_t i = 0; i < spec.rank(); ++i) {
      const bool matches = !tensor->sizes[i].is_static() || !spec.sizes[i].is_static() ||
                           tensor->sizes[i] == spec.sizes[i];
      if (i != dim && !matches) {
        call.refuse(fmt::format("inputs have sizes {} and {} in dim {}; they must be equal",
                                to_text(spec.sizes[i]), to_text(tensor->sizes[i]), i));
      }
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
  if (tensors.empty()) call.refuse("needs at least one tensor");
  Sizes sizes = tensors.front()->sizes;
  const size_t dim = wrapped(call.integer("dim"), sizes.size() + 1);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim),
               SymInt(static_cast<int64_t>(tensors.size())));
  return contiguous_spec(result_type(tensors), std::move(sizes));
}

// Infers the result of x[i, j]: the dims of the broadcast indices replace the indexed dims. If the
// indexed dims are not adjacent, the new dims are at the front.
Value indexed(const Call& call) {
  const TensorSpec& self = call.self();
  const Argument* list = call.find("indices");
  if (list == nullptr || list->list() == nullptr) call.refuse("indices must be a list");
  std::vector<const TensorSpec*> indices;
  std::vector<size_t> indexed_dims;
  Sizes kept;
  size_t dim = 0;
  for (const Argument& item : *list->list()) {
    const Node* node = item.node();
    if (node == nullptr) {
      if (dim >= self.rank()) call.refuse("indices has more items than the input has dims");
      kept.push_back(self.sizes[dim++]);
      continue;
    }
    if (node->tensor() == nullptr) call.refuse("each of the indices must be a tensor or None");
    if (node->tensor()->dtype == ScalarType::kBool)
      call.refuse("a mask cannot be an index, because the size of the result is unknown");
    if (dim >= self.rank()) call.refuse("indices has more items than the input has dims");
    indices.push_back(node->tensor());
    indexed_dims.push_back(dim++);
  }
  if (indices.empty()) call.refuse("needs at least one index");
  const Sizes selected = broadcast_sizes(call, indices);
  const bool are_adjacent = indexed_dims.back() - indexed_dims.front() + 1 == indexed_dims.size();
  const size_t front = are_adjacent ? indexed_dims.front() : 0;
  for (; dim < self.rank(); ++dim) kept.push_back(self.sizes[dim]);
  kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(front), selected.begin(), selected.end());
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
  if (pads.size() % 2 != 0 || pads.size() / 2 > self.rank()) {
    call.refuse(fmt::format("padding has {} items; expected two for each of at most {} dims",
                            pads.size(), self.rank()));
  }
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    SymInt& size = sizes[sizes.size() - 1 - i];
    size = size + pads[2 * i] + pads[2 * i + 1];
    if (size.is_static() && size.value() < 0)
      call.refuse("negative padding removes more elements than the input has");
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
  if (sizes.size() < self.rank()) {
    call.refuse(
        fmt::format("repeats has {} items, but the input has {} dims", sizes.size(), self.rank()));
  }
  const size_t added = sizes.size() - self.rank();
  for (size_t i = 0; i < self.rank(); ++i) sizes[i + added] = sizes[i + added] * self.sizes[i];
  return contiguous_spec(self.dtype, std::move(sizes));
}

}  // namespace

Value repeated(const Call& call) { return repeat(call, call.sizes("repeats")); }
// Unlike repeat, tile accepts a list that is shorter than the rank of the input.
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
  if (classes < 1) call.refuse("num_classes must be given");
  sizes.emplace_back(classes);
  return contiguous_spec(ScalarType::kLong, std::move(sizes));
}

}  // namespace vitrine::aot::results
