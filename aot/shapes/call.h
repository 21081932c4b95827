// The arguments of a call, read by name: the operator's signature gives each one's position and
// default.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"
#include "operators/operator.h"

namespace vitrine::aot {

// The value that a signature says an argument has if it is not given. None if it says nothing.
Argument default_of(const OperatorArgument& argument);

// A view of a call's target and arguments, which must outlive it. AotErrors name the operator (the
// node, if it was made of one) and the argument.
//
// An argument counts as not given if it is absent or None; then the signature's default stands in
// for it, and then `fallback`. An argument that the operator does not have is never given, so that
// what reads it may serve operators with it and without. Of operators that are not in the table
// only keyword arguments are found.
class Call {
 public:
  Call(Target target, const ArgumentList& args, const ArgumentMap& kwargs);
  // Errors begin with `context`, which must outlive it, behind what names the node.
  explicit Call(const Node& node, std::string_view context = {});

  Target target() const { return target_; }
  // Null if it is not given.
  const Argument* find(std::string_view name) const;
  // That which stands in this place of the signature, whatever its name.
  const Argument* find(size_t index) const;
  // As it is given, or the signature's default, or None.
  Argument value(std::string_view name) const;

  // Null if it is not given, or is not a tensor.
  Node* optional_node(std::string_view name) const;
  Node& node(std::string_view name) const;                // a tensor
  std::vector<Node*> nodes(std::string_view name) const;  // a list of tensors
  // The same, as specs.
  const TensorSpec* optional_tensor(std::string_view name) const;
  const TensorSpec& tensor(std::string_view name) const;
  std::vector<const TensorSpec*> tensors(std::string_view name) const;
  // The first argument, "self" or "input" of most operators.
  const TensorSpec& self() const;

  SymInt size(std::string_view name, std::optional<SymInt> fallback = {}) const;
  // A list of sizes, numbers or nodes that are numbers; one number is a list of one.
  std::vector<SymInt> sizes(std::string_view name) const;
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  double real(std::string_view name, std::optional<double> fallback = {}) const;  // or an integer
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const;
  // A list, or one number for all, as a list of `count`; 0: as it is, empty if there is none.
  std::vector<int64_t> integers(std::string_view name, size_t count = 0) const;
  ScalarType dtype(std::string_view name, ScalarType fallback) const;

  [[noreturn]] void refuse(std::string_view why) const;

 private:
  // None only if there is neither a value nor a default.
  Argument need(std::string_view name) const;

  Target target_;
  const ArgumentList& args_;
  const ArgumentMap& kwargs_;
  const Node* node_ = nullptr;
  std::string_view context_;
  const Operator* operator_ = nullptr;  // null: it is not in the table
};

// Converts a dim counted from the end. AotError if it is out of range; a 0-d tensor counts as
// having one dim.
size_t wrapped(int64_t dim, size_t rank);
// A size given by an argument: a number or a node. Empty if it is neither.
std::optional<SymInt> size_of(const Argument& argument);

}  // namespace vitrine::aot
