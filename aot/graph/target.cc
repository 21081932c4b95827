#include "aot/graph/target.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace vitrine::aot {
namespace {

struct Prefix {
  Dialect dialect;
  std::string_view text;
};

// The first match wins, so "torch.ops." must come after "torch.ops.higher_order.".
constexpr std::array kPrefixes = {
    Prefix{Dialect::kEdge, "executorch.exir.dialects.edge._ops."},
    Prefix{Dialect::kHigherOrder, "torch.ops.higher_order."},
    Prefix{Dialect::kAten, "torch.ops."},
};

std::string fx_text(std::string_view name, Dialect dialect) {
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.dialect == dialect) return std::string(prefix.text) + std::string(name);
  }
  // FX prints names of Python's module "_operator" without the underscore: "operator.getitem".
  constexpr std::string_view kOperator = "_operator.";
  return std::string(name.starts_with(kOperator) ? name.substr(1) : name);
}

}  // namespace

Target Target::of(std::string_view name, Dialect dialect) { return of(name, dialect, nullptr); }

Target Target::of(const Operator& declared, Dialect dialect) {
  return of(declared.target, dialect, &declared);
}

Target Target::of(std::string_view name, Dialect dialect, const Operator* declared) {
  using Key = std::tuple<Dialect, std::string_view, const Operator*>;
  static std::mutex mutex;
  static auto& names = *new std::map<Key, std::unique_ptr<const InternedName>>;  // never freed
  const std::lock_guard lock(mutex);
  const auto found = names.find({dialect, name, declared});
  if (found != names.end()) return Target(found->second.get());
  auto interned = std::make_unique<const InternedName>(
      InternedName{std::string(name), dialect, fx_text(name, dialect), declared});
  const Key key{dialect, interned->name, declared};
  return Target(names.emplace(key, std::move(interned)).first->second.get());
}

Target Target::parse(std::string_view text) {
  for (const Prefix& prefix : kPrefixes) {
    if (text.starts_with(prefix.text)) return of(text.substr(prefix.text.size()), prefix.dialect);
  }
  return of(text, Dialect::kPython);
}

std::string_view Target::name_space() const {
  const std::string_view name = interned_->name;
  return name.substr(0, name.find('.'));
}

std::string_view Target::op() const {
  std::string_view name = interned_->name;
  name.remove_prefix(std::min(name.find('.') + 1, name.size()));
  return name.substr(0, name.find('.'));
}

std::string_view Target::overload() const {
  const std::string_view name = interned_->name;
  const size_t first = name.find('.');
  if (first == std::string_view::npos) return {};
  const size_t second = name.find('.', first + 1);
  return second == std::string_view::npos ? std::string_view() : name.substr(second + 1);
}

const Operator* operator_of(Target target) {
  if (target.is_declared()) return target.interned_->declared;
  return target ? find_operator(target.name()) : nullptr;
}

bool has_kernel(Target target) {
  const Operator* op = operator_of(target);
  return op != nullptr && !op->kernel.empty();
}

bool is_quantization(Target target) {
  return target &&
         (target.name_space() == "quantized_decomposed" || target.name_space() == "torchao");
}

bool is_in_place(Target target) {
  if (const Operator* op = operator_of(target)) return op->is_in_place();
  return target.op().ends_with('_') && !target.op().ends_with("__");
}

bool has_unknown_effects(Target target) {
  const bool is_operator = target.dialect() == Dialect::kAten || target.dialect() == Dialect::kEdge;
  return is_operator && target.name_space() != "aten" && operator_of(target) == nullptr;
}

Target getitem() {
  static const Target kGetitem = Target::of("_operator.getitem", Dialect::kPython);
  return kGetitem;
}

}  // namespace vitrine::aot
