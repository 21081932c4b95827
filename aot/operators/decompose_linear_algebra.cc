// Decompositions of norms, and of products other than matmul.
#include <algorithm>
#include <cmath>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

bool is_number(const Argument& argument, double value) {
  if (const auto* integer = argument.get<int64_t>()) return static_cast<double>(*integer) == value;
  const auto* real = argument.get<double>();
  return real != nullptr && *real == value;
}

// Replaces the node with beta * self + alpha * product. If beta is 0, ignores self, which may
// contain NaN.
void scaled_sum(Decomposition& to, Node* product) {
  const Argument alpha = to.factor("alpha");
  const Argument beta = to.factor("beta");
  if (!is_number(alpha, 1)) product = to.mul(product, alpha);
  if (is_number(beta, 0)) {
    return to.replace(same(product->tensor()->sizes, to.spec().sizes)
                          ? product
                          : to.expand(product, to.spec().sizes));
  }
  Node* self = is_number(beta, 1) ? to.self() : to.mul(to.self(), beta);
  to.replace(to.add(self, product));
}

}  // namespace

void add_batched_product(Decomposition& to) {
  scaled_sum(to, to.sum(to("bmm", to.tensor("batch1"), to.tensor("batch2")), {0}));
}

void baddbmm(Decomposition& to) {
  scaled_sum(to, to("bmm", to.tensor("batch1"), to.tensor("batch2")));
}

void addmv(Decomposition& to) { scaled_sum(to, to("mv", to.tensor("mat"), to.tensor("vec"))); }

void add_outer_product(Decomposition& to) {
  scaled_sum(to, to.mul(to.unsqueeze(to.tensor("vec1"), -1), to.tensor("vec2")));
}

void vector_product(Decomposition& to) {
  const Argument dim = to.value("dim");
  const int64_t at = dim.get<int64_t>() == nullptr ? -1 : *dim.get<int64_t>();
  to.replace(to.sum(to.mul(to.self(), to.tensor("y")), {at}));
}

namespace {

// Computes torch.tensordot with one matrix product. The result has the remaining dims of `a`,
// followed by the remaining dims of `b`.
Node* contracted(Decomposition& to, Node* a, Node* b, const Dims& dims_a, const Dims& dims_b) {
  if (dims_a.size() != dims_b.size())
    to.refuse("dims_self and dims_other must have the same length");
  const auto order = [&](const Node* x, const Dims& summed, bool summed_first, Sizes& kept) {
    Dims inner;
    for (const int64_t dim : summed) {
      inner.push_back(static_cast<int64_t>(wrapped(dim, rank_of(x))));
    }
    Dims outer;
    for (size_t i = 0; i < rank_of(x); ++i) {
      const auto dim = static_cast<int64_t>(i);
      if (std::ranges::count(inner, dim) != 0) continue;
      outer.push_back(dim);
      kept.push_back(size_at(x, i));
    }
    Dims& first = summed_first ? inner : outer;
    const Dims& second = summed_first ? outer : inner;
    first.insert(first.end(), second.begin(), second.end());
    if (first.size() != rank_of(x)) to.refuse("a dim is repeated");
    return first;
  };
  SymInt inner = 1;
  for (const int64_t dim : dims_a) inner = inner * size_at(a, wrapped(dim, rank_of(a)));
  Sizes left;
  Sizes right;
  const Dims order_a = order(a, dims_a, false, left);
  const Dims order_b = order(b, dims_b, true, right);
  a = to.reshape(to.permute(a, order_a), {product_of(left), inner});
  b = to.reshape(to.permute(b, order_b), {inner, product_of(right)});
  Node* product = to("mm", a, b);
  Sizes result = left;
  result.insert(result.end(), right.begin(), right.end());
  return to.reshape(product, result);
}

}  // namespace

void tensor_product(Decomposition& to) {
  to.replace(contracted(to, to.self(), to.tensor("other"), to.integers("dims_self"),
                        to.integers("dims_other")));
}

void inner(Decomposition& to) {
  Node* a = to.self();
  Node* b = to.tensor("other");
  if (rank_of(a) == 0 || rank_of(b) == 0) return to.replace(to.mul(a, b));
  to.replace(contracted(to, a, b, {-1}, {-1}));
}

// Computes the Kronecker product: each element of `a` times the whole matrix `b`.
void kronecker(Decomposition& to) {
  Node* a = to.self();
  Node* b = to.tensor("other");
  const size_t rank = std::max(rank_of(a), rank_of(b));
  const auto interleave = [&](Node* x, bool is_outer, Sizes& result) {
    Sizes sizes(rank - rank_of(x), SymInt(1));
    sizes.insert(sizes.end(), x->tensor()->sizes.begin(), x->tensor()->sizes.end());
    Sizes interleaved;
    for (size_t i = 0; i < rank; ++i) {
      interleaved.push_back(is_outer ? sizes[i] : SymInt(1));
      interleaved.push_back(is_outer ? SymInt(1) : sizes[i]);
      result[i] = result[i] * sizes[i];
    }
    return to.reshape(x, interleaved);
  };
  Sizes result(rank, SymInt(1));
  Node* outer = interleave(a, true, result);
  Node* inner = interleave(b, false, result);
  to.replace(to.reshape(to.mul(outer, inner), result));
}

void chained_product(Decomposition& to) {
  const std::vector<Node*> matrices =
      to.tensors(to.node().target().op() == "chain_matmul" ? "matrices" : "tensors");
  Node* product = matrices.front();
  for (size_t i = 1; i < matrices.size(); ++i) {
    product = to("matmul", product, matrices[i]);
  }
  to.replace(product);
}

void matrix_power(Decomposition& to) {
  int64_t power = to.integer("n");
  if (power < 0 || power > 1 << 20) to.refuse("n must be from 0 to 2^20");
  Node* square = to.self();
  if (power == 0) {
    const Sizes sizes = square->tensor()->sizes;
    if (sizes.size() < 2) to.refuse("the input must be a matrix");
    Node* one =
        to.make("aten.eye.default", {to.size(sizes.back())}, {{"dtype", square->tensor()->dtype}});
    return to.replace(to("clone", to.expand(one, sizes)));
  }
  Node* result = nullptr;
  for (; power > 0; power /= 2) {
    if (power % 2 != 0) {
      result = result == nullptr ? square : to("matmul", result, square);
    }
    if (power > 1) square = to("matmul", square, square);
  }
  to.replace(result);
}

// Computes the cross product a[i+1] b[i+2] - a[i+2] b[i+1], with indices modulo 3.
void cross(Decomposition& to) {
  Node* a = to.self();
  Node* b = to.tensor("other");
  const Sizes sizes = to.spec().sizes;
  int64_t dim = -1;
  if (const Argument arg = to.arg("dim"); arg.get<int64_t>() != nullptr) {
    dim = *arg.get<int64_t>();

  } else if (to.node().target().op() == "cross") {
    // aten.cross uses the first dim of size 3 by default.
    const auto found = std::ranges::find(sizes, SymInt(3));
    if (found == sizes.end()) to.refuse("one dim must have size 3");
    dim = found - sizes.begin();
  }
  if (!same(a->tensor()->sizes, sizes)) a = to.expand(a, sizes);
  if (!same(b->tensor()->sizes, sizes)) b = to.expand(b, sizes);
  Node* index = to.count(0, 3);
  const auto rotated = [&](Node* x, int64_t by) {
    Node* from = to.make("aten.remainder.Scalar", {to.add(index, by), 3});
    return to("index_select", x, dim, from);
  };
  Node* first = to.mul(rotated(a, 1), rotated(b, 2));
  Node* second = to.mul(rotated(a, 2), rotated(b, 1));
  to.replace(to.sub(first, second));
}

// Computes bilinear: a W b + bias, with a separate matrix W for each output feature.
void bilinear(Decomposition& to) {
  Node* a = to.self();
  Node* b = to.tensor("input2");
  Node* weight = to.tensor("weight");
  if (rank_of(weight) != 3 || rank_of(a) == 0)
    to.refuse("weight must have 3 dims, and input1 at least one");
  const Sizes sizes = weight->tensor()->sizes;
  Node* matrix = to.reshape(to.permute(weight, {1, 0, 2}), {sizes[1], sizes[0] * sizes[2]});
  Node* product = to("matmul", a, matrix);
  Sizes per_output = a->tensor()->sizes;
  per_output.back() = sizes[0];
  per_output.push_back(sizes[2]);
  product = to.mul(to.reshape(product, per_output), to.unsqueeze(b, -2));
  product = to.sum(product, {-1});
  if (Node* bias = to.optional_tensor("bias")) product = to.add(product, bias);
  to.replace(product);
}

namespace {

ArgumentList norm_arguments(Node* x, Argument order, const Argument& dims, bool keepdim) {
  ArgumentList args = {x, std::move(order)};
  const bool is_single = dims.get<int64_t>() != nullptr;
  args.push_back(is_single ? Argument::list({dims}) : dims);
  if (keepdim) args.emplace_back(true);
  return args;
}
Node* vector_norm(Decomposition& to, Node* x, Argument order, const Argument& dims, bool keepdim) {
  return to.make("aten.linalg_vector_norm.default",
                 norm_arguments(x, std::move(order), dims, keepdim));
}

// Computes a matrix norm. The order "fro" is the 2-norm of all elements. Orders 1 and -1 add up the
// magnitudes of each column, and orders inf and -inf the magnitudes of each row. A positive order
// takes the largest sum, and a negative order takes the smallest.
Node* matrix_norm(Decomposition& to, Node* x, const Argument& order, const Argument& dims,
                  bool keepdim) {
  if (const auto* word = order.get<std::string>()) {
    if (*word != "fro") to.refuse("norms that need singular values are not supported");
    return vector_norm(to, x, 2, dims, keepdim);
  }
  const ArgumentList* both = dims.list();
  if (both == nullptr || both->size() != 2) to.refuse("dim must have two items");
  const auto* real = order.get<double>();
  const auto* integer = order.get<int64_t>();
  const double value = real != nullptr      ? *real
                       : integer != nullptr ? static_cast<double>(*integer)
                                            : 0;
  const bool of_rows = std::isinf(value);
  if (!of_rows && std::abs(value) != 1)
    to.refuse("norms that need singular values are not supported");
  if ((*both)[0].get<int64_t>() == nullptr || (*both)[1].get<int64_t>() == nullptr) {
    to.refuse("dim must contain integers");
  }
  const auto row = static_cast<int64_t>(wrapped(*(*both)[0].get<int64_t>(), rank_of(x)));
  const auto column = static_cast<int64_t>(wrapped(*(*both)[1].get<int64_t>(), rank_of(x)));
  Node* sums = to.sum(to("abs", x), {of_rows ? column : row}, true);
  const int64_t other = of_rows ? row : column;
  Node* found = value > 0 ? to.amax(sums, {other}, true) : to.amin(sums, {other}, true);
  return keepdim ? found
                 : to.make("aten.squeeze.dims",
                           {found, Dims{std::min(row, column), std::max(row, column)}});
}

}  // namespace

// Decomposes linalg_norm and linalg_matrix_norm(self, ord, dim, keepdim, *, dtype).
void linalg_norm(Decomposition& to) {
  Node* x = to.convert(to.self(), to.spec().dtype);
  const Argument order = to.arg("ord");
  Argument dims = to.arg("dim");
  const bool keepdim = to.boolean("keepdim");
  const bool is_matrix_norm = to.node().target().op() == "linalg_matrix_norm";
  if (dims.is_none() && is_matrix_norm) dims = Dims{-2, -1};
  const bool all = dims.is_none();
  if (all && !order.is_none()) {
    dims = Dims();
    if (rank_of(x) == 2) dims = Dims{0, 1};
    if (rank_of(x) > 2) to.refuse("the input must have at most 2 dims if ord is given without dim");
  }
  const size_t count = dims.list() == nullptr ? 1 : dims.list()->size();
  if (is_matrix_norm || (count == 2 && !order.is_none())) {
    const Argument matrix_order = order.is_none() ? Argument("fro") : order;
    return to.replace(matrix_norm(to, x, matrix_order, dims, keepdim));
  }
  if (order.get<std::string>() != nullptr) to.refuse("ord must be a number for a vector norm");
  to.replace(vector_norm(to, x, order.is_none() ? Argument(2) : order, dims, keepdim));
}

// Decomposes frobenius_norm(self, dim, keepdim).
void frobenius_norm(Decomposition& to) {
  to.replace(vector_norm(to, to.self(), 2, to.arg("dim"), to.boolean("keepdim")));
}

void distance(Decomposition& to) {
  Node* difference = to.sub(to.self(), to.tensor("other"));
  to.replace(vector_norm(to, difference, to.value("p"), Argument::list({}), false));
}
void pairwise_distance(Decomposition& to) {
  Node* difference = to.add(to.sub(to.self(), to.tensor("x2")), to.number("eps"));
  to.replace(vector_norm(to, difference, to.number("p"), Dims{-1}, to.boolean("keepdim")));
}

void trace(Decomposition& to) { to.replace(to.sum(to("diagonal", to.self()), {0})); }

}  // namespace vitrine::aot::decompositions
