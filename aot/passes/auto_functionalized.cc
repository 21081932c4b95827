#include "aot/passes/auto_functionalized.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/graph/graph.h"
#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kBases = "_all_bases";

Target functional_target() {
  static const Target kTarget = Target::of("auto_functionalized_v2", Dialect::kHigherOrder);
  return kTarget;
}

// An auto_functionalized_v2 call returns the operator's results, or None if the operator has none,
// and then the final values of the written arguments. Returns the index of the first final value.
size_t num_result_items(const Operator& op) { return std::max<size_t>(op.results.size(), 1); }

std::string base_index(const OperatorArgument& argument) {
  return fmt::format("_{}_base_index", argument.name);
}

}  // namespace

std::vector<const OperatorArgument*> written_arguments(const Operator& op) {
  std::vector<const OperatorArgument*> found;
  for (const OperatorArgument& argument : op.arguments) {
    if (argument.is_written) found.push_back(&argument);
  }
  return found;
}

bool writes_arguments(const Node& node) {
  const Operator* op = node.is_call() && node.target().dialect() == Dialect::kAten
                           ? operator_of(node.target())
                           : nullptr;
  if (op == nullptr) return false;
  const size_t written = written_arguments(*op).size();
  return written > (op->is_in_place() ? 1 : 0);
}

Node& insert_auto_functionalized(Node& node) {
  const Operator& op = *operator_of(node.target());
  ArgumentMap kwargs;
  ArgumentMap indices;
  ArgumentList bases;
  Value::Items values;
  if (const Value::Items* items = node.meta.value.items()) {
    values = *items;
  } else {
    values.push_back(node.meta.value);
  }
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    const OperatorArgument& argument = op.arguments[i];
    const Argument* value = i < node.args().size() ? node.arg(i) : node.kwarg(argument.name);
    if (value == nullptr) continue;
    if (!argument.is_written) {
      kwargs.emplace_back(argument.name, *value);
      continue;
    }
    indices.emplace_back(base_index(argument), static_cast<int64_t>(bases.size()));
    bases.push_back(*value);
    values.emplace_back(*value->node()->tensor());
  }
  kwargs.insert(kwargs.end(), indices.begin(), indices.end());
  kwargs.emplace_back(kBases, Argument::list(std::move(bases)));
  return *insert_like(node, functional_target(), {node.target()}, std::move(kwargs),
                      std::move(values));
}

Node& insert_getitem(Node& call, size_t index, Node& at) {
  Node* item = insert_like(at, getitem(), {&call, static_cast<int64_t>(index)}, {},
                           call.meta.value.items()->at(index));
  item->meta.origin = call.meta.origin;
  return *item;
}

bool is_auto_functionalized(const Node& node) { return node.calls(functional_target()); }

Node& insert_original_call(Node& node, std::vector<Node*>& bases) {
  const auto* target = node.need(0).get<Target>();
  const Operator* op = target == nullptr ? nullptr : operator_of(*target);
  const Argument* all_bases = node.kwarg(kBases);
  const Value::Items* values = node.meta.value.items();
  if (op == nullptr || all_bases == nullptr || all_bases->list() == nullptr || values == nullptr ||
      values->size() != num_result_items(*op) + all_bases->list()->size()) {
    fail_at(node, "the operator is unknown, or the arguments or results are malformed");
  }
  size_t num_used = 1;  // keyword arguments of the node that match an argument of the operator
  ArgumentList args;
  ArgumentMap kwargs;
  const auto add = [&](const OperatorArgument& argument, const Argument& value) {
    // An argument can be passed by position only if no argument before it is omitted.
    if (argument.is_keyword_only || &argument != &op->arguments[args.size()]) {
      kwargs.emplace_back(argument.name, value);
    } else {
      args.push_back(value);
    }
    ++num_used;
  };
  std::vector<Node*> found(all_bases->list()->size());
  for (const OperatorArgument& argument : op->arguments) {
    const Argument* value = node.kwarg(argument.is_written ? base_index(argument) : argument.name);
    if (value == nullptr) continue;
    if (!argument.is_written) {
      add(argument, *value);
      continue;
    }
    const auto* index = value->get<int64_t>();
    const bool is_valid =
        index != nullptr && *index >= 0 && static_cast<size_t>(*index) < found.size();
    Node* base = is_valid ? (*all_bases->list())[static_cast<size_t>(*index)].node() : nullptr;
    if (base == nullptr || base->tensor() == nullptr) {
      fail_at(node, fmt::format("argument {} is not a tensor", argument.name));
    }
    found[static_cast<size_t>(*index)] = base;
    add(argument, base);
  }
  if (num_used != node.kwargs().size() || std::ranges::count(found, nullptr) != 0) {
    fail_at(node, fmt::format("the keyword arguments do not match those of {}", target->name()));
  }
  bases = std::move(found);
  Value value =
      op->results.size() <= 1
          ? values->front()
          : Value(Value::Items(values->begin(),
                               values->begin() + static_cast<std::ptrdiff_t>(op->results.size())));
  return *insert_like(node, target->in(Dialect::kEdge), std::move(args), std::move(kwargs),
                      std::move(value));
}

}  // namespace vitrine::aot
