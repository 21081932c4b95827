// Decompositions of layers: products, convolutions, norms, pools.
#include <array>

#include "aot/passes/decomposition.h"

namespace vitrine::aot {
namespace {

std::vector<SymInt> product_sizes(const TensorSpec& a, const TensorSpec& b) {
  return {a.sizes.at(a.rank() - 2), b.sizes.at(b.rank() - 1)};
}

// x of rank >= 3 times a matrix: rows of all batches at once.
Node* folded_product(Decomposition& to, Node* x, Node* matrix, Node* bias) {
  const TensorSpec& spec = *x->tensor();
  SymInt rows = 1;
  for (size_t i = 0; i + 1 < spec.rank(); ++i) rows = rows * spec.sizes[i];
  const std::vector<SymInt> flat = {rows, spec.sizes.back()};
  const std::vector<SymInt> product = {rows, matrix->tensor()->sizes.at(1)};
  std::vector<SymInt> result = spec.sizes;
  result.back() = product.back();
  x = to.reshape(x, size_argument(flat), flat);
  const TensorSpec made = contiguous_spec(spec.dtype, product);
  Node* y = bias == nullptr ? to.call("aten.mm.default", {x, matrix}, made)
                            : to.call("aten.addmm.default", {bias, x, matrix}, made);
  return to.reshape(y, size_argument(result), result);
}

void linear(Decomposition& to) {
  Node* x = to.tensor(0);
  Node* weight = to.tensor(1);
  Node* bias = to.arg(2, "bias").node();
  const TensorSpec spec = to.spec();
  const size_t rank = x->tensor()->rank();
  if (rank == 2) {
    Node* transposed = to.permute(weight, {1, 0});
    to.replace(bias == nullptr ? to.call("aten.mm.default", {x, transposed}, spec)
                               : to.call("aten.addmm.default", {bias, x, transposed}, spec));
    return;
  }
  if (rank < 2) to.refuse("its input is a vector");
  if (rank == 3 && bias != nullptr) {
    // The view comes first.
    const TensorSpec& input = *x->tensor();
    const SymInt rows = input.sizes[0] * input.sizes[1];
    const std::vector<SymInt> flat = {rows, input.sizes[2]};
    Node* view = to.reshape(x, size_argument(flat), flat);
    Node* transposed = to.permute(weight, {1, 0});
    Node* product = to.call("aten.addmm.default", {bias, view, transposed},
                            contiguous_spec(spec.dtype, {rows, transposed->tensor()->sizes.at(1)}));
    to.replace(to.reshape(product, size_argument(spec.sizes), spec.sizes));
    return;
  }
  Node* product = folded_product(to, x, to.permute(weight, {1, 0}), nullptr);
  if (bias != nullptr) product = to.call("aten.add.Tensor", {product, bias}, spec);
  to.replace(product);
}

void matmul(Decomposition& to) {
  Node* a = to.tensor(0);
  Node* b = to.tensor(1);
  const TensorSpec spec = to.spec();
  const size_t rank_a = a->tensor()->rank();
  const size_t rank_b = b->tensor()->rank();
  if (rank_a == 1 && rank_b == 1) {
    Node* products = to.call("aten.mul.Tensor", {a, b}, *a->tensor());
    to.replace(to.call("aten.sum.dim_IntList", {products, std::vector<int64_t>{0}}, spec));
  } else if (rank_a == 2 && rank_b == 2) {
    to.replace(to.call("aten.mm.default", {a, b}, spec));
  } else if (rank_a >= 3 && rank_b == 2) {
    to.replace(folded_product(to, a, b, nullptr));
  } else if (rank_a >= 2 && rank_b >= 2) {
    const std::vector<SymInt> batch(spec.sizes.begin(), spec.sizes.end() - 2);
    SymInt batches = 1;
    for (const SymInt& size : batch) batches = batches * size;
    const auto flat = [&](Node* x) {
      const std::vector<SymInt> matrix(x->tensor()->sizes.end() - 2, x->tensor()->sizes.end());
      std::vector<SymInt> sizes = batch;
      sizes.insert(sizes.end(), matrix.begin(), matrix.end());
      x = to.expand(x, sizes);
      const std::vector<SymInt> folded = {batches, matrix[0], matrix[1]};
      return to.reshape(x, size_argument(folded), folded);
    };
    Node* flat_a = flat(a);
    Node* flat_b = flat(b);
    std::vector<SymInt> sizes = {batches};
    for (const SymInt& size : product_sizes(*a->tensor(), *b->tensor())) sizes.push_back(size);
    Node* product =
        to.call("aten.bmm.default", {flat_a, flat_b}, contiguous_spec(spec.dtype, sizes));
    to.replace(to.reshape(product, size_argument(spec.sizes), spec.sizes));
  } else {
    to.refuse("products of matrices and vectors are not supported");
  }
}

template <size_t dims>
void convolution(Decomposition& to) {
  if (to.node().target().overload() != "default") to.refuse("its padding is a word");
  const auto list = [&](size_t index, const char* name, int64_t fallback) -> Argument {
    return to.integers(index, name, dims, fallback);
  };
  to.replace(to.call(
      "aten.convolution.default",
      {to.tensor(0), to.tensor(1), to.arg(2, "bias"), list(3, "stride", 1), list(4, "padding", 0),
       list(5, "dilation", 1), false, std::vector<int64_t>(dims, 0), to.integer(6, "groups", 1)},
      to.spec()));
}

template <size_t dims>
void transposed_convolution(Decomposition& to) {
  const auto list = [&](size_t index, const char* name, int64_t fallback) -> Argument {
    return to.integers(index, name, dims, fallback);
  };
  to.replace(to.call(
      "aten.convolution.default",
      {to.tensor(0), to.tensor(1), to.arg(2, "bias"), list(3, "stride", 1), list(4, "padding", 0),
       list(7, "dilation", 1), true, list(5, "output_padding", 0), to.integer(6, "groups", 1)},
      to.spec()));
}

TensorSpec vector_spec(ScalarType dtype, const SymInt& size) {
  return contiguous_spec(dtype, {size});
}

void batch_norm(Decomposition& to) {
  if (to.boolean(5, "training", false)) to.refuse("it is in training mode");
  const TensorSpec spec = to.spec();
  const TensorSpec empty = vector_spec(spec.dtype, 0);
  Node* norm = to.call("aten._native_batch_norm_legit_no_training.default",
                       {to.tensor(0), to.arg(1, "weight"), to.arg(2, "bias"), to.tensor(3),
                        to.tensor(4), to.arg(6, "momentum"), to.arg(7, "eps")},
                       Value::Items{spec, empty, empty});
  to.replace(to.item(norm, 0));
}

void layer_norm(Decomposition& to) {
  const TensorSpec spec = to.spec();
  const std::vector<int64_t> shape = to.integers(1, "normalized_shape", 0, 0);
  std::vector<SymInt> outer = spec.sizes;
  for (size_t i = 0; i < shape.size() && i < spec.rank(); ++i) outer[spec.rank() - 1 - i] = 1;
  const TensorSpec moments = contiguous_spec(spec.dtype, outer);
  Node* norm =
      to.call("aten.native_layer_norm.default",
              {to.tensor(0), shape, to.arg(2, "weight"), to.arg(3, "bias"), to.arg(4, "eps", 1e-5)},
              Value::Items{spec, moments, moments});
  to.replace(to.item(norm, 0));
}

void group_norm(Decomposition& to) {
  const TensorSpec spec = to.spec();
  const int64_t groups = to.integer(1, "num_groups", 1);
  if (!spec.is_static()) to.refuse("its sizes are symbols");
  int64_t area = 1;
  for (size_t i = 2; i < spec.rank(); ++i) area *= spec.sizes[i].value();
  const TensorSpec moments = contiguous_spec(spec.dtype, {spec.sizes[0], SymInt(groups)});
  Node* norm = to.call("aten.native_group_norm.default",
                       {to.tensor(0), to.arg(2, "weight"), to.arg(3, "bias"), spec.sizes[0].value(),
                        spec.sizes[1].value(), area, groups, to.arg(4, "eps", 1e-5)},
                       Value::Items{spec, moments, moments});
  to.replace(to.item(norm, 0));
}

void adaptive_average_pool(Decomposition& to) {
  const std::vector<int64_t> size = to.integers(1, "output_size", 2, 1);
  if (size == std::vector<int64_t>{1, 1}) {
    to.replace(
        to.call("aten.mean.dim", {to.tensor(0), std::vector<int64_t>{-1, -2}, true}, to.spec()));
  } else {
    to.replace(to.call("aten._adaptive_avg_pool2d.default", {to.tensor(0), size}, to.spec()));
  }
}

void max_pool(Decomposition& to) {
  TensorSpec indices = to.spec();
  indices.dtype = ScalarType::kLong;
  Node* pool = to.call("aten.max_pool2d_with_indices.default", to.node().args(),
                       Value::Items{to.spec(), indices});
  to.replace(to.item(pool, 0));
}

constexpr std::array kRows = {
    DecompositionRow{"aten.adaptive_avg_pool2d.default", adaptive_average_pool},
    DecompositionRow{"aten.batch_norm.default", batch_norm},
    DecompositionRow{"aten.conv1d.default", convolution<1>},
    DecompositionRow{"aten.conv2d.default", convolution<2>},
    DecompositionRow{"aten.conv3d.default", convolution<3>},
    DecompositionRow{"aten.conv_transpose1d.default", transposed_convolution<1>},
    DecompositionRow{"aten.conv_transpose2d.input", transposed_convolution<2>},
    DecompositionRow{"aten.conv_transpose3d.input", transposed_convolution<3>},
    DecompositionRow{"aten.group_norm.default", group_norm},
    DecompositionRow{"aten.layer_norm.default", layer_norm},
    DecompositionRow{"aten.linear.default", linear},
    DecompositionRow{"aten.matmul.default", matmul},
    DecompositionRow{"aten.max_pool2d.default", max_pool},
};

}  // namespace

std::span<const DecompositionRow> layer_decompositions() { return kRows; }

}  // namespace vitrine::aot
