// Decompositions of what changes shapes.
#include <algorithm>
#include <array>

#include "aot/passes/decomposition.h"

namespace vitrine::aot {
namespace {

// Sizes of the result; with one -1 where the call asked for it, or has symbols.
void reshape(Decomposition& to) {
  const Argument asked = to.arg(1, "shape");
  const TensorSpec& spec = to.spec();
  to.replace(to.reshape(to.tensor(0), asked.list() != nullptr ? asked : size_argument(spec.sizes),
                        spec.sizes));
}

void flatten(Decomposition& to) {
  const std::vector<SymInt> sizes = to.spec().sizes;
  to.replace(to.reshape(to.tensor(0), size_argument(sizes), sizes));
}

void transpose(Decomposition& to) {
  to.replace(to.transpose(to.tensor(0), to.integer(1, "dim0", 0), to.integer(2, "dim1", 1)));
}

void t(Decomposition& to) {
  Node* x = to.tensor(0);
  to.replace(x->tensor()->rank() < 2 ? x : to.permute(x, {1, 0}));
}

void squeeze(Decomposition& to) {
  to.replace(to.call("aten.squeeze.dims",
                     {to.tensor(0), std::vector<int64_t>{to.integer(1, "dim", 0)}}, to.spec()));
}

void stack(Decomposition& to) {
  const Argument* tensors = to.node().arg(0);
  const TensorSpec spec = to.spec();
  const int64_t dim = to.integer(1, "dim", 0);
  const size_t at = wrapped(dim, spec.rank());
  if (tensors == nullptr || tensors->list() == nullptr) to.refuse("it stacks no list");
  if (at + 1 < spec.rank()) {
    // One after another in the next dim, which then splits.
    std::vector<SymInt> joined = spec.sizes;
    joined[at + 1] = joined[at] * joined[at + 1];
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(at));
    Node* made =
        to.call("aten.cat.default",
                at == 0 ? ArgumentList{*tensors} : ArgumentList{*tensors, static_cast<int64_t>(at)},
                contiguous_spec(spec.dtype, joined));
    to.replace(to.reshape(made, size_argument(spec.sizes), spec.sizes));
    return;
  }
  TensorSpec single = spec;
  single.sizes[at] = 1;
  single.strides = contiguous_strides(single.sizes);
  ArgumentList unsqueezed;
  for (const Argument& tensor : *tensors->list()) {
    unsqueezed.emplace_back(to.call("aten.unsqueeze.default", {tensor, dim}, single));
  }
  to.replace(to.call("aten.cat.default",
                     dim == 0 ? ArgumentList{unsqueezed} : ArgumentList{unsqueezed, dim}, spec));
}

// chunk and split: pieces as large as the results are.
void split(Decomposition& to) {
  const Value::Items* items = to.node().meta.value.items();
  if (items == nullptr || items->empty()) to.refuse("its results are not known");
  const int64_t dim = to.integer(2, "dim", 0);
  std::vector<int64_t> sizes;
  Value::Items pieces;
  const TensorSpec& input = *to.tensor(0)->tensor();
  const size_t at = wrapped(dim, input.rank());
  if (!input.sizes[at].is_static()) to.refuse("it splits a symbolic size");
  const bool is_chunk = to.node().target().op() == "chunk";
  const int64_t whole = input.sizes[at].value();
  const int64_t number = to.integer(1, "chunks", 1);
  if (number < 1) to.refuse("it splits into nothing");
  const int64_t piece = is_chunk ? (whole + number - 1) / number : number;
  for (int64_t left = whole; left > 0; left -= piece) {
    sizes.push_back(std::min(piece, left));
    TensorSpec spec = input;
    spec.sizes[at] = sizes.back();
    pieces.emplace_back(spec);
  }
  Node* made =
      to.call("aten.split_with_sizes.default",
              dim == 0 ? ArgumentList{to.tensor(0), sizes} : ArgumentList{to.tensor(0), sizes, dim},
              pieces);
  const std::vector<Node*> users = to.node().users();
  for (Node* user : users) user->replace_input(&to.node(), made);
  to.node().graph().erase(&to.node());
}

void unbind(Decomposition& to) {
  Node* x = to.tensor(0);
  const TensorSpec& input = *x->tensor();
  const int64_t dim = to.integer(1, "dim", 0);
  const size_t at = wrapped(dim, input.rank());
  if (!input.sizes[at].is_static()) to.refuse("it takes apart a symbolic size");
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
    result = to.call("aten.squeeze.dims", {result, std::vector<int64_t>{dim}}, item);
  }
  to.replace_items(results);
}

void identity(Decomposition& to) { to.replace(to.tensor(0)); }

void contiguous(Decomposition& to) {
  Node* x = to.tensor(0);
  if (x->tensor()->strides == to.spec().strides) return to.replace(x);
  to.replace(to.call("aten.clone.default", {x}, to.spec(),
                     {{"memory_format", to.arg(1, "memory_format", MemoryFormat::kContiguous)}}));
}

void pad(Decomposition& to) {
  const Argument mode = to.arg(2, "mode", "constant");
  if (mode.get<std::string>() == nullptr || *mode.get<std::string>() != "constant") {
    to.refuse("it does not pad with a constant");
  }
  Argument value = to.arg(3, "value", 0);
  if (value.is_none()) value = 0;
  to.replace(
      to.call("aten.constant_pad_nd.default", {to.tensor(0), to.arg(1, "pad"), value}, to.spec()));
}

constexpr std::array kRows = {
    DecompositionRow{"aten.chunk.default", split},
    DecompositionRow{"aten.contiguous.default", contiguous},
    DecompositionRow{"aten.detach.default", identity},
    DecompositionRow{"aten.flatten.using_ints", flatten},
    DecompositionRow{"aten.pad.default", pad},
    DecompositionRow{"aten.reshape.default", reshape},
    DecompositionRow{"aten.split.Tensor", split},
    DecompositionRow{"aten.squeeze.dim", squeeze},
    DecompositionRow{"aten.stack.default", stack},
    DecompositionRow{"aten.t.default", t},
    DecompositionRow{"aten.transpose.int", transpose},
    DecompositionRow{"aten.unbind.int", unbind},
    DecompositionRow{"aten.unflatten.int", flatten},
};

}  // namespace

std::span<const DecompositionRow> shape_decompositions() { return kRows; }

}  // namespace vitrine::aot
