#include <algorithm>
#include <array>

#include "aot/operators/call.h"
#include "aot/operators/infer.h"
#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kWhat = "copy replaced by a view or removed";

// Operators whose results always have the input's elements in the same order.
constexpr std::array<std::string_view, 9> kReshapes = {"aten.view_copy.default",
                                                       "aten.squeeze_copy.default",
                                                       "aten.squeeze_copy.dim",
                                                       "aten.squeeze_copy.dims",
                                                       "aten.unsqueeze_copy.default",
                                                       "aten.alias_copy.default",
                                                       "aten.clone.default",
                                                       "dim_order_ops._clone_dim_order.default",
                                                       "dim_order_ops._to_dim_order_copy.default"};
// Operators whose result equals the input if both have the same number of elements.
constexpr std::array<std::string_view, 3> kSelections = {
    "aten.expand_copy.default", "aten.slice_copy.Tensor", "aten.select_copy.int"};

const SymInt kOne(1);

// True if a permutation keeps the order of dims whose size is not 1.
bool keeps_order(const Node& permutation, const TensorSpec& input) {
  int64_t last = -1;
  for (const int64_t dim : Call(permutation).integers("dims")) {
    const auto from = static_cast<int64_t>(wrapped(dim, input.rank()));
    if (input.sizes.at(static_cast<size_t>(from)) == kOne) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

bool keeps_elements(const Node& node, const TensorSpec& input, const TensorSpec& result) {
  const std::string& target = node.target().name();
  if (std::ranges::count(kReshapes, target) != 0) return input.dtype == result.dtype;
  if (std::ranges::count(kSelections, target) != 0) {
    return input.sizes == result.sizes || (input.is_static() && result.is_static() &&
                                           product_of(input.sizes) == product_of(result.sizes));
  }
  return target == "aten.permute_copy.default" && keeps_order(node, input);
}

// Returns the sizes as an argument of view_copy, or None if more than one size is dynamic.
Argument sizes_argument(const TensorSpec& spec) {
  ArgumentList sizes;
  size_t num_dynamic = 0;
  for (const SymInt& size : spec.sizes) {
    num_dynamic += size.is_static() ? 0 : 1;
    sizes.emplace_back(size.is_static() ? size.value() : -1);
  }
  return num_dynamic > 1 ? Argument() : Argument::list(std::move(sizes));
}

class CopyReplacer {
 public:
  CopyReplacer(ExportedProgram& program, Changes& changes) : program_(program), changes_(changes) {}

  void visit(Node& node) {
    Node* input = tensor_arg(node, 0);
    const TensorSpec* result = node.tensor();
    if (input == nullptr || result == nullptr) return;
    if (!keeps_elements(node, *input->tensor(), *result)) return;
    if (have_same_layout(*input->tensor(), *result)) return replace(node, *input);
    if (!is_contiguous(*input->tensor()) || !is_contiguous(*result)) return;
    Node* base = input;
    while (calls(base, kView) && is_contiguous(*base->need_node(0).tensor())) {
      base = &base->need_node(0);
    }
    if (have_same_layout(*base->tensor(), *result) && can_replace(node, *base)) {
      return replace(node, *base);
    }
    if (!calls(&node, kView)) return replace_by_view(node, *base);
    if (base != input) node.set_arg(0, base);
  }

 private:
  static constexpr std::string_view kView = "aten.view_copy.default";

  void replace(Node& node, Node& other) {
    if (!can_replace(node, other)) return;
    // Removed views are not reported, because views do not run code.
    if (!calls(&node, kView)) changes_.remove(kWhat, node);
    replace_node(program_, node, other);
  }

  void replace_by_view(Node& node, Node& base) {
    Argument sizes = sizes_argument(*node.tensor());
    if (sizes.is_none()) return;
    changes_.remove(kWhat, node);
    Node* view = insert_like(node, edge(kView), {&base, std::move(sizes)}, {}, node.meta.value);
    replace_node(program_, node, *view);
  }

  ExportedProgram& program_;
  Changes& changes_;
};

}  // namespace

void copies_to_views(ExportedProgram& program, Changes& changes) {
  CopyReplacer replacer(program, changes);
  for_each_call(*program.graph, [&](Node& node) { replacer.visit(node); });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
