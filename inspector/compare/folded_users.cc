#include "inspector/compare/folded_users.h"

#include <algorithm>
#include <array>
#include <set>

#include "inspector/join/op_names.h"

namespace vitrine::inspector {

using etrecord::EdgeGraph;
using etrecord::EdgeNode;

bool may_be_folded(std::string_view op) {
  constexpr std::array<std::string_view, 8> kOps = {"batch_norm", "relu", "hardtanh", "clamp",
                                                    "add",        "sub",  "mul",      "div"};
  return std::ranges::count(kOps, op) != 0;
}

bool may_hold_batch_norm(std::string_view op) {
  constexpr std::array<std::string_view, 5> kOps = {"convolution", "linear", "addmm", "mm", "bmm"};
  return std::ranges::count(kOps, op) != 0;
}

FoldedUsers::FoldedUsers(const EdgeGraph& graph, const EdgeGraph& other, Alignment alignment)
    : graph_(graph), by_handle_(alignment == Alignment::kHandles), users_(graph.nodes.size()) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const size_t input : graph.nodes[i].inputs) users_[input].push_back(i);
    ++missing_[key_of(graph.nodes[i])];
  }
  for (const EdgeNode& node : other.nodes) {
    int& missing = missing_[key_of(node)];
    missing = by_handle_ ? 0 : missing - 1;  // a handle needs only one node
  }
}

std::string FoldedUsers::key_of(const EdgeNode& node) const {
  return by_handle_ ? std::to_string(node.debug_handle)
                    : short_name(node.target) + " " + node.module_path;
}

std::string FoldedUsers::op_of(size_t node) const { return short_name(graph_.nodes[node].target); }

std::vector<size_t> FoldedUsers::of(size_t node) const {
  std::vector<size_t> found = missing_users(node);
  std::erase_if(found, [&](size_t user) { return !may_be_folded(op_of(user)); });
  return found;
}

bool FoldedUsers::has_composite(size_t node) const {
  return std::ranges::any_of(missing_users(node),
                             [&](size_t user) { return !may_be_folded(op_of(user)); });
}

std::vector<size_t> FoldedUsers::missing_users(size_t node) const {
  std::vector<size_t> found;
  std::set<size_t> seen;
  std::vector<size_t> open = {node};
  while (!open.empty()) {
    const size_t producer = open.back();
    open.pop_back();
    for (const size_t user : users_[producer]) {
      if (!seen.insert(user).second) continue;
      const std::string op = op_of(user);
      if (op == "quantize" || op == "dequantize") {
        open.push_back(user);
      } else if (missing_.at(key_of(graph_.nodes[user])) > 0) {
        found.push_back(user);
      }
    }
  }
  return found;
}

}  // namespace vitrine::inspector
