// The target of a call: an interned operator name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operators/operator.h"

namespace vitrine::aot {

enum class Dialect : uint8_t {
  kAten,         // torch.ops.<ns>.<op>.<overload>: core ATen and other registered operators
  kEdge,         // the same operators, wrapped by ExecuTorch's edge dialect
  kHigherOrder,  // torch.ops.higher_order.<name>
  kPython,       // _operator.<name>, math.<name>, torch.sym_<name>
};

// A pointer to an interned name, which is cheap to copy and compare. Thread-safe. Names are never
// freed, so callers must limit the number of names from untrusted input.
class Target {
 public:
  Target() = default;  // the target of nodes that are not calls
  // Interns an operator's name, such as "aten.conv2d.default". The name must not have the prefix of
  // the dialect. Names in the dialect kPython include the module: "_operator.getitem".
  static Target of(std::string_view name, Dialect dialect = Dialect::kAten);
  // Interns an operator that is not in the operator table. `declared` must never be freed.
  static Target of(const Operator& declared, Dialect dialect = Dialect::kAten);
  // Parses "torch.ops.aten.conv2d.default", the form in .pt2 files and in graphs that FX prints.
  static Target parse(std::string_view text);

  explicit operator bool() const { return interned_ != nullptr; }
  const std::string& name() const { return interned_->name; }
  Dialect dialect() const { return interned_->dialect; }
  // Parts of a name such as "aten.conv2d.default". The overload may be empty.
  std::string_view name_space() const;
  std::string_view op() const;
  std::string_view overload() const;
  // The text that FX prints: "torch.ops.aten.conv2d.default".
  const std::string& text() const { return interned_->text; }
  // Returns the same operator in another dialect.
  Target in(Dialect dialect) const { return of(name(), dialect, interned_->declared); }
  bool is_declared() const { return interned_ != nullptr && interned_->declared != nullptr; }

  bool is(std::string_view name) const { return interned_ != nullptr && interned_->name == name; }
  friend bool operator==(Target a, Target b) { return a.interned_ == b.interned_; }

  struct InternedName {
    std::string name;
    Dialect dialect;
    std::string text;
    const Operator* declared;  // null if the operator is in the table or unknown
  };

 private:
  friend const Operator* operator_of(Target target);
  static Target of(std::string_view name, Dialect dialect, const Operator* declared);
  explicit Target(const InternedName* interned) : interned_(interned) {}
  const InternedName* interned_ = nullptr;
};

// Returns the target's declared operator or row of the operator table. Null for unknown operators.
const Operator* operator_of(Target target);
bool has_kernel(Target target);
// True for operators that quantize, dequantize or choose quantization parameters. Partitioners
// recognize quantized calls by these operators, so earlier passes must keep the operators.
bool is_quantization(Target target);
// True if the operator writes to its first argument. An unknown operator counts as in-place if its
// name ends in a single underscore.
bool is_in_place(Target target);

// True for unknown operators outside the aten namespace, which may write to any argument.
bool has_unknown_effects(Target target);

// Returns the target of getitem nodes, which select one of several results.
Target getitem();

}  // namespace vitrine::aot
