#include <array>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// The size of the scanned dim must be static, because it determines the number of steps.
int64_t length_of(Decomposition& to, const Node* x, size_t dim) {
  if (rank_of(x) == 0) return 1;
  if (!size_at(x, dim).is_static()) to.refuse("the size of dim must not be symbolic");
  if (size_at(x, dim).value() > INT32_MAX) to.refuse("the size of dim must be less than 2^31");
  return size_at(x, dim).value();
}

// Shifts x by `by` elements along `dim`. The first `by` elements become `fill`.
Node* shifted(Decomposition& to, Node* x, size_t dim, int64_t by, Argument fill) {
  Node* kept = to.slice(x, dim, 0, length_of(to, x, dim) - by);
  Dims pads(2 * (rank_of(x) - dim), 0);
  pads[pads.size() - 2] = by;
  return to.make("aten.constant_pad_nd.default", {kept, pads, std::move(fill)});
}

// Combines each element with all elements before it, in about log2(length) steps. Each step
// combines every element with the element `by` positions earlier, and then doubles `by`.
template <class Combine>
Node* scan(Decomposition& to, Node* x, size_t dim, const Argument& neutral, Combine combine) {
  const int64_t length = length_of(to, x, dim);
  for (int64_t by = 1; by < length; by *= 2) x = combine(shifted(to, x, dim, by, neutral), x);
  return x;
}

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

// Returns the running extremes and their indices. In a tie, the last index wins.
template <bool is_max>
void running_extreme(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  if (!is_floating(dtype)) to.refuse("the input must have a float dtype");
  const size_t dim = dim_of(to);
  const int64_t length = length_of(to, x, dim);
  Sizes sizes(rank_of(x), SymInt(1));
  if (!sizes.empty()) sizes[dim] = length;
  Node* index = to.expand(to.reshape(to.count(0, length), sizes), x->tensor()->sizes);
  for (int64_t by = 1; by < length; by *= 2) {
    Node* before = shifted(to, x, dim, by, is_max ? -kInfinity : kInfinity);
    Node* index_before = shifted(to, index, dim, by, 0);
    // NaN propagates.
    Node* stays = to("logical_or", to.compare(is_max ? "ge" : "le", x, before), to("isnan", x));
    index = to.where(stays, index, index_before);
    x = to.where(stays, x, before);
  }
  to.replace_items({x, index});
}

}  // namespace

// Computes diff: x[1:] - x[:-1], n times in a row.
void difference(Decomposition& to) {
  const int64_t times = to.integer("n");
  Node* x = to.self();
  if (rank_of(x) == 0) to.refuse("the input must have at least one dim");
  constexpr int64_t kMaxTimes = 1024;
  if (times < 0 || times > kMaxTimes) to.refuse("n must be from 0 to 1024");
  if (times == 0) return to.replace(to("clone", x));  // ignores prepend and append
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

// Integrates y along a dim by the trapezoidal rule. The points are `dx` apart, or have the
// coordinates `x`. cumulative_trapezoid returns the integral up to each point after the first.
void trapezoid(Decomposition& to) {
  Node* y = to.self();
  if (rank_of(y) == 0) to.refuse("the input must have at least one dim");
  const bool has_x = to.node().target().overload() == "x";
  int64_t dim = 0;
  if (has_x) {
    dim = to.integer("dim");
  } else {
    // The arguments of this overload are (y, *, dx, dim).
    const Argument value = to.value("dim");
    dim = value.get<int64_t>() == nullptr ? -1 : *value.get<int64_t>();
  }
  const size_t at = wrapped(dim, rank_of(y));
  const auto pairs = [&](Node* x, size_t along) {
    const SymInt length = size_at(x, along);
    return std::array<Node*, 2>{to.slice(x, along, 0, to.size(length - SymInt(1))),
                                to.slice(x, along, 1, to.size(length))};
  };
  const auto [left, right] = pairs(y, at);
  Node* heights = to.add(left, right);
  const auto axis = static_cast<int64_t>(at);
  const bool is_cumulative = to.node().target().op() == "cumulative_trapezoid";
  const auto total = [&](Node* areas) {
    return is_cumulative ? to("cumsum", areas, axis) : to.sum(areas, {axis});
  };
  if (!has_x) {
    const double width = to.number("dx");
    return to.replace(to.mul(total(heights), width / 2));
  }
  Node* x = to.tensor("x");
  if (rank_of(x) != 1 && rank_of(x) != rank_of(y))
    to.refuse("x must be a vector or have the same rank as y");
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
