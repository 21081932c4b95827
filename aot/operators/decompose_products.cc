#include <algorithm>
#include <cmath>
#include <limits>

#include "aot/operators/decompositions.h"
#include "aot/operators/einsum.h"
#include "aot/operators/infer.h"

namespace vitrine::aot::decompositions {
namespace {

// Multiplies `x` by a matrix or vector. Folds the batch dims of `x` into its rows, so that one call
// to mm or mv is enough.
Node* folded_product(Decomposition& to, Node* x, Node* matrix) {
  Sizes rows = x->tensor()->sizes;
  const SymInt inner = rows.back();
  rows.pop_back();
  const SymInt count = product_of(rows);
  Sizes result = rows;
  if (matrix->tensor()->rank() == 1) {
    Node* flat = to.reshape(x, {count, inner});
    return to.reshape(to("mv", flat, matrix), result);
  }
  result.push_back(matrix->tensor()->sizes[1]);
  Node* flat = to.reshape(x, {count, inner});
  return to.reshape(to("mm", flat, matrix), result);
}

// True if the strides allow a view that folds the batch dims into the rows.
bool can_fold(const TensorSpec& spec) {
  for (size_t i = 0; i + 2 < spec.rank(); ++i) {
    if (!same(spec.strides[i], spec.strides[i + 1] * spec.sizes[i + 1])) return false;
  }
  return true;
}

Node* batched_product(Decomposition& to, Node* a, Node* b) {
  const TensorSpec left = *a->tensor();
  const TensorSpec right = *b->tensor();
  const bool is_column = right.rank() == 1;
  const SymInt rows = left.rank() > 1 ? left.sizes[left.rank() - 2] : SymInt(1);
  const SymInt inner = left.sizes.back();
  const SymInt right_inner = is_column ? right.sizes[0] : right.sizes[right.rank() - 2];
  const SymInt columns = is_column ? SymInt(1) : right.sizes.back();
  // The sizes of the batch dims after broadcasting.
  Sizes batch(std::max(left.rank(), right.rank()) - 2, SymInt(1));
  for (const TensorSpec* spec : {&left, &right}) {
    for (size_t i = 0; i + 2 < spec->rank(); ++i) {
      const SymInt& size = spec->sizes[spec->rank() - 3 - i];
      SymInt& broadcast = batch[batch.size() - 1 - i];
      if (broadcast == SymInt(1)) broadcast = size;
    }
  }
  const auto with_batch = [&](std::initializer_list<SymInt> sizes) {
    Sizes all = batch;
    all.insert(all.end(), sizes);
    return all;
  };
  const SymInt batches = product_of(batch);
  a = to.expand(a, with_batch({rows, inner}));
  a = to.reshape(a, {batches, rows, inner});
  b = to.expand(b, is_column ? with_batch({right_inner}) : with_batch({right_inner, columns}));
  b = to.reshape(b, {batches, right_inner, columns});
  Node* product = to("bmm", a, b);
  Sizes result = batch;
  if (left.rank() > 1) result.push_back(rows);
  if (!is_column) result.push_back(columns);
  return to.reshape(product, result);
}

// Decomposes torch.matmul, whose meaning depends on the ranks of the operands.
Node* matrix_product(Decomposition& to, Node* a, Node* b) {
  const size_t rank_a = a->tensor()->rank();
  const size_t rank_b = b->tensor()->rank();
  if (rank_a == 0 || rank_b == 0) to.refuse("both operands must have at least one dim");
  if (rank_a == 1 && rank_b == 1) return to("dot", a, b);
  if (rank_a == 2 && rank_b == 1) return to("mv", a, b);
  if (rank_a == 1 && rank_b == 2) {
    Node* row = to.unsqueeze(a, 0);
    Node* product = to("mm", row, b);
    return to.squeeze(product, 0);
  }
  if (rank_a == 2 && rank_b == 2) return to("mm", a, b);
  const bool many_rows = rank_a >= 3 && rank_b <= 2;
  const bool many_columns = rank_b >= 3 && rank_a == 1;
  if (many_rows && can_fold(*a->tensor())) return folded_product(to, a, b);
  if (many_columns && can_fold(*to.transpose(b, -2, -1)->tensor())) {
    return folded_product(to, to.transpose(b, -2, -1), a);
  }
  return batched_product(to, a, b);
}

}  // namespace

void matmul(Decomposition& to) { to.replace(matrix_product(to, to.self(), to.tensor("other"))); }

void linear(Decomposition& to) {
  Node* x = to.self();
  Node* weight = to.tensor("weight");
  Node* bias = to.arg("bias").node();
  if (weight->tensor()->rank() != 2) to.refuse("weight must be a matrix");
  const Sizes result = to.spec().sizes;
  const TensorSpec spec = *x->tensor();
  if (bias != nullptr && (spec.rank() == 2 || (spec.rank() > 2 && is_contiguous(spec)))) {
    if (spec.rank() == 2) {
      Node* transposed = to.permute(weight, {1, 0});
      return to.replace(to("addmm", bias, x, transposed));
    }
    // Inserts the calls in the same order as PyTorch: view, permute, addmm, view.
    const Sizes rows(spec.sizes.begin(), spec.sizes.end() - 1);
    Node* flat = to.reshape(x, {product_of(rows), spec.sizes.back()});
    Node* transposed = to.permute(weight, {1, 0});
    return to.replace(to.reshape(to("addmm", bias, flat, transposed), result));
  }
  Node* product = matrix_product(to, x, to.permute(weight, {1, 0}));
  if (bias != nullptr) product = to.add(product, bias);
  to.replace(product);
}

void dot(Decomposition& to) {
  Node* products = to.make("aten.mul.Tensor", {to.self(), to.operand(1)});
  to.replace(to.make("aten.sum.dim_IntList", {products, Dims{0}}));
}

void matrix_times_vector(Decomposition& to) {
  Node* products = to.make("aten.mul.Tensor", {to.self(), to.tensor("vec")});
  to.replace(to.make("aten.sum.dim_IntList", {products, Dims{1}}));
}

void outer(Decomposition& to) {
  Node* column = to.make("aten.unsqueeze.default", {to.self(), 1});
  to.replace(to.make("aten.mul.Tensor", {column, to.tensor("vec2")}));
}

namespace {

// Converts a bool mask to an additive mask: 0 where `mask` is true, and -inf elsewhere.
Node* additive_mask(Decomposition& to, Node* mask, ScalarType dtype) {
  if (mask->tensor()->dtype != ScalarType::kBool) return mask;
  Node* hidden = to.scalar(-std::numeric_limits<double>::infinity(), dtype);
  return to.make("aten.where.self", {mask, to.scalar(0.0, dtype), hidden});
}

// Computes a softmax that returns 0 instead of NaN for rows in which every element is masked.
Node* safe_softmax(Decomposition& to, Node* scores) {
  Node* weights = to("_softmax", scores, -1, false);
  Node* hidden = to.make("aten.eq.Scalar", {scores, -kInfinity});
  Node* visible = to("logical_not", hidden);
  Node* any = to.make("aten.any.dim", {visible, -1, true});
  Node* none = to("logical_not", any);
  Node* zeros = to.make("aten.full_like.default", {weights, 0},
                        {{"pin_memory", false}, {"memory_format", MemoryFormat::kPreserve}});
  return to.where(none, zeros, weights);
}

// Repeats the heads of the keys or values until there are `heads` heads.
Node* repeat_heads(Decomposition& to, Node* x, const SymInt& heads) {
  const size_t rank = x->tensor()->rank();
  if (rank < 3 || same(x->tensor()->sizes[rank - 3], heads)) return x;
  const SymInt times = heads / x->tensor()->sizes[rank - 3];
  return to.make("aten.repeat_interleave.self_int", {x, to.size(times), -3});
}

}  // namespace

void attention(Decomposition& to) {
  Node* query = to.self();
  Node* key = to.tensor("key");
  Node* value = to.tensor("value");
  Node* mask = to.arg("attn_mask").node();
  const Argument dropout = to.value("dropout_p");
  const bool no_dropout = (dropout.get<double>() != nullptr && *dropout.get<double>() == 0) ||
                          (dropout.get<int64_t>() != nullptr && *dropout.get<int64_t>() == 0);
  if (!no_dropout) to.refuse("dropout_p must be 0");
  const TensorSpec spec = *query->tensor();
  const size_t rank = spec.rank();
  if (rank < 2 || key->tensor()->rank() < 2) to.refuse("query and key must have at least two dims");
  const Argument scale_argument = to.arg("scale");
  double scale = 0;
  if (scale_argument.get<double>() != nullptr) {
    scale = *scale_argument.get<double>();
  } else if (scale_argument.is_none() && spec.sizes.back().is_static() &&
             spec.sizes.back().value() > 0) {
    scale = 1 / std::sqrt(static_cast<double>(spec.sizes.back().value()));
  } else {
    to.refuse("scale must be given if the head size is symbolic");
  }
  if (scale < 0) to.refuse("scale must not be negative");
  const double root = std::sqrt(scale);
  // True if the result gets the layout of ATen's flash kernel, [position, batch, head, channel].
  const bool is_flash = rank == 4 && key->tensor()->rank() == 4 && value->tensor()->rank() == 4 &&
                        same(value->tensor()->sizes.back(), spec.sizes.back());
  if (to.boolean("enable_gqa") && rank >= 3) {
    key = repeat_heads(to, key, spec.sizes[rank - 3]);
    value = repeat_heads(to, value, spec.sizes[rank - 3]);
  }
  if (to.boolean("is_causal")) {
    if (mask != nullptr) to.refuse("attn_mask and is_causal cannot be combined");
    const Sizes square = {spec.sizes[rank - 2], key->tensor()->sizes[key->tensor()->rank() - 2]};
    mask = to.make("aten.full.default", {to.size_list(square), true},
                   Decomposition::creation_kwargs(ScalarType::kBool));
    mask = to("tril", mask);
  }
  if (mask != nullptr) mask = additive_mask(to, mask, spec.dtype);
  query = to.make("aten.mul.Scalar", {query, root});
  key = to.make("aten.mul.Scalar", {to.transpose(key, -2, -1), root});
  Node* scores = matrix_product(to, query, key);
  if (mask != nullptr) scores = to.add(scores, mask);
  Node* result = matrix_product(to, safe_softmax(to, scores), value);
  if (is_flash) {
    result = to.permute(result, {2, 0, 1, 3});
    result =
        to.make("aten.clone.default", {result}, {{"memory_format", MemoryFormat::kContiguous}});
    result = to.permute(result, {1, 2, 0, 3});
  }
  to.replace(result);
}

void einsum(Decomposition& to) { decompose_einsum(to); }

}  // namespace vitrine::aot::decompositions
