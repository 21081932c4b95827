#include "operators/operator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

namespace vitrine {
namespace {

// A row of the operator table.
struct Row {
  std::string_view signature;
  std::optional<std::string_view> kernel_name = {};  // empty string: the default name
  std::string_view out_names = {};
  std::string_view same_as = {};
  bool belongs_to_core = true;
  bool is_never_kept = false;
  bool is_nondeterministic = false;
  std::optional<Promotion> promotion = {};
  Flops flops = {};

  template <class T>
  constexpr Row with(T Row::*column, const std::type_identity_t<T>& value) const {
    Row row = *this;
    row.*column = value;
    return row;
  }
};

constexpr Row kRows[] = {
#define OP(signature, ...) Row{signature} __VA_ARGS__,
#define KERNEL(...) .with(&Row::kernel_name, std::string_view{__VA_ARGS__})
#define OUTS(names) .with(&Row::out_names, names)
#define NOT_CORE .with(&Row::belongs_to_core, false)
#define PROMOTES(how) .with(&Row::promotion, Promotion::how)
#define NEVER_KEPT .with(&Row::is_never_kept, true)
#define NONDETERMINISTIC .with(&Row::is_nondeterministic, true)
#define SAME_AS(name) .with(&Row::same_as, name)
#define FLOPS(rule, ...) .with(&Row::flops, Flops{FlopsRule::rule __VA_OPT__(, ) __VA_ARGS__})
#include "operators/operators.inc"
};

// Converts a name to a target: "aten::add.Tensor" -> "aten.add.Tensor", "aten::view" ->
// "aten.view.default".
std::string target_of(std::string_view name) {
  const size_t colons = name.find("::");
  if (colons == std::string_view::npos) return std::string(name);
  const std::string_view op = name.substr(colons + 2);
  const bool has_overload = op.find('.') != std::string_view::npos;
  return std::string(name.substr(0, colons)) + "." + std::string(op) +
         (has_overload ? "" : ".default");
}

bool is_new_tensor(const OperatorArgument& result) {
  return result.type == ArgumentType::kTensor && result.alias == '\0';
}

std::string kernel_of(const Row& row, const Operator& op) {
  if (!row.kernel_name) return "";
  const std::string_view name = *row.kernel_name;
  if (name.find("::") != std::string_view::npos) return std::string(name);
  if (name.empty() && std::ranges::none_of(op.results, is_new_tensor)) return std::string(op.name);
  const size_t dot = op.name.find('.');
  const std::string packet(op.name.substr(0, dot));
  if (!name.empty()) return packet + "." + std::string(name);
  if (dot == std::string_view::npos) return packet + ".out";
  return std::string(op.name) + "_out";
}

// Arguments that describe the storage of a new tensor. A kernel does not get these arguments.
constexpr std::string_view kStorageArguments[] = {"dtype", "layout", "device", "pin_memory"};

bool has_storage_arguments(const Operator& op) {
  return std::ranges::all_of(kStorageArguments,
                             [&](std::string_view name) { return op.argument(name) != nullptr; });
}

std::string_view out_name(std::string_view& names, const OperatorArgument& result, size_t index,
                          size_t count) {
  constexpr std::string_view kNumbered[] = {"out0", "out1", "out2", "out3"};
  if (!names.empty()) {
    const size_t comma = std::min(names.find(", "), names.size());
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 2, names.size()));
    return name;
  }
  if (!result.name.empty()) return result.name;
  return count == 1 ? "out" : kNumbered[std::min(index, std::size(kNumbered) - 1)];
}

std::vector<OperatorArgument> kernel_arguments(const Row& row, const Operator& op) {
  std::vector<OperatorArgument> arguments = op.arguments;
  if (std::ranges::none_of(op.results, is_new_tensor)) return arguments;
  if (has_storage_arguments(op)) {
    std::erase_if(arguments, [](const OperatorArgument& argument) {
      return std::ranges::count(kStorageArguments, argument.name) != 0;
    });
  }
  std::string_view names = row.out_names;
  for (size_t i = 0; i < op.results.size(); ++i) {
    OperatorArgument out;
    out.name = out_name(names, op.results[i], i, op.results.size());
    out.type = ArgumentType::kTensor;
    out.is_list = op.results[i].is_list;
    out.is_keyword_only = true;
    out.is_written = true;
    arguments.push_back(std::move(out));
  }
  return arguments;
}

Operator make_operator(const Row& row) {
  Signature signature = parse_signature(row.signature);
  Operator op;
  op.name = signature.name;
  op.target = target_of(op.name);
  op.arguments = std::move(signature.arguments);
  op.results = std::move(signature.results);
  op.kernel = kernel_of(row, op);
  if (!op.kernel.empty()) op.kernel_arguments = kernel_arguments(row, op);
  op.is_core = !op.kernel.empty() && row.belongs_to_core;
  op.promotion = row.promotion;
  op.is_never_kept = row.is_never_kept;
  op.is_nondeterministic = row.is_nondeterministic;
  if (!row.same_as.empty()) op.same_as = target_of(row.same_as);
  op.flops = row.flops;
  return op;
}

// "aten.view.default" -> "aten.view_copy.default".
std::string copy_target(std::string_view target) {
  std::string name(target);
  return name.insert(name.rfind('.'), "_copy");
}

using Index = std::unordered_map<std::string_view, const Operator*>;

struct Table {
  std::vector<Operator> operators;
  Index by_target;

  Table() {
    operators.reserve(std::size(kRows));
    for (const Row& row : kRows) operators.push_back(make_operator(row));
    for (const Operator& op : operators) by_target.emplace(op.target, &op);
    for (Operator& op : operators) {
      if (op.may_alias()) op.copy = find(copy_target(op.target));
    }
  }

  const Operator* find(std::string_view target) const {
    const auto found = by_target.find(target);
    return found == by_target.end() ? nullptr : found->second;
  }

  const Operator* find_functional(std::string_view target) const {
    const size_t underscore = target.find("_.");
    if (underscore == std::string_view::npos) return nullptr;
    return find(std::string(target.substr(0, underscore)) +
                std::string(target.substr(underscore + 1)));
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

}  // namespace

const OperatorArgument* Operator::argument(std::string_view argument_name) const {
  const auto found = std::ranges::find(arguments, argument_name, &OperatorArgument::name);
  return found == arguments.end() ? nullptr : &*found;
}

bool Operator::may_alias() const {
  return std::ranges::any_of(results, [](const OperatorArgument& result) {
    return result.alias != '\0' && !result.is_written;
  });
}

std::vector<const OperatorArgument*> Operator::outs() const {
  std::vector<const OperatorArgument*> found;
  for (const OperatorArgument& argument : kernel_arguments) {
    if (argument.is_written && argument.is_keyword_only) found.push_back(&argument);
  }
  return found;
}

std::span<const Operator> operators() { return table().operators; }

const Operator* find_operator(std::string_view target) { return table().find(target); }

namespace {

void check_declared(const Operator& op, const std::string& text) {
  const auto fail = [&](const char* why) {
    throw std::invalid_argument("signature " + text + ": " + why);
  };
  if (op.name.find("::") == std::string_view::npos) fail("the name has no namespace");
  for (const OperatorArgument& argument : op.arguments) {
    if (argument.is_written && (argument.type != ArgumentType::kTensor || argument.is_list)) {
      fail("an argument that is written to must be a single tensor");
    }
  }
  for (const OperatorArgument& result : op.results) {
    if (!is_new_tensor(result) || result.is_optional) fail("each result must be a new tensor");
  }
}

}  // namespace

const Operator& declared_operator(std::string_view signature) {
  struct Declared {
    explicit Declared(std::string_view signature)
        : text(signature), op(make_operator(Row{.signature = text, .kernel_name = ""})) {
      check_declared(op, text);
    }
    std::string text;  // `op` contains views into this text
    Operator op;
  };
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, const Declared, std::less<>>;  // never freed
  const std::lock_guard lock(mutex);
  const auto found = all.find(signature);
  if (found != all.end()) return found->second.op;
  return all.try_emplace(std::string(signature), signature).first->second.op;
}

const Operator* find_functional(std::string_view target) { return table().find_functional(target); }

}  // namespace vitrine
