// Decompositions of operators that move elements: pieces, diagonals, blocks, rotations.
#include <algorithm>

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
// tensor_split and similar: a number of pieces, of which the first are larger by one, or pieces
// that end at given indices. The dim is the last argument or the operator's own.
void split_anywhere(Decomposition& to) {
  Node* x = to.self();
  const std::string_view op = to.node().target().op();
  int64_t dim = 0;
  if (op == "hsplit") dim = rank_of(x) == 1 ? 0 : 1;
  if (op == "dsplit") dim = 2;
  if (op == "tensor_split") dim = to.integer("dim");
  const size_t at = wrapped(dim, rank_of(x));
  if (rank_of(x) == 0 || !size_at(x, at).is_static()) to.refuse("it splits a symbolic size");
  const int64_t whole = size_at(x, at).value();
  Dims ends;
  const Argument by = to.arg("sections");
  if (const auto* sections = by.get<int64_t>()) {
    if (*sections < 1 || *sections > kMaxPieces)
      to.refuse("the number of pieces is zero or too large");
    int64_t end = 0;
    for (int64_t i = 0; i < *sections; ++i) {
      end += whole / *sections + (i < whole % *sections ? 1 : 0);
      ends.push_back(end);
    }
  } else {
    ends = to.integers("indices");
    for (int64_t& end : ends) end = std::clamp<int64_t>(end < 0 ? end + whole : end, 0, whole);
    ends.push_back(whole);
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

// A diagonal in a matrix of dims [rows, columns]: where it is, and its elements spread over the
// rows, as tensors that broadcast with a tensor in which these are dims `dim1` and `dim2`.
struct Diagonal {
  Node* mask = nullptr;
  Node* values = nullptr;
};

// dims[i] says which dim of `x`, whose last two are rows and columns, comes to place i.
Dims placed(size_t rank, size_t dim1, size_t dim2) {
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
  if (dim1 == dim2) to.refuse("the dims are equal");
  const SymInt length = size_at(source, rank_of(source) - 1);
  if (!length.is_static() || !columns.is_static()) to.refuse("its dims are symbols");
  if (offset > INT32_MAX || offset < -INT32_MAX) to.refuse("its offset is too large");
  const int64_t before = std::max<int64_t>(offset, 0);
  const int64_t after = columns.value() - before - length.value();
  if (after < 0) to.refuse("its source is longer than the diagonal");
  if (before != 0 || after != 0) {
    source = to.make("aten.constant_pad_nd.default", {source, Dims{before, after}, 0});
  }
  Diagonal diagonal;
  const Dims dims = placed(rank, dim1, dim2);
  diagonal.values = to.permute(to.unsqueeze(source, -2), dims);
  Node* mask = diagonal_mask(to, rows, columns, offset);
  Sizes sizes(rank, SymInt(1));
  sizes[rank - 2] = rows;
  sizes[rank - 1] = columns;
  diagonal.mask = rank == 2 ? mask : to.reshape(mask, sizes);
  diagonal.mask = to.permute(diagonal.mask, dims);
  return diagonal;
}

// A matrix that is 0 except for this diagonal.
Node* embedded(Decomposition& to, Node* x, int64_t offset, size_t dim1, size_t dim2) {
  if (offset > INT32_MAX || offset < -INT32_MAX) to.refuse("its offset is too large");
  const SymInt side = size_at(x, rank_of(x) - 1) + SymInt(offset < 0 ? -offset : offset);
  const Diagonal found = spread_diagonal(to, x, side, side, offset, dim1, dim2);
  return to.where(found.mask, found.values, 0);
}

}  // namespace

void diagonal_embed(Decomposition& to) {
  Node* x = to.self();
  if (rank_of(x) == 0) to.refuse("its input has no dims");
  const size_t rank = rank_of(x) + 1;
  to.replace(embedded(to, x, to.integer("offset"), wrapped(to.integer("dim1"), rank),
                      wrapped(to.integer("dim2"), rank)));
}

// A matrix gives its diagonal, a vector the matrix with that diagonal.
void diagonal_or_matrix(Decomposition& to) {
  Node* x = to.self();
  const bool flattens = to.node().target().op() == "diagflat";
  const int64_t offset = to.integer(flattens ? "offset" : "diagonal");
  if (flattens) x = to.reshape(x, {product_of(x->tensor()->sizes)});
  if (rank_of(x) == 1) return to.replace(embedded(to, x, offset, 0, 1));
  if (rank_of(x) != 2) to.refuse("its input is neither vector nor matrix");
  to.replace(to("diagonal", x, offset));
}

void diagonal_of_matrices(Decomposition& to) {
  to.replace(to.make("aten.diagonal.default",
                     {to.self(), to.integer("offset"), to.integer("dim1"), to.integer("dim2")}));
}

// A copy in which a diagonal is another tensor.
void diagonal_scatter(Decomposition& to) {
  Node* x = to.self();
  Node* source = to.convert(to.tensor("src"), x->tensor()->dtype);
  if (rank_of(x) < 2 || rank_of(source) + 1 != rank_of(x)) to.refuse("its source does not fit");
  const size_t dim1 = wrapped(to.integer("dim1"), rank_of(x));
  const size_t dim2 = wrapped(to.integer("dim2"), rank_of(x));
  const Diagonal found = spread_diagonal(to, source, size_at(x, dim1), size_at(x, dim2),
                                         to.integer("offset"), dim1, dim2);
  to.replace(to.where(found.mask, found.values, x));
}

void fill_diagonal(Decomposition& to) {
  Node* x = to.self();
  if (rank_of(x) != 2) to.refuse("its input is not a matrix");
  const Sizes sizes = x->tensor()->sizes;
  const bool is_wide =
      sizes[0].is_static() && sizes[1].is_static() && sizes[0].value() <= sizes[1].value();
  if (to.boolean("wrap") && !is_wide) to.refuse("its diagonal wraps around");
  to.replace(to.where(diagonal_mask(to, sizes[0], sizes[1], 0), to.arg("fill_value"), x));
}

// Matrices along a diagonal, 0 beside them.
void block_diagonal(Decomposition& to) {
  std::vector<Node*> blocks = to.tensors("tensors");
  int64_t width = 0;
  for (Node*& block : blocks) {
    while (rank_of(block) < 2) block = to.unsqueeze(block, 0);
    if (rank_of(block) != 2 || !size_at(block, 1).is_static()) {
      to.refuse("a block is not a matrix of known size");
    }
    if (size_at(block, 1).value() > INT32_MAX - width) to.refuse("its blocks are too large");
    width += size_at(block, 1).value();
  }
  int64_t before = 0;
  const ScalarType dtype = to.spec().dtype;
  for (Node*& block : blocks) {
    const int64_t own = size_at(block, 1).value();
    block = to.make("aten.constant_pad_nd.default",
                    {to.convert(block, dtype), Dims{before, width - before - own}, 0});
    before += own;
  }
  to.replace(to.cat(blocks, 0));
}

// All choices of one element of each vector.
void cartesian_product(Decomposition& to) {
  const std::vector<Node*> vectors = to.tensors("tensors");
  if (vectors.size() == 1) return to.replace(vectors.front());
  Sizes sizes;
  for (const Node* vector : vectors) {
    if (rank_of(vector) != 1) to.refuse("an operand is not a vector");
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

// A quarter turn so many times, from the first dim to the second.
void rotate(Decomposition& to) {
  Node* x = to.self();
  const int64_t turns = (to.integer("k") % 4 + 4) % 4;
  const Argument given = to.arg("dims");
  const Dims dims = given.is_none() ? Dims{0, 1} : to.integers("dims", 2);
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

// The dims that it lacks: [a] -> [1, a] -> [1, a, 1].
Node* of_rank(Decomposition& to, Node* x, size_t rank) {
  if (rank_of(x) == 0) x = to.unsqueeze(x, 0);
  if (rank >= 2 && rank_of(x) == 1) x = to.unsqueeze(x, 0);
  if (rank >= 3 && rank_of(x) == 2) x = to.unsqueeze(x, -1);
  return x;
}
template <size_t rank>
void at_least(Decomposition& to) {
  if (to.node().target().overload() != "Sequence") {
    return to.replace(of_rank(to, to.self(), rank));
  }
  std::vector<Node*> results;
  for (Node* x : to.tensors("tensors")) results.push_back(of_rank(to, x, rank));
  to.replace_items(results);
}

}  // namespace

// Vectors are columns.
void column_stack(Decomposition& to) {
  std::vector<Node*> columns = to.tensors("tensors");
  for (Node*& x : columns) {
    if (rank_of(x) == 0) x = to.unsqueeze(x, 0);
    if (rank_of(x) == 1) x = to.unsqueeze(x, -1);
  }
  to.replace(to.cat(columns, 1));
}

// Angles and shifts of a grid: its base times the matrices, as grid_sample takes it.
void affine_grid(Decomposition& to) {
  Node* theta = to.self();
  const Dims size = to.integers("size");
  const bool corners = to.boolean("align_corners");
  if (size.size() != 4 && size.size() != 5)
    to.refuse("the grid is neither for images nor for volumes");
  const size_t dims = size.size() - 2;
  const ScalarType dtype = theta->tensor()->dtype;
  Sizes grid;
  for (size_t i = 0; i < dims; ++i) grid.emplace_back(size[2 + i]);
  std::vector<Node*> axes;  // x, y, (z,) 1
  for (size_t i = dims; i-- > 0;) {
    const int64_t count = size[2 + i];
    if (count < 1 || count > INT32_MAX) to.refuse("its grid is empty or too large");
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
    Sizes whole = grid;
    whole.emplace_back(1);
    axes.push_back(to.expand(to.reshape(at, single), whole));
  }
  Sizes whole = grid;
  whole.emplace_back(1);
  axes.push_back(to.full(whole, 1, dtype));
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
