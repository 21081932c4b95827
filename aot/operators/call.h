// Reads the arguments of a call by name, using the signature's positions and defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"
#include "operators/operator.h"

namespace vitrine::aot {

// Returns the argument's default value in the signature, or None if the argument has no default.
Argument default_of(const OperatorArgument& argument);

// Reads the arguments of one call. The target and the arguments must outlive this object. AotErrors
// name the argument, the operator and, if known, the node.
//
// An argument is missing if the call omits it, if the call passes None, or if the operator has no
// such argument. Unless stated otherwise, functions return the signature's default for a missing
// argument, or else the parameter `fallback`. Without a default and a fallback, they throw
// AotError. For operators outside the operator table, only keyword arguments have names.
class Call {
 public:
  Call(Target target, const ArgumentList& args, const ArgumentMap& kwargs);
  // Error messages start with the node and `context`. Both must outlive this object.
  explicit Call(const Node& node, std::string_view context = {});

  Target target() const { return target_; }
  // Finds an argument by name. Returns null if the argument is missing.
  const Argument* find(std::string_view name) const;
  // Finds an argument by its position in the signature.
  const Argument* find(size_t index) const;
  // Returns the passed value, or else the signature's default, or else None.
  Argument value(std::string_view name) const;

  // Returns the node of a tensor argument. Null if the argument is missing or not a tensor.
  Node* optional_node(std::string_view name) const;
  Node& node(std::string_view name) const;                // a tensor
  std::vector<Node*> nodes(std::string_view name) const;  // a list of tensors
  // The next functions return the specs of tensor arguments.
  const TensorSpec* optional_tensor(std::string_view name) const;
  const TensorSpec& tensor(std::string_view name) const;
  std::vector<const TensorSpec*> tensors(std::string_view name) const;
  // Returns the spec of the first argument, which most operators call "self" or "input".
  const TensorSpec& self() const;

  SymInt size(std::string_view name, std::optional<SymInt> fallback = {}) const;
  // Returns a list of sizes, each of which is a number or a node. A single size becomes a list.
  std::vector<SymInt> sizes(std::string_view name) const;
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  double real(std::string_view name, std::optional<double> fallback = {}) const;
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const;
  // Returns a list of `count` integers. A single integer is repeated. If `count` is 0, the list may
  // have any length, and a missing argument without a default is an empty list.
  std::vector<int64_t> integers(std::string_view name, size_t count = 0) const;
  ScalarType dtype(std::string_view name, ScalarType fallback) const;

  [[noreturn]] void refuse(std::string_view why) const;

 private:
  // Returns the passed argument, or else its default. Throws AotError if neither exists.
  Argument need(std::string_view name) const;

  Target target_;
  const ArgumentList& args_;
  const ArgumentMap& kwargs_;
  const Node* node_ = nullptr;
  std::string_view context_;
  const Operator* operator_ = nullptr;  // null if the operator is not in the table
};

// Converts `dim` to an index. A negative `dim` counts from the end. Throws AotError if `dim` is out
// of range. A 0-d tensor counts as a vector.
size_t wrapped(int64_t dim, size_t rank);
// Returns the value of an integer or of a node that computes an integer. Empty for other arguments.
std::optional<SymInt> size_of(const Argument& argument);

}  // namespace vitrine::aot
