// Reads the arguments of a call by name. The operator's signature supplies their positions and
// defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"
#include "operators/operator.h"

namespace vitrine::aot {

// The default value of an argument in its signature. None if the signature does not state one.
Argument default_of(const OperatorArgument& argument);

// A view of a call's target and arguments, which must outlive it. AotErrors name the argument and
// the operator; if the call was made from a node, they also name the node.
//
// An argument is missing if the call omits it or passes None. A missing argument has the
// signature's default value; without a default it has the value `fallback`, and without a fallback
// it is an error. An argument that the operator does not have counts as missing, so that one
// function can serve operators with and without it. For operators that are not in the table, only
// keyword arguments are found.
class Call {
 public:
  Call(Target target, const ArgumentList& args, const ArgumentMap& kwargs);
  // Error texts start with the node and `context`. `context` must outlive the call.
  explicit Call(const Node& node, std::string_view context = {});

  Target target() const { return target_; }
  // Null if the argument is missing.
  const Argument* find(std::string_view name) const;
  // Finds an argument by its position in the signature.
  const Argument* find(size_t index) const;
  // The passed value, or else the signature's default, or else None.
  Argument value(std::string_view name) const;

  // Null if the argument is missing or not a tensor.
  Node* optional_node(std::string_view name) const;
  Node& node(std::string_view name) const;                // a tensor
  std::vector<Node*> nodes(std::string_view name) const;  // a list of tensors
  // Return the specs of such arguments.
  const TensorSpec* optional_tensor(std::string_view name) const;
  const TensorSpec& tensor(std::string_view name) const;
  std::vector<const TensorSpec*> tensors(std::string_view name) const;
  // Returns the first argument, which most operators call "self" or "input".
  const TensorSpec& self() const;

  SymInt size(std::string_view name, std::optional<SymInt> fallback = {}) const;
  // A list of sizes, which are numbers or nodes that compute numbers. A single size is returned as
  // a list of one.
  std::vector<SymInt> sizes(std::string_view name) const;
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  // Also accepts integers.
  double real(std::string_view name, std::optional<double> fallback = {}) const;
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const;
  // A list of `count` integers; a single integer is repeated. If `count` is 0, the list may have
  // any length, and a missing argument is an empty list.
  std::vector<int64_t> integers(std::string_view name, size_t count = 0) const;
  ScalarType dtype(std::string_view name, ScalarType fallback) const;

  // Throws an AotError that names the call and `why`.
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  // Returns the passed value, or the default. Throws AotError if there is neither.
  Argument need(std::string_view name) const;

  Target target_;
  const ArgumentList& args_;
  const ArgumentMap& kwargs_;
  const Node* node_ = nullptr;
  std::string_view context_;
  const Operator* operator_ = nullptr;  // null if the operator is not in the table
};

// Converts a negative dim, which counts from the end, to its index. Throws AotError if `dim` is out
// of range. A 0-d tensor counts as having one dim.
size_t wrapped(int64_t dim, size_t rank);
// The size that an argument gives, as a number or as a node that computes an integer. Empty for
// other arguments.
std::optional<SymInt> size_of(const Argument& argument);

}  // namespace vitrine::aot
