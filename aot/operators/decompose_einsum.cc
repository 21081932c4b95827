// Decomposition of einsum. Each operand gets one dim per label of the equation. Batched matrix
// products then multiply the operands from left to right.
#include <algorithm>
#include <map>
#include <string>

#include "aot/operators/decomposition.h"
#include "aot/operators/einsum.h"

namespace vitrine::aot {
namespace {

// The labels of the operands and the result. Each dim that an ellipsis covers has its own label.
struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

constexpr int kEllipsis =
    1000;  // the dims of an ellipsis have the labels 1001, 1002... from the last

std::vector<int> read_labels(Decomposition& to, std::string_view text) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (std::ranges::count(labels, kEllipsis) != 0)
        to.refuse("an operand of the equation has two ellipses");
      labels.push_back(kEllipsis);
      i += 2;
    } else if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z')) {
      labels.push_back(text[i]);
    } else {
      to.refuse("the equation contains a character that is not a letter, comma, ellipsis or arrow");
    }
  }
  return labels;
}

// Replaces the ellipsis in `labels` with one label for each of the `dims` dims that it covers.
void expand_ellipsis(std::vector<int>& labels, size_t dims) {
  const auto ellipsis = std::ranges::find(labels, kEllipsis);
  if (ellipsis == labels.end()) return;
  std::vector<int> covered;
  for (size_t i = dims; i > 0; --i) covered.push_back(kEllipsis + static_cast<int>(i));
  const auto next = labels.erase(ellipsis);
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
  if (equation.operands.size() != operands.size())
    to.refuse("the equation and the call have different numbers of operands");
  size_t covered = 0;  // number of dims that the largest ellipsis covers
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<int>& labels = equation.operands[i];
    const bool has_ellipsis = std::ranges::count(labels, kEllipsis) != 0;
    const size_t named = labels.size() - (has_ellipsis ? 1 : 0);
    const size_t rank = operands[i]->tensor()->rank();
    if (named > rank || (!has_ellipsis && named < rank)) {
      to.refuse(
          "the number of dims of an operand differs from the number of its labels in the equation");
    }
    expand_ellipsis(labels, rank - named);
    covered = std::max(covered, rank - named);
  }
  if (arrow != std::string_view::npos) {
    equation.result = read_labels(to, text.substr(arrow + 2));
    expand_ellipsis(equation.result, covered);
    return equation;
  }
  // In an equation without an arrow, the result has the labels that occur only once, in
  // alphabetical order with capitals first.
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

// If a label occurs twice in an operand, replaces the two dims with their diagonal as the last dim.
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

// Permutes the operand into the label order `order`. A missing label becomes a dim of size 1.
Node* aligned(Decomposition& to, Node* operand, const std::vector<int>& labels,
              const std::vector<int>& order) {
  Dims dims;
  auto next = static_cast<int64_t>(labels.size());
  for (const int label : order) {
    const auto found = std::ranges::find(labels, label);
    dims.push_back(found == labels.end() ? next++ : found - labels.begin());
  }
  for (auto rank = static_cast<int64_t>(labels.size()); rank < next; ++rank) {
    operand = to.unsqueeze(operand, rank);
  }
  return to.permute(operand, dims);
}

bool is_one(const Node* node, size_t dim) { return node->tensor()->sizes.at(dim) == SymInt(1); }

SymInt product_of(const Node* x, const Dims& dims) {
  SymInt product = 1;
  for (const int64_t dim : dims) product = product * x->tensor()->sizes[static_cast<size_t>(dim)];
  return product;
}

Dims chained(std::initializer_list<const Dims*> lists) {
  Dims all;
  for (const Dims* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// Sums `x` over `dims`, which stay in the result with size 1.
Node* summed(Decomposition& to, Node* x, const Dims& dims) {
  return dims.empty() ? x : to.make("aten.sum.dim_IntList", {x, dims, true});
}

// Computes sum(a * b) over dims that both operands have, with one batched matrix product. The
// summed dims stay in the result with size 1.
Node* summed_product(Decomposition& to, Node* a, Node* b, const Dims& over) {
  if (over.empty()) return to.mul(a, b);
  Dims both, left_only, right_only;
  for (size_t i = 0; i < a->tensor()->rank(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    if (std::ranges::count(over, dim) != 0) continue;
    (is_one(a, i) ? right_only : is_one(b, i) ? left_only : both).push_back(dim);
  }
  const Dims order = chained({&both, &left_only, &over, &right_only});
  Sizes sizes;
  for (const int64_t dim : order) {
    const bool in_right = std::ranges::count(right_only, dim) != 0;
    const bool is_summed = std::ranges::count(over, dim) != 0;
    const Node* from = in_right ? b : a;
    sizes.push_back(is_summed ? SymInt(1) : from->tensor()->sizes[static_cast<size_t>(dim)]);
  }
  const SymInt batch = product_of(a, both);
  const SymInt inner = product_of(a, over);
  const SymInt rows = product_of(a, left_only);
  const SymInt columns = product_of(b, right_only);
  a = to.reshape(to.permute(a, order), {batch, rows, inner});
  b = to.reshape(to.permute(b, chained({&both, &over, &right_only, &left_only})),
                 {batch, inner, columns});
  Node* product = to.reshape(to("bmm", a, b), sizes);
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return to.permute(product, back);
}

// Computes sum(a * b) over `dims`. If a dim has size 1 in one operand, first sums the other operand
// over this dim.
Node* contracted(Decomposition& to, Node* a, Node* b, const Dims& dims) {
  Dims both, left_only, right_only;
  for (const int64_t dim : dims) {
    const auto at = static_cast<size_t>(dim);
    (is_one(a, at) ? right_only : is_one(b, at) ? left_only : both).push_back(dim);
  }
  a = summed(to, a, left_only);
  b = summed(to, b, right_only);
  return summed_product(to, a, b, both);
}

std::vector<Node*> operands_of(Decomposition& to, const Argument& list) {
  if (list.list() == nullptr) to.refuse("tensors must be a list");
  std::vector<Node*> operands;
  for (const Argument& item : *list.list()) {
    if (item.node() == nullptr || item.node()->tensor() == nullptr) {
      to.refuse("every operand must be a tensor");
    }
    operands.push_back(item.node());
  }
  return operands;
}

std::map<int, size_t> last_operands(const Equation& equation) {
  std::map<int, size_t> last;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    for (const int label : equation.operands[i]) last[label] = i;
  }
  return last;
}

// The labels of the result, followed by the summed labels in alphabetical order.
std::vector<int> label_order(Decomposition& to, const Equation& equation,
                             const std::map<int, size_t>& last_operand) {
  std::vector<int> order = equation.result;
  for (const int label : order) {
    if (std::ranges::count(order, label) != 1)
      to.refuse("the result of the equation repeats a label");
    if (!last_operand.contains(label))
      to.refuse("the result of the equation has a label that no operand has");
  }
  for (const auto& [label, last] : last_operand) {
    if (std::ranges::count(order, label) == 0) order.push_back(label);
  }
  return order;
}

}  // namespace

void decompose_einsum(Decomposition& to) {
  const Argument text = to.arg("equation");
  if (text.get<std::string>() == nullptr) to.refuse("the equation is missing");
  std::vector<Node*> operands = operands_of(to, to.arg("tensors"));
  Equation equation = read_equation(to, *text.get<std::string>(), operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    take_diagonals(to, operands[i], equation.operands[i]);
  }
  const std::map<int, size_t> last_operand = last_operands(equation);
  const std::vector<int> order = label_order(to, equation, last_operand);
  const size_t kept = equation.result.size();
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = aligned(to, operands[i], equation.operands[i], order);
  }
  // Returns the summed dims that occur in this operand, but in no later operand. The product with
  // this operand sums over these dims. Operand 0 is summed before the first product.
  const auto done_at = [&](size_t operand) {
    Dims dims;
    for (size_t dim = kept; dim < order.size(); ++dim) {
      if (last_operand.at(order[dim]) == operand) dims.push_back(static_cast<int64_t>(dim));
    }
    return dims;
  };
  const Dims first = done_at(0);
  if (operands.size() == 1) {
    return to.replace(first.empty() ? operands[0]
                                    : to.make("aten.sum.dim_IntList", {operands[0], first}));
  }
  Node* result = summed(to, operands[0], first);
  for (size_t i = 1; i < operands.size(); ++i) {
    result = contracted(to, result, operands[i], done_at(i));
  }
  if (order.size() > kept) {
    Sizes sizes = result->tensor()->sizes;
    sizes.resize(kept);
    result = to.reshape(result, sizes);
  }
  to.replace(result);
}

}  // namespace vitrine::aot
