// A node of a graph: a placeholder, get_attr, call or output.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "aot/graph/argument.h"

namespace vitrine::aot {

class Graph;

// The kind, dtype and shape of a node's result, without the data (meta["val"] in FX).
struct Value {
  // A result that is a number: its kind and, if known, its value.
  struct Number {
    enum class Kind : uint8_t { kInt, kFloat, kBool };
    Kind kind = Kind::kInt;
    SymInt value;  // for floats and bools, set only if the value is an expression
    friend bool operator==(const Number&, const Number&) = default;
  };
  using Items = std::vector<Value>;
  std::variant<std::monostate, TensorSpec, Number, Items> content;

  Value() = default;
  Value(TensorSpec spec) : content(std::move(spec)) {}
  Value(Number number) : content(std::move(number)) {}
  Value(Items items) : content(std::move(items)) {}

  const TensorSpec* tensor() const { return std::get_if<TensorSpec>(&content); }
  const Number* number() const { return std::get_if<Number>(&content); }
  const Items* items() const { return std::get_if<Items>(&content); }
  friend bool operator==(const Value&, const Value&) = default;
};

struct ModuleStackEntry {
  std::string key;        // "L__self___features_0"
  std::string path;       // "features.0"; empty for the root
  std::string type_name;  // "torch.nn.modules.conv.Conv2d"
};

// A node of an earlier graph, from which a pass made a newer node.
struct Ancestor {
  std::string name;
  std::string target;
  int64_t graph_id = 0;
  std::string pass_name;
  std::string action;
  std::vector<Ancestor> from;
};

// The part of the user's model from which a node was made. Several nodes may share an Origin.
struct Origin {
  std::vector<ModuleStackEntry> module_stack;  // outermost first
  std::string stack_trace;
  std::string source_fn_stack;
  std::string torch_fn;
  std::string custom;  // JSON text
  std::vector<Ancestor> from_node;
};

struct NodeMeta {
  Value value;
  std::shared_ptr<const Origin> origin;  // may be null
  uint32_t debug_handle = 0;             // 0: the node has no handle
  std::string delegation_tag;            // the node's partition; empty: it is not delegated
  bool no_copy = false;                  // true for a constant that partitions must not copy
  // Name of the .ptd file that stores this constant for a delegate. Empty: not in a .ptd file.
  std::string external_tag;
};

class Node {
 public:
  enum class Kind : uint8_t { kPlaceholder, kGetAttr, kCall, kOutput };

  const std::string& name() const { return name_; }  // unique in its graph
  Kind kind() const { return kind_; }
  bool is_call() const { return kind_ == Kind::kCall; }
  bool calls(Target target) const { return kind_ == Kind::kCall && target_ == target; }
  Target target() const { return target_; }  // only for calls
  void set_target(Target target) { target_ = target; }
  // For kGetAttr, the name of a subgraph, constant or lowered module of the graph.
  const std::string& attribute() const { return attribute_; }
  Graph& graph() const { return *graph_; }

  const ArgumentList& args() const { return args_; }
  const ArgumentMap& kwargs() const { return kwargs_; }
  // arg() and kwarg() return null if the node does not have the argument.
  const Argument* arg(size_t index) const { return index < args_.size() ? &args_[index] : nullptr; }
  const Argument* kwarg(std::string_view name) const;
  // need() and need_node() throw AotError if the argument is missing. need_node() also throws if
  // the argument is not a node.
  const Argument& need(size_t index) const;
  Node& need_node(size_t index) const;
  void set_args(ArgumentList args);
  void set_kwargs(ArgumentMap kwargs);
  void set_arg(size_t index, Argument value);  // AotError if the argument is missing
  void replace_input(Node* old_input, Node* new_input);
  // Distinct nodes that this node uses, in order of first mention.
  std::vector<Node*> inputs() const;
  // Distinct nodes that use this node, in order of first use.
  const std::vector<Node*>& users() const { return users_; }
  void replace_all_uses_with(Node* other, const Node* except = nullptr);

  Node* next() const;      // null for the last node
  Node* previous() const;  // null for the first node

  NodeMeta meta;
  const TensorSpec* tensor() const { return meta.value.tensor(); }

 private:
  friend class Graph;
  void update_uses(const std::vector<Node*>& before);

  Graph* graph_ = nullptr;
  std::list<Node>::iterator position_;
  std::string name_;
  Kind kind_ = Kind::kCall;
  Target target_;
  std::string attribute_;
  ArgumentList args_;
  ArgumentMap kwargs_;
  std::vector<Node*> users_;
};

}  // namespace vitrine::aot
