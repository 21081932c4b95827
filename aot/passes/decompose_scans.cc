// Decompositions of scans along a dim: cumulative products and extremes, differences, areas.
#include <array>

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// The dim of a scan, which must be known: each doubling of the distance is a step.
int64_t length_of(Decomposition& to, const Node* x, size_t dim) {
  if (rank_of(x) == 0) return 1;
  if (!size_at(x, dim).is_static()) to.refuse("it runs along a symbolic size");
  if (size_at(x, dim).value() > INT32_MAX) to.refuse("it runs along too large a dim");
  return size_at(x, dim).value();
}

// x moved by so many places along the dim; `fill` comes in.
Node* moved(Decomposition& to, Node* x, size_t dim, int64_t by, Argument fill) {
  Node* kept = to.slice(x, dim, 0, length_of(to, x, dim) - by);
  Dims pads(2 * (rank_of(x) - dim), 0);
  pads[pads.size() - 2] = by;
  return to.make("aten.constant_pad_nd.default", {kept, pads, std::move(fill)});
}

// Joins each element with all before it in log2 steps: after the step of distance d an element
// holds the 2d elements that end at it.
template <class Join>
Node* scan(Decomposition& to, Node* x, size_t dim, const Argument& neutral, Join join) {
  const int64_t length = length_of(to, x, dim);
  for (int64_t by = 1; by < length; by *= 2) x = join(moved(to, x, dim, by, neutral), x);
  return x;
}

// In the dtype of the result.
Node* scanned(Decomposition& to) { return to.convert(to.self(), to.spec().dtype); }
size_t dim_of(Decomposition& to) { return wrapped(to.integer("dim"), rank_of(to.self())); }

}  // namespace

void running_product(Decomposition& to) {
  to.replace(scan(to, scanned(to), dim_of(to), 1, [&](Node* a, Node* b) { return to.mul(a, b); }));
}

void running_log_sum_exp(Decomposition& to) {
  to.replace(scan(to, scanned(to), dim_of(to), -kInfinity,
                  [&](Node* a, Node* b) { return to("logaddexp", a, b); }));
}

namespace {

// Values and where they are: of equals the last.
template <bool greatest>
void running_extreme(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  if (!is_floating(dtype)) to.refuse("the input has an integer dtype");
  const size_t dim = dim_of(to);
  const int64_t length = length_of(to, x, dim);
  Sizes sizes(rank_of(x), SymInt(1));
  if (!sizes.empty()) sizes[dim] = length;
  Node* place = to.expand(to.reshape(to.count(0, length), sizes), x->tensor()->sizes);
  for (int64_t by = 1; by < length; by *= 2) {
    Node* before = moved(to, x, dim, by, greatest ? -kInfinity : kInfinity);
    Node* place_before = moved(to, place, dim, by, 0);
    // NaN propagates.
    Node* stays = to("logical_or", to.compare(greatest ? "ge" : "le", x, before), to("isnan", x));
    place = to.where(stays, place, place_before);
    x = to.where(stays, x, before);
  }
  to.replace_items({x, place});
}

}  // namespace

// x[1:] - x[:-1], applied n times.
void difference(Decomposition& to) {
  const int64_t times = to.integer("n");
  Node* x = to.self();
  if (rank_of(x) == 0) to.refuse("its input has no dims");
  constexpr int64_t kMostTimes = 1024;
  if (times < 0 || times > kMostTimes) to.refuse("it is repeated too often");
  if (times == 0) return to.replace(to("clone", x));  // and nothing is joined to it
  const size_t dim = wrapped(to.integer("dim"), rank_of(x));
  std::vector<Node*> parts = {x};
  if (Node* front = to.optional_tensor("prepend")) parts.insert(parts.begin(), front);
  if (Node* back = to.optional_tensor("append")) parts.push_back(back);
  if (parts.size() > 1) x = to.cat(parts, dim);
  const bool is_bool = x->tensor()->dtype == ScalarType::kBool;
  for (int64_t i = 0; i < times; ++i) {
    const SymInt length = size_at(x, dim);
    if (length.is_static() && length.value() == 0) break;
    Node* later = to.slice(x, dim, 1, to.size(length));
    Node* earlier = to.slice(x, dim, 0, to.size(length - SymInt(1)));
    x = is_bool ? to("logical_xor", later, earlier) : to.sub(later, earlier);
  }
  to.replace(x);
}

// The area under the points y at x, by trapezoids; cumulative, up to each of them.
void trapezoid(Decomposition& to) {
  Node* y = to.self();
  if (rank_of(y) == 0) to.refuse("its input has no dims");
  const bool has_places = to.node().target().overload() == "x";
  int64_t dim = 0;
  if (has_places) {
    dim = to.integer("dim");
  } else {
    // (y, *, dx, dim), or of trapz the same by position.
    const Argument given = to.value("dim");
    dim = given.get<int64_t>() == nullptr ? -1 : *given.get<int64_t>();
  }
  const size_t at = wrapped(dim, rank_of(y));
  const auto pairs = [&](Node* x, size_t along) {
    const SymInt length = size_at(x, along);
    return std::array<Node*, 2>{to.slice(x, along, 0, to.size(length - SymInt(1))),
                                to.slice(x, along, 1, to.size(length))};
  };
  const auto [left, right] = pairs(y, at);
  Node* heights = to.add(left, right);
  const auto here = static_cast<int64_t>(at);
  const bool is_cumulative = to.node().target().op() == "cumulative_trapezoid";
  const auto total = [&](Node* areas) {
    return is_cumulative ? to("cumsum", areas, here) : to.sum(areas, {here});
  };
  if (!has_places) {
    const double width = to.number("dx");
    return to.replace(to.mul(total(heights), width / 2));
  }
  Node* x = to.tensor("x");
  if (rank_of(x) != 1 && rank_of(x) != rank_of(y)) to.refuse("its places have other dims");
  const auto [begin, end] = pairs(x, rank_of(x) == 1 ? 0 : at);
  Node* widths = to.sub(end, begin);
  if (rank_of(x) == 1) {
    Sizes sizes(rank_of(y), SymInt(1));
    sizes[at] = size_at(widths, 0);
    widths = to.reshape(widths, sizes);
  }
  to.replace(to.div(total(to.mul(widths, heights)), 2.0));
}

void running_maximum(Decomposition& to) { running_extreme<true>(to); }
void running_minimum(Decomposition& to) { running_extreme<false>(to); }

}  // namespace vitrine::aot::decompositions
