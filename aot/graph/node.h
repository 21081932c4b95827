// One node of a graph.
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

// The kind of value that a node computes, without the data (meta["val"] in FX).
struct Value {
  // A number as a result: its kind, and its value as far as known.
  struct Number {
    enum class Kind : uint8_t { kInt, kFloat, kBool };
    Kind kind = Kind::kInt;
    SymInt value;  // for floats and bools, only if it is an expression
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

// The node of an earlier graph that this node was made from.
struct Ancestor {
  std::string name;
  std::string target;
  int64_t graph_id = 0;
  std::string pass_name;
  std::string action;
  std::vector<Ancestor> from;
};

// Where in the user's model a node comes from. Nodes with the same origin share it.
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
  uint32_t debug_handle = 0;             // 0: none
  std::string delegation_tag;            // the partition's; empty: none
  bool no_copy = false;                  // a constant that must not be copied into partitions
  // For a constant: the .ptd that stores it if a delegate takes it; empty: the program.
  std::string external_tag;
};

class Node {
 public:
  enum class Kind : uint8_t { kPlaceholder, kGetAttr, kCall, kOutput };

  const std::string& name() const { return name_; }  // unique in its graph
  Kind kind() const { return kind_; }
  bool is_call() const { return kind_ == Kind::kCall; }
  bool calls(Target target) const { return kind_ == Kind::kCall && target_ == target; }
  Target target() const { return target_; }  // of calls
  void set_target(Target target) { target_ = target; }
  // For kGetAttr: the name of a subgraph, or of a constant of one.
  const std::string& attribute() const { return attribute_; }
  Graph& graph() const { return *graph_; }

  const ArgumentList& args() const { return args_; }
  const ArgumentMap& kwargs() const { return kwargs_; }
  // Null if there is no such argument.
  const Argument* arg(size_t index) const { return index < args_.size() ? &args_[index] : nullptr; }
  const Argument* kwarg(std::string_view name) const;
  // AotErrors name this node if the argument is missing or not a node.
  const Argument& need(size_t index) const;
  Node& need_node(size_t index) const;
  void set_args(ArgumentList args);
  void set_kwargs(ArgumentMap kwargs);
  void set_arg(size_t index, Argument value);  // AotError if there are fewer
  void replace_input(Node* old_input, Node* new_input);
  // Distinct nodes that this node uses, in order of first mention.
  std::vector<Node*> inputs() const;
  // Distinct nodes that use this node, in order of first use.
  const std::vector<Node*>& users() const { return users_; }
  // Every user except `except` uses `other` instead.
  void replace_all_uses_with(Node* other, const Node* except = nullptr);

  Node* next() const;      // null after the last
  Node* previous() const;  // null before the first

  NodeMeta meta;
  const TensorSpec* tensor() const { return meta.value.tensor(); }

 private:
  friend class Graph;
  void update_uses(const std::vector<Node*>& before);

  Graph* graph_ = nullptr;
  std::list<Node>::iterator place_;
  std::string name_;
  Kind kind_ = Kind::kCall;
  Target target_;
  std::string attribute_;
  ArgumentList args_;
  ArgumentMap kwargs_;
  std::vector<Node*> users_;
};

}  // namespace vitrine::aot
