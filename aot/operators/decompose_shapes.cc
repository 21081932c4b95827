#include <algorithm>
#include <numeric>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

// Decomposes reshape. aten.view gets the original list of sizes, which may contain -1 or nodes.
void reshape(Decomposition& to) {
  const Argument shape = to.arg("shape");
  const TensorSpec& spec = to.spec();
  to.replace(to.reshape(to.self(), shape.list() != nullptr ? shape : to.size_list(spec.sizes),
                        spec.sizes));
}

// Flattening a vector returns the vector itself.
void flatten(Decomposition& to) {
  const Sizes sizes = to.spec().sizes;
  Node* x = to.self();
  const bool is_same = to.node().target().op() == "flatten" && x->tensor()->sizes == sizes;
  to.replace(is_same ? x : to.reshape(x, sizes));
}

void transpose(Decomposition& to) {
  const bool by_axes = to.node().target().op() == "swapaxes";
  to.replace(to.transpose(to.self(), to.integer(by_axes ? "axis0" : "dim0"),
                          to.integer(by_axes ? "axis1" : "dim1")));
}

void t(Decomposition& to) {
  Node* x = to.self();
  to.replace(x->tensor()->rank() < 2 ? x : to.permute(x, {1, 0}));
}

void squeeze(Decomposition& to) {
  to.replace(to.call("aten.squeeze.dims", {to.self(), Dims{to.integer("dim")}}, to.spec()));
}

void squeeze_all(Decomposition& to) {
  Dims dims(to.self()->tensor()->rank());
  std::iota(dims.begin(), dims.end(), int64_t{0});
  to.replace(to.call("aten.squeeze.dims", {to.self(), dims}, to.spec()));
}

// Returns the arguments of cat. Omits the argument "dim" if it is 0, as torch.export does.
ArgumentList with_dim(Argument tensors, int64_t dim) {
  ArgumentList args = {std::move(tensors)};
  if (dim != 0) args.emplace_back(dim);
  return args;
}

void stack(Decomposition& to) {
  const Argument tensors = to.arg("tensors");
  const TensorSpec spec = to.spec();
  const int64_t dim = to.integer("dim");
  const size_t at = wrapped(dim, spec.rank());
  if (tensors.list() == nullptr) to.refuse("tensors must be a list");
  if (at + 1 < spec.rank()) {
    // Concatenates the tensors along the dim after the new dim. Then splits the concatenated dim
    // into these two dims.
    Sizes concatenated = spec.sizes;
    concatenated[at + 1] = concatenated[at] * concatenated[at + 1];
    concatenated.erase(concatenated.begin() + static_cast<std::ptrdiff_t>(at));
    Node* made = to.call("aten.cat.default", with_dim(tensors, static_cast<int64_t>(at)),
                         contiguous_spec(spec.dtype, concatenated));
    to.replace(to.reshape(made, spec.sizes));
    return;
  }
  TensorSpec single = spec;
  single.sizes[at] = 1;
  single.strides = contiguous_strides(single.sizes);
  ArgumentList unsqueezed;
  for (const Argument& tensor : *tensors.list()) {
    unsqueezed.emplace_back(to.call("aten.unsqueeze.default", {tensor, dim}, single));
  }
  to.replace(
      to.call("aten.cat.default", with_dim(Argument::list(std::move(unsqueezed)), dim), spec));
}

void split(Decomposition& to) {
  const Value::Items* items = to.node().meta.value.items();
  if (items == nullptr || items->empty()) to.refuse("the number of results is unknown");
  const int64_t dim = to.integer("dim");
  Dims sizes;
  Value::Items results;
  const TensorSpec& input = *to.self()->tensor();
  const size_t at = wrapped(dim, input.rank());
  if (!input.sizes[at].is_static()) to.refuse("cannot split a dim of symbolic size");
  const bool is_chunk = to.node().target().op().ends_with("chunk");
  const int64_t size = input.sizes[at].value();
  const int64_t number = to.integer(is_chunk ? "chunks" : "split_size");
  if (number < 1) to.refuse("chunks or split_size must be positive");
  if (is_chunk ? number > kMaxResults : size / number > kMaxResults) {
    to.refuse("the number of chunks is more than the maximum of 65536");
  }
  const int64_t chunk_size = is_chunk ? (size + number - 1) / number : number;
  for (int64_t left = size; left > 0; left -= chunk_size) {
    sizes.push_back(std::min(chunk_size, left));
    TensorSpec spec = input;
    spec.sizes[at] = sizes.back();
    results.emplace_back(spec);
  }
  Node* made = to.call(
      "aten.split_with_sizes.default",
      dim == 0 ? ArgumentList{to.self(), sizes} : ArgumentList{to.self(), sizes, dim}, results);
  const std::vector<Node*> users = to.node().users();
  for (Node* user : users) user->replace_input(&to.node(), made);
  to.node().graph().erase(&to.node());
}

void unbind(Decomposition& to) {
  Node* x = to.self();
  const TensorSpec& input = *x->tensor();
  const int64_t dim = to.integer("dim");
  const size_t at = wrapped(dim, input.rank());
  if (!input.sizes[at].is_static()) to.refuse("cannot unbind a dim of symbolic size");
  if (input.sizes[at].value() > kMaxResults)
    to.refuse("the size of dim is more than the maximum of 65536");
  TensorSpec slice = input;
  slice.sizes[at] = 1;
  TensorSpec item = slice;
  item.sizes.erase(item.sizes.begin() + static_cast<std::ptrdiff_t>(at));
  item.strides.erase(item.strides.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<Node*> results;
  for (int64_t i = 0; i < input.sizes[at].value(); ++i) {
    results.push_back(to.call("aten.slice.Tensor", {x, dim, i, i + 1}, slice));
  }
  for (Node*& result : results) {
    result = to.call("aten.squeeze.dims", {result, Dims{dim}}, item);
  }
  to.replace_items(results);
}

void identity(Decomposition& to) { to.replace(to.self()); }

void contiguous(Decomposition& to) {
  Node* x = to.self();
  if (x->tensor()->strides == to.spec().strides) return to.replace(x);
  to.replace(to.call("aten.clone.default", {x}, to.spec(),
                     {{"memory_format", to.arg("memory_format", MemoryFormat::kContiguous)}}));
}

// Decomposes movedim: moves the dims in `source` to the indices in `destination`.
void move_dims(Decomposition& to) {
  Node* x = to.self();
  const size_t rank = x->tensor()->rank();
  const Dims from = to.integers("source");
  const Dims at = to.integers("destination");
  if (from.size() != at.size()) to.refuse("source and destination must have the same length");
  Dims dims(rank, -1);
  std::vector<bool> moved(rank);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t dim = wrapped(from[i], rank);
    dims.at(wrapped(at[i], rank)) = static_cast<int64_t>(dim);
    moved.at(dim) = true;
  }
  size_t next = 0;
  for (int64_t& dim : dims) {
    if (dim >= 0) continue;
    while (next < rank && moved[next]) ++next;
    if (next == rank) to.refuse("a dim is repeated");
    dim = static_cast<int64_t>(next++);
  }
  to.replace(to.permute(x, dims));
}

// Decomposes mT, which exchanges the last two dims.
void transpose_matrices(Decomposition& to) { to.replace(to.transpose(to.self(), -2, -1)); }

// Decomposes T, which reverses the order of the dims.
void reverse_dims(Decomposition& to) {
  Node* x = to.self();
  Dims dims(x->tensor()->rank());
  std::iota(dims.rbegin(), dims.rend(), int64_t{0});
  to.replace(to.permute(x, dims));
}

void narrow(Decomposition& to) {
  const Argument start = to.arg("start");
  const SymInt first = size_of(start).value_or(SymInt(0));
  const SymInt end = first + size_of(to.arg("length")).value_or(SymInt(0));
  // If `start` is negative and the range reaches the end of the dim, start + length is 0.
  // aten.slice would read the end 0 as the beginning, so the end becomes INT64_MAX.
  const bool is_at_end = first.is_static() && first.value() < 0 && end == SymInt(0);
  to.replace(to.call("aten.slice.Tensor",
                     {to.self(), to.arg("dim"), start, to.size(is_at_end ? INT64_MAX : end)},
                     to.spec()));
}

void reshape_as(Decomposition& to) {
  const Sizes sizes = to.tensor("other")->tensor()->sizes;
  to.replace(to.reshape(to.self(), sizes));
}
void expand_as(Decomposition& to) {
  const Sizes sizes = to.tensor("other")->tensor()->sizes;
  to.replace(to.expand(to.self(), sizes));
}
void broadcast(Decomposition& to) {
  to.replace(to.call("aten.expand.default", {to.self(), to.arg("size")}, to.spec()));
}

void tile(Decomposition& to) {
  Dims repeats = to.integers("dims");
  const size_t rank = to.self()->tensor()->rank();
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  to.replace(to.make("aten.repeat.default", {to.self(), repeats}));
}

// Repeats each element `repeats` times: [a, b] becomes [a, a, b, b] if `repeats` is 2.
void repeat_interleave(Decomposition& to) {
  Node* x = to.self();
  const int64_t repeats = to.integer("repeats");
  Sizes result = to.spec().sizes;
  if (to.arg("dim").is_none()) {
    x = to.reshape(x, {product_of(x->tensor()->sizes)});
  }
  const size_t dim =
      to.arg("dim").is_none() ? 0 : wrapped(to.integer("dim", 0), x->tensor()->rank());
  Node* repeated = to.make("aten.unsqueeze.default", {x, static_cast<int64_t>(dim + 1)});
  Sizes sizes = repeated->tensor()->sizes;
  sizes[dim + 1] = repeats;
  repeated = to.expand(repeated, sizes);
  repeated =
      to.make("aten.clone.default", {repeated}, {{"memory_format", MemoryFormat::kContiguous}});
  to.replace(to.reshape(repeated, result));
}

// Rolls by indexing: element i of the result is element (i + size - shift) mod size of the input.
void roll(Decomposition& to) {
  Node* x = to.self();
  const Dims shifts = to.integers("shifts");
  Dims dims;
  if (!to.arg("dims").is_none()) dims = to.integers("dims");
  const Sizes sizes = x->tensor()->sizes;
  if (dims.empty()) {
    if (shifts.size() != 1) to.refuse("dims is required for more than one shift");
    x = to.reshape(x, {product_of(sizes)});
    dims = {0};
  }
  if (shifts.size() != dims.size()) to.refuse("shifts and dims must have the same length");
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = wrapped(dims[i], x->tensor()->rank());
    const SymInt size = x->tensor()->sizes.at(dim);
    if (!size.is_static()) to.refuse("cannot roll a dim of symbolic size");
    if (size.value() == 0) continue;
    const int64_t start = (size.value() - shifts[i] % size.value()) % size.value();
    Node* index = to.make("aten.add.Tensor", {to.range(0, size), start});
    index = to.make("aten.fmod.Scalar", {index, size.value()});
    x = to.make("aten.index_select.default", {x, static_cast<int64_t>(dim), index});
  }
  to.replace(x->tensor()->sizes == sizes ? x : to.reshape(x, sizes));
}

// Decomposes meshgrid: expands each input along the dims of the other inputs, without a copy.
void meshgrid(Decomposition& to) {
  const Argument list = to.arg("tensors");
  if (list.list() == nullptr) to.refuse("tensors must be a list");
  const Argument indexing = to.arg("indexing", "ij");
  const bool swaps = indexing.get<std::string>() != nullptr &&
                     *indexing.get<std::string>() == "xy" && list.list()->size() >= 2;
  std::vector<Node*> inputs;
  for (const Argument& item : *list.list()) {
    Node* node = item.node();
    if (node == nullptr || node->tensor() == nullptr || node->tensor()->rank() > 1) {
      to.refuse("every operand must be a vector");
    }
    inputs.push_back(node);
  }
  if (swaps) std::swap(inputs[0], inputs[1]);
  Sizes sizes;
  sizes.reserve(inputs.size());
  for (const Node* input : inputs) {
    sizes.push_back(input->tensor()->rank() == 0 ? SymInt(1) : input->tensor()->sizes[0]);
  }
  std::vector<Node*> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Sizes single(inputs.size(), SymInt(1));
    single[i] = sizes[i];
    results.push_back(to.expand(to.reshape(inputs[i], single), sizes));
  }
  if (swaps) std::swap(results[0], results[1]);
  to.replace_items(results);
}

void broadcast_together(Decomposition& to) {
  std::vector<Node*> results = to.tensors("tensors");
  const Sizes sizes = to.broadcast_sizes(results);
  for (Node*& result : results) result = to.expand(result, sizes);
  to.replace_items(results);
}

// Decomposes hstack, vstack and dstack, which add missing dims and concatenate.
void stack_along(Decomposition& to) {
  const Argument list = to.arg("tensors");
  if (list.list() == nullptr) to.refuse("tensors must be a list");
  const std::string_view op = to.node().target().op();
  ArgumentList parts;
  int64_t dim = 0;
  for (const Argument& item : *list.list()) {
    Node* node = item.node();
    if (node == nullptr || node->tensor() == nullptr)
      to.refuse("every item of tensors must be a tensor");
    Sizes sizes = node->tensor()->sizes;
    if (op == "hstack") {
      if (sizes.empty()) sizes = {1};
      dim = sizes.size() == 1 ? 0 : 1;
    } else if (op == "vstack" || op == "row_stack") {
      while (sizes.size() < 2) sizes.insert(sizes.begin(), SymInt(1));
    } else {
      if (sizes.empty()) sizes = {1};
      if (sizes.size() == 1) sizes.insert(sizes.begin(), SymInt(1));
      if (sizes.size() == 2) sizes.emplace_back(1);
      dim = 2;
    }
    const bool has_all = sizes.size() == node->tensor()->rank();
    parts.emplace_back(has_all ? node : to.reshape(node, sizes));
  }
  to.replace(to.make("aten.cat.default", with_dim(Argument::list(std::move(parts)), dim)));
}

// Returns a copy of the input in which `src` replaces one slice.
void select_scatter(Decomposition& to) {
  Node* x = to.self();
  const TensorSpec spec = *x->tensor();
  const size_t dim = wrapped(to.integer("dim"), spec.rank());
  const SymInt& size = spec.sizes.at(dim);
  int64_t index = to.integer("index");
  if (index < 0 && !size.is_static())
    to.refuse("a negative index is not supported for a dim of symbolic size");
  if (index < 0) index += size.value();
  Dims column(spec.rank(), 1);
  column[dim] = -1;
  Sizes sizes(spec.rank(), SymInt(1));
  sizes[dim] = size;
  Node* mask = to.reshape(to.range(0, size), column, sizes);
  mask = to.compare("eq", mask, index);
  Node* source = to.make("aten.unsqueeze.default", {to.tensor("src"), static_cast<int64_t>(dim)});
  source = to.expand(source, spec.sizes);
  to.replace(to.where(mask, source, x));
}

}  // namespace vitrine::aot::decompositions
