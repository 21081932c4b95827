// An argument of a node: a tree of literals and references to nodes.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aot/graph/target.h"
#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {

class Node;
class Argument;

using ArgumentList = std::vector<Argument>;
using ArgumentMap = std::vector<std::pair<std::string, Argument>>;  // in insertion order

class Argument {
 public:
  using Variant = std::variant<std::monostate, Node*, bool, int64_t, double, std::complex<double>,
                               std::string, ScalarType, MemoryFormat, Layout, Device, Target,
                               ArgumentList, std::vector<std::pair<std::string, Argument>>>;

  Argument() = default;  // Python's None
  Argument(Node* node) : value_(node) {}
  Argument(bool value) : value_(value) {}
  Argument(int value) : value_(int64_t{value}) {}
  Argument(int64_t value) : value_(value) {}
  Argument(double value) : value_(value) {}
  Argument(std::complex<double> value) : value_(value) {}
  Argument(const char* value) : value_(std::string(value)) {}
  Argument(std::string value) : value_(std::move(value)) {}
  Argument(ScalarType value) : value_(value) {}
  Argument(MemoryFormat value) : value_(value) {}
  Argument(Layout value) : value_(value) {}
  Argument(Device value) : value_(std::move(value)) {}
  Argument(Target value) : value_(value) {}
  Argument(const std::vector<int64_t>& values) {
    value_ = ArgumentList(values.begin(), values.end());
  }
  // Deleted, because compilers disagree on the meaning of Argument{items}. Use list() or tuple().
  Argument(ArgumentList items) = delete;
  static Argument list(ArgumentList items) {
    Argument made;
    made.value_ = std::move(items);
    return made;
  }
  static Argument tuple(ArgumentList items) {
    Argument made = list(std::move(items));
    made.is_tuple_ = true;
    return made;
  }
  static Argument map(ArgumentMap items) {
    Argument made;
    made.value_ = std::move(items);
    return made;
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }
  // Returns the referenced node, or null for literals, lists and maps.
  Node* node() const {
    Node* const* found = std::get_if<Node*>(&value_);
    return found == nullptr ? nullptr : *found;
  }
  // Returns the items of a list or tuple, or null for other kinds of arguments.
  const ArgumentList* list() const { return std::get_if<ArgumentList>(&value_); }
  bool is_tuple() const { return is_tuple_; }
  const Variant& value() const { return value_; }

  // Calls visit(node) for every reference to a node in the tree, in order.
  template <class Visit>
  void for_each_node(Visit&& visit) const {
    if (Node* found = node()) visit(found);
    if (const auto* items = get<ArgumentList>()) {
      for (const Argument& item : *items) item.for_each_node(visit);
    }
    if (const auto* items = get<ArgumentMap>()) {
      for (const auto& [key, item] : *items) item.for_each_node(visit);
    }
  }
  // Returns a copy of the tree in which map(node) replaces every node.
  template <class Map>
  Argument with_nodes(Map&& map) const {
    Argument copy = *this;
    copy.replace_nodes(map);
    return copy;
  }

  // 0.0 and -0.0 are different, because calls compute different results from them.
  friend bool operator==(const Argument& a, const Argument& b) {
    const double* x = a.get<double>();
    const double* y = b.get<double>();
    if (x != nullptr && y != nullptr && std::signbit(*x) != std::signbit(*y)) return false;
    return a.value_ == b.value_ && a.is_tuple_ == b.is_tuple_;
  }

 private:
  template <class Map>
  void replace_nodes(Map&& map) {
    if (Node** found = std::get_if<Node*>(&value_)) *found = map(*found);
    if (auto* items = std::get_if<ArgumentList>(&value_)) {
      for (Argument& item : *items) item.replace_nodes(map);
    }
    if (auto* items = std::get_if<ArgumentMap>(&value_)) {
      for (auto& [key, item] : *items) item.replace_nodes(map);
    }
  }

  Variant value_;
  bool is_tuple_ = false;
};

}  // namespace vitrine::aot
