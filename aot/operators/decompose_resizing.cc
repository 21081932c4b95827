// Decompositions of resizing operators, into other resizing operators or into indexing.
#include <array>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

struct Axis {
  SymInt from;
  SymInt to;
  double scale = 1;  // number of input elements per element of the result
};

// Reads the old and new sizes of the last `dims` dims. If the call has scale_factors instead of
// output_size and `corners` is false, the scales come from scale_factors, and otherwise from the
// sizes.
std::vector<Axis> read_axes(Decomposition& to, size_t dims, bool corners) {
  const Node* x = to.self();
  if (rank_of(x) != dims + 2) to.refuse("the input has the wrong number of dims");
  const Argument factors = to.arg("scale_factors");
  const bool by_factor = to.arg("output_size").is_none() && factors.list() != nullptr;
  if (by_factor && factors.list()->size() != dims)
    to.refuse("scale_factors must have one item per resized dim");
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims; ++i) {
    Axis axis = {size_at(x, 2 + i), to.spec().sizes.at(2 + i)};
    const bool known = axis.from.is_static() && axis.to.is_static();
    if (known && (axis.from.value() < 1 || axis.to.value() < 1))
      to.refuse("images must not be empty");
    if (corners) {
      if (!known) to.refuse("align_corners is not supported for symbolic sizes");
      axis.scale = axis.to.value() > 1 ? static_cast<double>(axis.from.value() - 1) /
                                             static_cast<double>(axis.to.value() - 1)
                                       : 0;
    } else if (by_factor) {
      const auto* factor = (*factors.list())[i].get<double>();
      if (factor == nullptr || !(*factor > 0)) to.refuse("scale_factors must be positive numbers");
      axis.scale = 1 / *factor;
    } else {
      if (!known) to.refuse("images with symbolic sizes can be resized only by scale_factors");
      axis.scale = static_cast<double>(axis.from.value()) / static_cast<double>(axis.to.value());
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Appends dims of size 1, so that the vector `x` becomes dim `i` of `dims` dims.
Node* along(Decomposition& to, Node* x, size_t i, size_t dims) {
  for (size_t dim = i + 1; dim < dims; ++dim) x = to.unsqueeze(x, -1);
  return x;
}

// Returns the position in the input of the center of each element of the result.
Node* positions(Decomposition& to, const Axis& axis, bool corners) {
  Node* at = to.count(0, axis.to, 1, ScalarType::kFloat);
  if (corners) return to.mul(at, axis.scale);
  return to.sub(to.mul(to.add(at, 0.5), axis.scale), 0.5);
}

template <size_t dims, bool exact>
void nearest(Decomposition& to) {
  ArgumentList indices(2);
  const std::vector<Axis> axes = read_axes(to, dims, false);
  // PyTorch's kernel ignores the scale factor of a dim whose size stays the same or doubles, for
  // channels-last volumes with more than 3 channels.
  const SymInt& channels = size_at(to.self(), 1);
  const bool ignores_factor = !exact && is_channels_last(*to.self()->tensor()) &&
                              channels.is_static() && channels.value() > 3;
  for (size_t i = 0; i < dims; ++i) {
    const auto& [from, size, scale] = axes[i];
    const bool is_exact = ignores_factor && (same(size, from) || same(size, from * SymInt(2)));
    Node* at = to.count(0, size, 1, ScalarType::kFloat);
    if (exact) at = to.add(at, 0.5);
    at = to.mul(at, !is_exact ? scale : same(size, from) ? 1 : 0.5);
    at = to.convert(at, ScalarType::kLong);
    indices.emplace_back(along(to, at, i, dims));
  }
  to.replace(to.index(to.self(), std::move(indices)));
}

// Resizes the last dim with `target`, an operator that resizes images. The original arguments are
// (input, output_size?, [align_corners,] scale_factors?).
void resize1d(Decomposition& to, const char* target, bool has_corners) {
  const SymInt size = to.spec().sizes.back();
  ArgumentList args = {to.unsqueeze(to.self(), -2), Argument()};
  Argument scales;
  const Argument factors = to.arg("scale_factors");
  if (to.arg("output_size").is_none() && factors.list() != nullptr) {
    scales = Argument::list({1.0, factors.list()->at(0)});
  } else {
    args[1] = Argument::list({1, to.size(size)});
  }
  if (has_corners) args.push_back(to.arg("align_corners"));
  args.push_back(scales);
  to.replace(to.squeeze(to.make(target, std::move(args)), -2));
}

// Interpolates between the two neighbors in each dim, starting with the last dim.
template <size_t dims>
void linear(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  if (!is_floating(dtype)) to.refuse("the input must have a float dtype");
  const bool corners = to.boolean("align_corners");
  std::vector<Axis> axes = read_axes(to, dims, corners);
  for (Axis& axis : axes) {
    if (same(axis.from, axis.to))
      axis.scale = 1;  // an unchanged size is copied, whatever its factor is
  }
  std::array<Node*, dims> weights = {};
  std::array<std::array<Node*, 2>, dims> neighbors = {};
  for (size_t i = 0; i < dims; ++i) {
    Node* at = to("clamp", positions(to, axes[i], corners), 0.0);
    Node* below = to.convert(at, ScalarType::kLong);
    Node* above = to("clamp", to.add(below, 1), Argument(), to.size(axes[i].from - SymInt(1)));
    weights[i] = along(to, to.convert(to("clamp", to.sub(at, below), 0.0, 1.0), dtype), i, dims);
    neighbors[i] = {along(to, below, i, dims), along(to, above, i, dims)};
  }
  std::vector<Node*> values;
  for (size_t corner = 0; corner < size_t{1} << dims; ++corner) {
    ArgumentList indices(2);
    for (size_t i = 0; i < dims; ++i) {
      indices.emplace_back(neighbors[i][corner >> (dims - 1 - i) & 1]);
    }
    values.push_back(to.index(x, std::move(indices)));
  }
  for (size_t i = dims; i-- > 0;) {
    std::vector<Node*> next;
    for (size_t j = 0; j < values.size(); j += 2) {
      Node* step = to.mul(to.sub(values[j + 1], values[j]), weights[i]);
      next.push_back(to.add(values[j], step));
    }
    values = std::move(next);
  }
  to.replace(values.front());
}

// Returns the weights of a point's four neighbors: Keys' cubic kernel with a = -0.75. `t` is the
// distance from the second neighbor to the point, from 0 to 1.
std::array<Node*, 4> cubic_weights(Decomposition& to, Node* t) {
  constexpr double kA = -0.75;
  const auto near = [&](Node* x) {
    Node* inner = to.sub(to.mul(x, kA + 2), kA + 3);
    return to.add(to.mul(to.mul(inner, x), x), 1.0);
  };
  const auto far = [&](Node* x) {
    Node* inner = to.mul(to.sub(to.mul(x, kA), 5 * kA), x);
    return to.sub(to.mul(to.add(inner, 8 * kA), x), 4 * kA);
  };
  Node* rest = to.sub(1.0, t);
  return {far(to.add(t, 1.0)), near(t), near(rest), far(to.add(rest, 1.0))};
}

}  // namespace

void resize_cubic2d(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  if (!is_floating(dtype)) to.refuse("the input must have a float dtype");
  const bool corners = to.boolean("align_corners");
  const std::vector<Axis> axes = read_axes(to, 2, corners);
  std::array<std::array<Node*, 4>, 2> indices = {};
  std::array<std::array<Node*, 4>, 2> weights = {};
  for (size_t i = 0; i < 2; ++i) {
    Node* at = along(to, positions(to, axes[i], corners), i, 2);
    Node* floor = to("floor", at);
    Node* fraction = to.convert(to("clamp", to.sub(at, floor), 0.0, 1.0), dtype);
    weights[i] = cubic_weights(to, fraction);
    Node* first = to.convert(floor, ScalarType::kLong);
    for (int64_t offset = 0; offset < 4; ++offset) {
      Node* index = to.add(first, offset - 1);
      indices[i][static_cast<size_t>(offset)] =
          to("clamp", index, 0, to.size(axes[i].from - SymInt(1)));
    }
  }
  const auto weighted = [&](const std::array<Node*, 4>& values, const std::array<Node*, 4>& by) {
    Node* sum = to.mul(values[0], by[0]);
    for (size_t i = 1; i < 4; ++i) sum = to.add(sum, to.mul(values[i], by[i]));
    return sum;
  };
  std::array<Node*, 4> rows = {};
  for (size_t row = 0; row < 4; ++row) {
    std::array<Node*, 4> values = {};
    for (size_t column = 0; column < 4; ++column) {
      values[column] = to.index(x, {Argument(), Argument(), indices[0][row], indices[1][column]});
    }
    rows[row] = weighted(values, weights[1]);
  }
  to.replace(weighted(rows, weights[0]));
}

// Calls the overload "vec" of the same operator, without scale factors.
void resize_by_list(Decomposition& to) {
  for (const char* scale : {"scales_h", "scales_w"}) {
    if (!to.arg(scale).is_none()) to.refuse("output_size and scales cannot be combined");
  }
  ArgumentList args = {to.self(), to.arg("output_size")};
  if (const Argument corners = to.arg("align_corners"); !corners.is_none()) args.push_back(corners);
  args.emplace_back();
  const std::string target = "aten." + std::string(to.node().target().op()) + ".vec";
  to.replace(to.call(target, std::move(args), to.spec()));
}

// Resizes by indexing if the call has scale factors, which aten.upsample_nearest2d may ignore.
void resize_nearest1d(Decomposition& to) {
  if (to.arg("output_size").is_none()) return nearest<1, false>(to);
  resize1d(to, "aten.upsample_nearest2d.vec", false);
}
void resize_linear1d(Decomposition& to) { resize1d(to, "aten.upsample_bilinear2d.vec", true); }
void resize_linear3d(Decomposition& to) { linear<3>(to); }
void resize_nearest3d(Decomposition& to) { nearest<3, false>(to); }
void resize_nearest_exact1d(Decomposition& to) { nearest<1, true>(to); }
void resize_nearest_exact2d(Decomposition& to) { nearest<2, true>(to); }
void resize_nearest_exact3d(Decomposition& to) { nearest<3, true>(to); }

}  // namespace vitrine::aot::decompositions
