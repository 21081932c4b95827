#include "aot/quantize/observer_groups.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

class Grouping {
 public:
  Grouping(const ExportedProgram& program, Annotations& to) : program_(program), to_(to) {}

  void run() {
    collect();
    parents_.resize(uses_.size());
    std::iota(parents_.begin(), parents_.end(), size_t{0});
    join_shared();
    join_uses_of_same_tensor();
    make_groups();
  }

 private:
  // True if the call writes in place to a buffer of the model. Such a buffer stays float.
  bool is_written_buffer(const Node& tensor, const Node& call) const {
    return is_in_place(call.target()) && is_stored(program_, tensor) && !call.args().empty() &&
           call.args()[0].node() == &tensor;
  }

  void collect() {
    size_t position = 0;
    for (Node& node : program_.graph->nodes()) {
      positions_[&node] = position++;
      const auto found = to_.calls.find(&node);
      if (found == to_.calls.end()) continue;
      Annotation& annotation = found->second;
      if (node.is_call()) {
        std::erase_if(annotation.inputs,
                      [&](const auto& input) { return is_written_buffer(*input.first, node); });
      }
      for (const auto& [tensor, spec] : annotation.inputs) add({tensor, &node}, spec);
      if (annotation.output) add({&node, nullptr}, *annotation.output);
    }
  }

  void add(const TensorUse& use, const UseSpec& spec) {
    index_.emplace(use, uses_.size());
    uses_.push_back(use);
    specs_.push_back(spec);
    if (use.user != nullptr) by_tensor_[use.tensor].push_back(uses_.size() - 1);
  }

  // A use that shares an observer has the int8 spec of the use that owns the observer.
  const Int8Spec& root_spec(size_t at) const {
    for (size_t steps = 0; steps <= uses_.size(); ++steps) {
      if (const auto* spec = std::get_if<Int8Spec>(&specs_[at])) return *spec;
      at = shared_index(at);
    }
    fail_at(*uses_[at].tensor, "the quantization specs refer to each other in a cycle");
  }

  size_t shared_index(size_t at) const {
    const auto found = index_.find(std::get<TensorUse>(specs_[at]));
    if (found == index_.end())
      fail_at(*uses_[at].tensor, "the quantization spec refers to an unknown tensor");
    return found->second;
  }

  size_t root(size_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void join(size_t a, size_t b) {
    const size_t first = root(a);
    const size_t second = root(b);
    parents_[std::max(first, second)] = std::min(first, second);
  }

  void join_shared() {
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (std::holds_alternative<TensorUse>(specs_[i])) join(i, shared_index(i));
    }
  }

  void join_uses_of_same_tensor() {
    for (const auto& [tensor, edges] : by_tensor_) {
      for (size_t i = 0; i < edges.size(); ++i) {
        for (size_t j = i + 1; j < edges.size(); ++j) join_if_equal(edges[i], edges[j]);
        const auto output = index_.find(TensorUse{tensor, nullptr});
        if (output != index_.end()) join_if_equal(edges[i], output->second);
      }
    }
  }
  void join_if_equal(size_t a, size_t b) {
    if (root_spec(a) == root_spec(b)) join(a, b);
  }

  void make_groups() {
    std::map<size_t, size_t> group_of_root;
    for (size_t i = 0; i < uses_.size(); ++i) {
      const size_t top = root(i);
      const auto [found, is_new] = group_of_root.emplace(top, to_.groups.size());
      if (is_new) to_.groups.push_back({.spec = root_spec(i), .uses = {}, .tensors = {}});
      to_.groups[found->second].uses.push_back(uses_[i]);
      to_.group_of.emplace(uses_[i], found->second);
    }
    for (size_t i = 0; i < to_.groups.size(); ++i) find_tensors(i);
  }

  void find_tensors(size_t index) {
    std::vector<Node*>& tensors = to_.groups[index].tensors;
    for (const TensorUse& use : to_.groups[index].uses) {
      if (std::ranges::find(tensors, use.tensor) == tensors.end()) tensors.push_back(use.tensor);
    }
    std::ranges::sort(tensors, {}, [&](const Node* node) { return positions_.at(node); });
  }

  const ExportedProgram& program_;
  Annotations& to_;
  std::vector<TensorUse> uses_;
  std::vector<UseSpec> specs_;
  std::map<TensorUse, size_t> index_;
  std::map<Node*, std::vector<size_t>> by_tensor_;
  std::unordered_map<const Node*, size_t> positions_;
  std::vector<size_t> parents_;
};

}  // namespace

void find_groups(const ExportedProgram& program, Annotations& annotations) {
  Grouping(program, annotations).run();
}

}  // namespace vitrine::aot
