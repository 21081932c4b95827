// Decomposition of einsum: operands get all labels as dims, then are joined from left to right by
// batched products.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "aot/passes/decomposition.h"
#include "aot/passes/einsum.h"

namespace vitrine::aot {
namespace {

using Dims = std::vector<int64_t>;

// Labels of the operands and of the result; dims that an ellipsis covers have labels of their own,
// counted from the last.
struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

constexpr int kEllipsis = 1000;  // labels of its dims, from the last one: 1001, 1002, ...

std::vector<int> read_labels(Decomposition& to, std::string_view text) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (std::ranges::count(labels, kEllipsis) != 0) to.refuse("an operand has two ellipses");
      labels.push_back(kEllipsis);
      i += 2;
    } else if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z')) {
      labels.push_back(text[i]);
    } else {
      to.refuse("its equation has an unknown sign");
    }
  }
  return labels;
}

// The ellipsis of `labels` as so many dims.
void spread_ellipsis(std::vector<int>& labels, size_t dims) {
  const auto place = std::ranges::find(labels, kEllipsis);
  if (place == labels.end()) return;
  std::vector<int> covered;
  for (size_t i = dims; i > 0; --i) covered.push_back(kEllipsis + static_cast<int>(i));
  const auto next = labels.erase(place);
  labels.insert(next, covered.begin(), covered.end());
}

Equation read_equation(Decomposition& to, std::string_view text,
                       const std::vector<Node*>& operands) {
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  Equation equation;
  for (;;) {
    const size_t comma = left.find(',');
    equation.operands.push_back(read_labels(to, left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (equation.operands.size() != operands.size()) to.refuse("its equation has other operands");
  size_t covered = 0;  // by the widest ellipsis
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<int>& labels = equation.operands[i];
    const bool has_ellipsis = std::ranges::count(labels, kEllipsis) != 0;
    const size_t named = labels.size() - (has_ellipsis ? 1 : 0);
    const size_t rank = operands[i]->tensor()->rank();
    if (named > rank || (!has_ellipsis && named < rank)) {
      to.refuse("an operand has another number of dims than labels");
    }
    spread_ellipsis(labels, rank - named);
    covered = std::max(covered, rank - named);
  }
  if (arrow != std::string_view::npos) {
    equation.result = read_labels(to, text.substr(arrow + 2));
    spread_ellipsis(equation.result, covered);
    return equation;
  }
  // What only one operand names, by the alphabet, capitals first.
  std::map<int, int> counts;
  for (const auto& labels : equation.operands) {
    for (const int label : labels) ++counts[label];
  }
  for (size_t i = covered; i > 0; --i) equation.result.push_back(kEllipsis + static_cast<int>(i));
  for (const auto& [label, count] : counts) {
    if (label < kEllipsis && count == 1) equation.result.push_back(label);
  }
  return equation;
}

// A label that an operand has twice stands for the diagonal, which becomes its last dim.
void take_diagonals(Decomposition& to, Node*& operand, std::vector<int>& labels) {
  for (size_t i = 0; i < labels.size();) {
    const auto first = labels.begin() + static_cast<std::ptrdiff_t>(i);
    const auto second = std::find(first + 1, labels.end(), *first);
    if (second == labels.end()) {
      ++i;
      continue;
    }
    const int label = *first;
    operand = to.make("aten.diagonal.default", {operand, 0, static_cast<int64_t>(i),
                                                static_cast<int64_t>(second - labels.begin())});
    labels.erase(second);
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    labels.push_back(label);
  }
}

// The operand with all labels as dims, in their order; 1 where it has none.
Node* aligned(Decomposition& to, Node* operand, const std::vector<int>& labels,
              const std::vector<int>& order) {
  Dims dims;
  auto next = static_cast<int64_t>(labels.size());
  for (const int label : order) {
    const auto found = std::ranges::find(labels, label);
    dims.push_back(found == labels.end() ? next++ : found - labels.begin());
  }
  for (auto rank = static_cast<int64_t>(labels.size()); rank < next; ++rank) {
    operand = to.make("aten.unsqueeze.default", {operand, rank});
  }
  return to.permute(operand, dims);
}

bool is_one(const Node* node, size_t dim) { return node->tensor()->sizes.at(dim) == SymInt(1); }

// sum(a * b) over `summed`, which stay as dims of 1, by one batched product.
Node* summed_product(Decomposition& to, Node* a, Node* b, const Dims& summed) {
  if (summed.empty()) return to.make("aten.mul.Tensor", {a, b});
  const size_t rank = a->tensor()->rank();
  Dims both, left_only, right_only;
  SymInt both_size = 1, left_size = 1, right_size = 1, summed_size = 1;
  for (size_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<int64_t>(i);
    const bool in_a = !is_one(a, i);
    const bool in_b = !is_one(b, i);
    if (std::ranges::count(summed, dim) != 0) {
      const ArgumentList rest = {Dims{dim}, true};
      if (in_a && in_b) {
        summed_size = summed_size * a->tensor()->sizes[i];
      } else if (in_a) {
        a = to.make("aten.sum.dim_IntList", {a, rest[0], rest[1]});
      } else if (in_b) {
        b = to.make("aten.sum.dim_IntList", {b, rest[0], rest[1]});
      }
    } else if (in_a && in_b) {
      both.push_back(dim);
      both_size = both_size * a->tensor()->sizes[i];
    } else if (in_a) {
      left_only.push_back(dim);
      left_size = left_size * a->tensor()->sizes[i];
    } else {
      right_only.push_back(dim);
      right_size = right_size * b->tensor()->sizes[i];
    }
  }
  const auto chained = [](std::initializer_list<const Dims*> lists) {
    Dims all;
    for (const Dims* list : lists) all.insert(all.end(), list->begin(), list->end());
    return all;
  };
  std::vector<SymInt> sizes;
  for (const int64_t dim : both) sizes.push_back(a->tensor()->sizes[static_cast<size_t>(dim)]);
  for (const int64_t dim : left_only) sizes.push_back(a->tensor()->sizes[static_cast<size_t>(dim)]);
  sizes.resize(sizes.size() + summed.size(), SymInt(1));
  for (const int64_t dim : right_only)
    sizes.push_back(b->tensor()->sizes[static_cast<size_t>(dim)]);
  a = to.reshape(to.permute(a, chained({&both, &left_only, &summed, &right_only})),
                 {both_size, left_size, summed_size});
  b = to.reshape(to.permute(b, chained({&both, &summed, &right_only, &left_only})),
                 {both_size, summed_size, right_size});
  Node* product = to.reshape(to.make("aten.bmm.default", {a, b}), sizes);
  const Dims order = chained({&both, &left_only, &summed, &right_only});
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return to.permute(product, back);
}

}  // namespace

void decompose_einsum(Decomposition& to) {
  const Argument text = to.arg(0, "equation");
  const Argument list = to.arg(1, "tensors");
  if (text.get<std::string>() == nullptr || list.list() == nullptr) {
    to.refuse("its equation or operands are missing");
  }
  std::vector<Node*> operands;
  for (const Argument& item : *list.list()) {
    if (item.node() == nullptr || item.node()->tensor() == nullptr) {
      to.refuse("an operand is no tensor");
    }
    operands.push_back(item.node());
  }
  Equation equation = read_equation(to, *text.get<std::string>(), operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    take_diagonals(to, operands[i], equation.operands[i]);
  }
  for (size_t i = 0; i < equation.result.size(); ++i) {
    if (std::ranges::count(equation.result, equation.result[i]) != 1) {
      to.refuse("its result has a label twice");
    }
  }
  // Dims of the result first, then those that are summed, by the alphabet.
  std::vector<int> order = equation.result;
  std::map<int, size_t> last_operand;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (const int label : equation.operands[i]) last_operand[label] = i;
  }
  for (const int label : order) {
    if (!last_operand.contains(label)) to.refuse("its result has a label that no operand has");
  }
  for (const auto& [label, last] : last_operand) {
    if (std::ranges::count(order, label) == 0) order.push_back(label);
  }
  const size_t kept = equation.result.size();
  std::vector<Node*> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.push_back(aligned(to, operands[i], equation.operands[i], order));
  }
  Node* result = inputs.front();
  if (inputs.size() > 1) {
    Dims alone;  // summed dims that no later operand has
    for (size_t dim = kept; dim < order.size(); ++dim) {
      if (last_operand.at(order[dim]) == 0) alone.push_back(static_cast<int64_t>(dim));
    }
    if (!alone.empty()) result = to.make("aten.sum.dim_IntList", {result, alone, true});
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    Dims both;
    Dims left_only;
    Dims right_only;
    for (size_t dim = kept; dim < order.size(); ++dim) {
      if (last_operand.at(order[dim]) != i) continue;
      const bool in_left = !is_one(result, dim);
      const bool in_right = !is_one(inputs[i], dim);
      (in_left && in_right ? both
       : in_left           ? left_only
                           : right_only)
          .push_back(static_cast<int64_t>(dim));
    }
    Node* right = inputs[i];
    if (!left_only.empty()) result = to.make("aten.sum.dim_IntList", {result, left_only, true});
    if (!right_only.empty()) right = to.make("aten.sum.dim_IntList", {right, right_only, true});
    result = summed_product(to, result, right, both);
  }
  if (order.size() > kept) {
    if (inputs.size() > 1) {
      std::vector<SymInt> sizes = result->tensor()->sizes;
      sizes.resize(kept);
      result = to.reshape(result, sizes);
    } else {
      Dims rest;
      for (size_t dim = kept; dim < order.size(); ++dim) rest.push_back(static_cast<int64_t>(dim));
      result = to.make("aten.sum.dim_IntList", {result, rest});
    }
  }
  to.replace(result);
}

}  // namespace vitrine::aot
