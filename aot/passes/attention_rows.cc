#include "aot/passes/attention_rows.h"

#include <algorithm>

#include "aot/graph/pass.h"
#include "aot/graph/tensor_spec.h"
#include "aot/operators/call.h"
#include "aot/passes/auto_functionalized.h"

namespace vitrine::aot {
namespace {

// True if a call between the two nodes may write to memory.
bool writes_between(const Node* from, const Node& to) {
  for (const Node* node = from->next(); node != nullptr && node != &to; node = node->next()) {
    if (node->is_call() && (is_in_place(node->target()) || writes_arguments(*node) ||
                            has_unknown_effects(node->target()))) {
      return true;
    }
  }
  return false;
}

bool is_full_slice(const Node& node) {
  const Node* source = node.need(0).node();
  return node.target().is("aten.slice.Tensor") && source != nullptr &&
         source->tensor() != nullptr && same(source->tensor()->sizes, node.tensor()->sizes);
}

// Traces keys or values back to the tensor from which they are read, one call at a time.
class RowTracer {
 public:
  AttentionRows trace(Node* node) {
    rows_.source = node;
    while (rows_.source->is_call() && rows_.source->tensor() != nullptr && step(*rows_.source)) {
    }
    return rows_;
  }

 private:
  int64_t head() const { return rows_.is_transposed ? kPosition : kHead; }
  int64_t position() const { return rows_.is_transposed ? kHead : kPosition; }

  // Moves from `node` to its input. Returns false if `node` is the source of the rows.
  bool step(Node& node) {
    const std::string& target = node.target().name();
    Node* input = node.args().empty() ? nullptr : node.need(0).node();
    if (input == nullptr || input->tensor() == nullptr) return false;
    const bool is_same = input->tensor()->dtype == node.tensor()->dtype &&
                         (target == "aten.to.dtype" || target == "aten.contiguous.default" ||
                          target == "aten.clone.default" || target == "aten.alias.default" ||
                          target == "aten.detach.default" || is_full_slice(node));
    if (is_same) return follow(node, input);
    if (is_op(node, {"slice", "narrow"})) return follow_prefix(node, input);
    if (target == "aten.transpose.int" || target == "aten.permute.default")
      return follow_transpose(node, input);
    if (rows_.is_repeated) return false;
    if (target == "aten.repeat_interleave.self_int") {
      const Call call(node);
      const Argument* dim = call.find("dim");
      if (dim == nullptr ||
          wrapped(call.integer("dim"), kAttentionRank) != static_cast<size_t>(head())) {
        return false;
      }
      rows_.is_repeated = true;
      return follow(node, input);
    }
    return is_op(node, {"reshape", "view", "_unsafe_view", "flatten"}) &&
           follow_repetition(node, input);
  }

  static bool is_op(const Node& node, std::initializer_list<std::string_view> ops) {
    return node.is_call() && node.target().name_space() == "aten" &&
           std::ranges::count(ops, node.target().op()) != 0;
  }
  bool follow(const Node& from, Node* to) {
    rows_.first_reader = &from;
    rows_.source = to;
    return true;
  }

  // Follows a slice that selects the first positions.
  bool follow_prefix(const Node& node, Node* input) {
    if (rows_.prefix != nullptr || input->tensor()->rank() != kAttentionRank) return false;
    const Call call(node);
    const Argument start = call.value("start");
    const bool is_first = start.is_none() || start == Argument(0);
    const auto dim = static_cast<int64_t>(wrapped(call.integer("dim", 0), kAttentionRank));
    if (dim != position() || !is_first || call.integer("step", 1) != 1) return false;
    rows_.prefix = &node;
    return follow(node, input);
  }

  // Follows a call that exchanges heads and positions.
  bool follow_transpose(const Node& node, Node* input) {
    if (input->tensor()->rank() != kAttentionRank) return false;
    const Call call(node);
    std::vector<int64_t> dims = {kBatch, kHead, kPosition, kValue};
    if (node.target().is("aten.permute.default")) {
      dims = call.integers("dims", kAttentionRank);
      for (int64_t& dim : dims) dim = static_cast<int64_t>(wrapped(dim, kAttentionRank));
    } else {
      std::swap(dims[wrapped(call.integer("dim0"), kAttentionRank)],
                dims[wrapped(call.integer("dim1"), kAttentionRank)]);
    }
    if (dims != std::vector<int64_t>{kBatch, kPosition, kHead, kValue}) return false;
    rows_.is_transposed = !rows_.is_transposed;
    return follow(node, input);
  }

  // Follows a reshape that repeats heads: [..., heads, 1, ...] -> [..., heads, n, ...] -> [...,
  // heads * n, ...].
  bool follow_repetition(const Node& node, Node* input) {
    const Node* expanded = input;
    while (is_op(*expanded, {"clone", "contiguous"})) expanded = expanded->need(0).node();
    if (!is_op(*expanded, {"expand"}) || node.tensor()->rank() != kAttentionRank) return false;
    const Node* single = expanded->need(0).node();
    while (is_op(*single, {"slice"}) && is_full_slice(*single)) single = single->need(0).node();
    if (!is_op(*single, {"unsqueeze"})) return false;
    Node* source = single->need(0).node();
    if (source->tensor()->rank() != kAttentionRank) return false;
    const auto at = static_cast<size_t>(head());
    const std::vector<SymInt>& sizes = source->tensor()->sizes;
    const std::vector<SymInt>& expanded_sizes = expanded->tensor()->sizes;
    if (wrapped(Call(*single).integer("dim"), kAttentionRank + 1) != at + 1 ||
        expanded_sizes.size() != kAttentionRank + 1) {
      return false;
    }
    std::vector<SymInt> repeated = sizes;
    repeated[at] = sizes[at] * expanded_sizes[at + 1];
    std::vector<SymInt> before = sizes;
    before.insert(before.begin() + static_cast<std::ptrdiff_t>(at) + 1, expanded_sizes[at + 1]);
    if (!same(repeated, node.tensor()->sizes) || !same(before, expanded_sizes)) return false;
    rows_.is_repeated = true;
    return follow(*single, source);
  }

  AttentionRows rows_;
};

}  // namespace

AttentionRows trace_rows(Node* node) { return RowTracer().trace(node); }

bool are_unchanged(const AttentionRows& rows, const Node& call) {
  return rows.first_reader == nullptr || !writes_between(rows.first_reader, call);
}

}  // namespace vitrine::aot
