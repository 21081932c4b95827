#include "aot/emit/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/graph/node_error.h"
#include "aot/operators/call.h"

namespace vitrine::aot {
namespace {

constexpr std::array<std::string_view, 5> kStorageArguments = {"dtype", "layout", "device",
                                                               "pin_memory", "memory_format"};

}  // namespace

void check_arguments(const Node& node, const Operator& op) {
  const auto positional =
      std::ranges::count(op.kernel_arguments, false, &OperatorArgument::is_keyword_only);
  if (node.args().size() > static_cast<size_t>(positional)) {
    fail_at(node, fmt::format("has {} positional arguments, but its kernel has {} parameters",
                              node.args().size(), positional));
  }
  for (const auto& [name, value] : node.kwargs()) {
    const bool is_known =
        std::ranges::count(op.kernel_arguments, name, &OperatorArgument::name) != 0;
    if (!is_known && std::ranges::count(kStorageArguments, name) == 0) {
      fail_at(node, fmt::format("has an argument {}, but its kernel has no such parameter", name));
    }
  }
}

Argument argument_for(const Node& node, const Argument* given, const OperatorArgument& to,
                      const MethodTensors& tensors) {
  if (given == nullptr) given = node.kwarg(to.name);
  if (given == nullptr && !to.has_default && !to.is_optional) {
    fail_at(node, fmt::format("lacks the argument {}", to.name));
  }
  Argument argument = given == nullptr ? default_of(to) : *given;
  // Uses the result's dim order, because kernels may not support the dim order in the call.
  const std::vector<size_t>& results = tensors.of(node);
  if (to.name != "dim_order" || argument.list() == nullptr || results.size() != 1) return argument;
  const std::vector<uint8_t>& order = tensors.tensor(results[0]).value.dim_order;
  return std::vector<int64_t>(order.begin(), order.end());
}

}  // namespace vitrine::aot
