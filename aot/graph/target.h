// What a node calls: an interned operator name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operators/operator.h"

namespace vitrine::aot {

enum class Dialect : uint8_t {
  kAten,         // torch.ops.<ns>.<op>.<overload>, core ATen and other registered operators
  kEdge,         // the same operator, wrapped by ExecuTorch's edge dialect
  kHigherOrder,  // torch.ops.higher_order.<name>
  kPython,       // _operator.<name>, math.<name>, torch.sym_<name>
};

// A pointer to an interned name: cheap to copy and compare. Thread-safe; names are never freed, so
// callers bound how many they make from untrusted input.
class Target {
 public:
  Target() = default;  // of nodes that call nothing
  // "aten.conv2d.default", without a prefix; kPython keeps its module: "_operator.getitem".
  static Target of(std::string_view name, Dialect dialect = Dialect::kAten);
  // Of an operator that is not in the table; it lives for ever.
  static Target of(const Operator& declared, Dialect dialect = Dialect::kAten);
  // From the text in .pt2 files and FX prints: "torch.ops.aten.conv2d.default".
  static Target parse(std::string_view text);

  explicit operator bool() const { return entry_ != nullptr; }
  const std::string& name() const { return entry_->name; }
  Dialect dialect() const { return entry_->dialect; }
  // Parts of "aten.conv2d.default"; the overload is empty where there is none.
  std::string_view name_space() const;
  std::string_view op() const;
  std::string_view overload() const;
  // As FX prints it.
  const std::string& text() const { return entry_->text; }
  // The same operator.
  Target in(Dialect dialect) const { return of(name(), dialect, entry_->declared); }
  bool is_declared() const { return entry_ != nullptr && entry_->declared != nullptr; }

  bool is(std::string_view name) const { return entry_ != nullptr && entry_->name == name; }
  friend bool operator==(Target a, Target b) { return a.entry_ == b.entry_; }

  struct Entry {
    std::string name;
    Dialect dialect;
    std::string text;
    const Operator* declared;  // null: what the table has, if anything
  };

 private:
  friend const Operator* operator_of(Target target);
  static Target of(std::string_view name, Dialect dialect, const Operator* declared);
  explicit Target(const Entry* entry) : entry_(entry) {}
  const Entry* entry_ = nullptr;
};

// The operator of a target of whatever dialect: declared, or a row of the table. Null if there is
// none.
const Operator* operator_of(Target target);
// Whether a kernel computes it, so that programs can call it.
bool has_kernel(Target target);
// Whether it quantises, dequantises or chooses the parameters for that: backends recognise
// quantised calls by these, so that they stay as they are until delegates are made.
bool is_quantisation(Target target);
// Whether it writes its first argument, "aten.add_.Tensor". For operators that are
// not known, the name decides.
bool is_in_place(Target target);

// Whether it may write to any argument: true of an operator that is not known and not one of
// ATen's, whose names decide.
bool has_unknown_effects(Target target);

// The target of nodes that select one of several results.
Target getitem();

}  // namespace vitrine::aot
