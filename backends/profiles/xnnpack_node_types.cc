#include "backends/profiles/xnnpack_node_types.h"

#include <algorithm>
#include <array>

namespace vitrine::xnnpack {
namespace {

struct Origin {
  std::string_view op;     // for example "add.Tensor"
  std::string_view nodes;  // for example "XNNConcatenate2, XNNConcatenate3"
};
#define NODES(...) #__VA_ARGS__
#define XNN_OPERATOR(op, rule, translation, nodes) Origin{op, nodes},
constexpr std::array kOrigins = {
#include "backends/xnnpack/runtime/reader/operators.inc"
};
#undef XNN_OPERATOR
#undef NODES

constexpr std::string_view kPrefix = "XNN";

bool has_node(std::string_view nodes, std::string_view type) {
  constexpr std::string_view kSeparator = ", ";
  while (!nodes.empty()) {
    const size_t end = std::min(nodes.find(kSeparator), nodes.size());
    if (nodes.substr(kPrefix.size(), end - kPrefix.size()) == type) return true;
    nodes.remove_prefix(std::min(end + kSeparator.size(), nodes.size()));
  }
  return false;
}

}  // namespace

bool is_op_of_node_type(std::string_view op, std::string_view type) {
  if (type.starts_with(kPrefix)) type.remove_prefix(kPrefix.size());
  return std::ranges::any_of(kOrigins, [&](const Origin& origin) {
    return origin.op.substr(0, origin.op.find('.')) == op && has_node(origin.nodes, type);
  });
}

}  // namespace vitrine::xnnpack
