// Decompositions of operators that move elements: splits, diagonals, blocks, rotations.
#include <algorithm>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

// Decomposes tensor_split, hsplit, vsplit and dsplit, which split a tensor into `sections` chunks
// or at the positions in `indices`. The first of the `sections` chunks may be one element longer.
// Only tensor_split takes the dim as an argument.
void split_anywhere(Decomposition& to) {
  Node* x = to.self();
  const std::string_view op = to.node().target().op();
  int64_t dim = 0;
  if (op == "hsplit") dim = rank_of(x) == 1 ? 0 : 1;
  if (op == "dsplit") dim = 2;
  if (op == "tensor_split") dim = to.integer("dim");
  const size_t at = wrapped(dim, rank_of(x));
  if (rank_of(x) == 0 || !size_at(x, at).is_static())
    to.refuse("cannot split a dim of symbolic size");
  const int64_t size = size_at(x, at).value();
  Dims ends;
  const Argument by = to.arg("sections");
  if (const auto* sections = by.get<int64_t>()) {
    if (*sections < 1 || *sections > kMaxResults)
      to.refuse("the number of chunks must be positive and at most 65536");
    int64_t end = 0;
    for (int64_t i = 0; i < *sections; ++i) {
      end += size / *sections + (i < size % *sections ? 1 : 0);
      ends.push_back(end);
    }
  } else {
    ends = to.integers("indices");
    for (int64_t& end : ends) end = std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
    ends.push_back(size);
  }
  std::vector<Node*> results;
  int64_t start = 0;
  for (const int64_t end : ends) {
    results.push_back(to.slice(x, at, start, std::max(start, end)));
    start = end;
  }
  to.replace_items(results);
}

namespace {

// The diagonals of all matrices in a tensor. `mask` and `values` broadcast to the tensor.
struct Diagonal {
  Node* mask = nullptr;    // true on the diagonal
  Node* values = nullptr;  // in each column, the value for the diagonal
};

// Returns the permutation that moves the last two dims to `dim1` and `dim2`. The other dims keep
// their order.
Dims last_dims_moved_to(size_t rank, size_t dim1, size_t dim2) {
  Dims dims;
  int64_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const auto size = static_cast<int64_t>(rank);
    dims.push_back(i == dim1 ? size - 2 : i == dim2 ? size - 1 : next++);
  }
  return dims;
}

Node* diagonal_mask(Decomposition& to, const SymInt& rows, const SymInt& columns, int64_t offset) {
  Node* column = to.count(0, columns);
  Node* row = to.unsqueeze(to.count(0, rows), -1);
  return to.compare("eq", to.sub(column, row), offset);
}

Diagonal spread_diagonal(Decomposition& to, Node* source, const SymInt& rows, const SymInt& columns,
                         int64_t offset, size_t dim1, size_t dim2) {
  const size_t rank = rank_of(source) + 1;
  if (dim1 == dim2) to.refuse("dim1 and dim2 must be different");
  const SymInt length = size_at(source, rank_of(source) - 1);
  if (!length.is_static() || !columns.is_static())
    to.refuse("the sizes of dim1 and dim2 must not be symbolic");
  if (offset > INT32_MAX || offset < -INT32_MAX) to.refuse("offset is out of range");
  const int64_t before = std::max<int64_t>(offset, 0);
  const int64_t after = columns.value() - before - length.value();
  if (after < 0) to.refuse("src is longer than the diagonal");
  if (before != 0 || after != 0) {
    source = to.make("aten.constant_pad_nd.default", {source, Dims{before, after}, 0});
  }
  Diagonal diagonal;
  const Dims dims = last_dims_moved_to(rank, dim1, dim2);
  diagonal.values = to.permute(to.unsqueeze(source, -2), dims);
  Node* mask = diagonal_mask(to, rows, columns, offset);
  Sizes sizes(rank, SymInt(1));
  sizes[rank - 2] = rows;
  sizes[rank - 1] = columns;
  diagonal.mask = rank == 2 ? mask : to.reshape(mask, sizes);
  diagonal.mask = to.permute(diagonal.mask, dims);
  return diagonal;
}

// Returns matrices whose diagonal is `x` and whose other elements are 0.
Node* embedded(Decomposition& to, Node* x, int64_t offset, size_t dim1, size_t dim2) {
  if (offset > INT32_MAX || offset < -INT32_MAX) to.refuse("offset is out of range");
  const SymInt side = size_at(x, rank_of(x) - 1) + SymInt(offset < 0 ? -offset : offset);
  const Diagonal found = spread_diagonal(to, x, side, side, offset, dim1, dim2);
  return to.where(found.mask, found.values, 0);
}

}  // namespace

void diagonal_embed(Decomposition& to) {
  Node* x = to.self();
  if (rank_of(x) == 0) to.refuse("the input must have at least one dim");
  const size_t rank = rank_of(x) + 1;
  to.replace(embedded(to, x, to.integer("offset"), wrapped(to.integer("dim1"), rank),
                      wrapped(to.integer("dim2"), rank)));
}

// Decomposes diag and diagflat: returns a matrix's diagonal, or a matrix with a given diagonal.
void diagonal_or_matrix(Decomposition& to) {
  Node* x = to.self();
  const bool flattens = to.node().target().op() == "diagflat";
  const int64_t offset = to.integer(flattens ? "offset" : "diagonal");
  if (flattens) x = to.reshape(x, {product_of(x->tensor()->sizes)});
  if (rank_of(x) == 1) return to.replace(embedded(to, x, offset, 0, 1));
  if (rank_of(x) != 2) to.refuse("the input must be a vector or a matrix");
  to.replace(to("diagonal", x, offset));
}

void diagonal_of_matrices(Decomposition& to) {
  to.replace(to.make("aten.diagonal.default",
                     {to.self(), to.integer("offset"), to.integer("dim1"), to.integer("dim2")}));
}

// Returns a copy of the input in which `src` replaces a diagonal.
void diagonal_scatter(Decomposition& to) {
  Node* x = to.self();
  Node* source = to.convert(to.tensor("src"), x->tensor()->dtype);
  if (rank_of(x) < 2 || rank_of(source) + 1 != rank_of(x))
    to.refuse("the input must have at least two dims, and src one dim fewer than the input");
  const size_t dim1 = wrapped(to.integer("dim1"), rank_of(x));
  const size_t dim2 = wrapped(to.integer("dim2"), rank_of(x));
  const Diagonal found = spread_diagonal(to, source, size_at(x, dim1), size_at(x, dim2),
                                         to.integer("offset"), dim1, dim2);
  to.replace(to.where(found.mask, found.values, x));
}

void fill_diagonal(Decomposition& to) {
  Node* x = to.self();
  if (rank_of(x) != 2) to.refuse("the input must be a matrix");
  const Sizes sizes = x->tensor()->sizes;
  const bool is_wide =
      sizes[0].is_static() && sizes[1].is_static() && sizes[0].value() <= sizes[1].value();
  if (to.boolean("wrap") && !is_wide)
    to.refuse("wrap needs static sizes and at most as many rows as columns");
  to.replace(to.where(diagonal_mask(to, sizes[0], sizes[1], 0), to.arg("fill_value"), x));
}

// Returns a matrix that has the operands as blocks along its diagonal and 0 elsewhere.
void block_diagonal(Decomposition& to) {
  std::vector<Node*> blocks = to.tensors("tensors");
  int64_t width = 0;
  for (Node*& block : blocks) {
    while (rank_of(block) < 2) block = to.unsqueeze(block, 0);
    if (rank_of(block) != 2 || !size_at(block, 1).is_static()) {
      to.refuse("each block must be a matrix whose size is not symbolic");
    }
    if (size_at(block, 1).value() > INT32_MAX - width) to.refuse("the blocks are too large");
    width += size_at(block, 1).value();
  }
  int64_t before = 0;
  const ScalarType dtype = to.spec().dtype;
  for (Node*& block : blocks) {
    const int64_t columns = size_at(block, 1).value();
    block = to.make("aten.constant_pad_nd.default",
                    {to.convert(block, dtype), Dims{before, width - before - columns}, 0});
    before += columns;
  }
  to.replace(to.cat(blocks, 0));
}

// Returns all combinations of one element from each vector, one per row.
void cartesian_product(Decomposition& to) {
  const std::vector<Node*> vectors = to.tensors("tensors");
  if (vectors.size() == 1) return to.replace(vectors.front());
  Sizes sizes;
  for (const Node* vector : vectors) {
    if (rank_of(vector) != 1) to.refuse("every operand must be a vector");
    sizes.push_back(size_at(vector, 0));
  }
  ArgumentList columns;
  for (size_t i = 0; i < vectors.size(); ++i) {
    Sizes single(vectors.size(), SymInt(1));
    single[i] = sizes[i];
    Node* spread = to.expand(to.reshape(vectors[i], single), sizes);
    columns.emplace_back(to.reshape(spread, {product_of(sizes)}));
  }
  to.replace(to.make("aten.stack.default", {Argument::list(columns), 1}));
}

// Rotates the input k times by 90 degrees, from the first dim of `dims` toward the second.
void rotate(Decomposition& to) {
  Node* x = to.self();
  const int64_t turns = (to.integer("k") % 4 + 4) % 4;
  const Dims dims = to.arg("dims").is_none() ? Dims{0, 1} : to.integers("dims", 2);
  if (turns == 0) return to.replace(to("clone", x));
  if (turns == 2) return to.replace(to("flip", x, dims));
  Node* flipped = to("flip", x, Dims{turns == 1 ? dims[1] : dims[0]});
  to.replace(to.transpose(flipped, dims[0], dims[1]));
}

namespace {

template <int64_t dim>
void mirror(Decomposition& to) {
  to.replace(to("flip", to.self(), Dims{dim}));
}

// Adds dims of size 1 to `x` until its rank is at least `rank`: [a] -> [1, a] -> [1, a, 1].
Node* with_min_rank(Decomposition& to, Node* x, size_t rank) {
  if (rank_of(x) == 0) x = to.unsqueeze(x, 0);
  if (rank >= 2 && rank_of(x) == 1) x = to.unsqueeze(x, 0);
  if (rank >= 3 && rank_of(x) == 2) x = to.unsqueeze(x, -1);
  return x;
}
template <size_t rank>
void at_least(Decomposition& to) {
  if (to.node().target().overload() != "Sequence") {
    return to.replace(with_min_rank(to, to.self(), rank));
  }
  std::vector<Node*> results;
  for (Node* x : to.tensors("tensors")) results.push_back(with_min_rank(to, x, rank));
  to.replace_items(results);
}

}  // namespace

// Concatenates the columns of the operands. An operand that is a vector becomes one column.
void column_stack(Decomposition& to) {
  std::vector<Node*> columns = to.tensors("tensors");
  for (Node*& x : columns) {
    if (rank_of(x) == 0) x = to.unsqueeze(x, 0);
    if (rank_of(x) == 1) x = to.unsqueeze(x, -1);
  }
  to.replace(to.cat(columns, 1));
}

// Computes a grid for grid_sample: multiplies coordinates of a regular grid by the matrices
// `theta`.
void affine_grid(Decomposition& to) {
  Node* theta = to.self();
  const Dims size = to.integers("size");
  const bool corners = to.boolean("align_corners");
  if (size.size() != 4 && size.size() != 5) to.refuse("size must have 4 or 5 items");
  const size_t dims = size.size() - 2;
  const ScalarType dtype = theta->tensor()->dtype;
  Sizes grid;
  for (size_t i = 0; i < dims; ++i) grid.emplace_back(size[2 + i]);
  std::vector<Node*> axes;  // coordinates x, y, z (only for volumes) and the constant 1
  for (size_t i = dims; i-- > 0;) {
    const int64_t count = size[2 + i];
    if (count < 1 || count > INT32_MAX)
      to.refuse("the sizes of the grid must be positive and less than 2^31");
    Node* at = to.count(0, count, 1, dtype);
    const auto length = static_cast<double>(count);
    if (count == 1) {
      at = to.mul(at, 0.0);
    } else if (corners) {
      at = to.sub(to.mul(at, 2 / (length - 1)), 1.0);
    } else {
      at = to.sub(to.mul(at, 2 / length), (length - 1) / length);
    }
    Sizes single(dims + 1, SymInt(1));
    single[i] = count;
    Sizes axis_sizes = grid;
    axis_sizes.emplace_back(1);
    axes.push_back(to.expand(to.reshape(at, single), axis_sizes));
  }
  Sizes axis_sizes = grid;
  axis_sizes.emplace_back(1);
  axes.push_back(to.full(axis_sizes, 1, dtype));
  const SymInt points = product_of(grid);
  const auto width = static_cast<int64_t>(dims);
  Node* base = to.reshape(to.cat(axes, dims), {SymInt(1), points, SymInt(width + 1)});
  Node* product = to.make("aten.matmul.default", {base, to.transpose(theta, 1, 2)});
  Sizes result = {SymInt(size[0])};
  result.insert(result.end(), grid.begin(), grid.end());
  result.emplace_back(width);
  to.replace(to.reshape(product, result));
}

void at_least_1d(Decomposition& to) { at_least<1>(to); }
void at_least_2d(Decomposition& to) { at_least<2>(to); }
void at_least_3d(Decomposition& to) { at_least<3>(to); }
void flip_left_right(Decomposition& to) { mirror<1>(to); }
void flip_up_down(Decomposition& to) { mirror<0>(to); }

}  // namespace vitrine::aot::decompositions
