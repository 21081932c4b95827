#include "aot/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

// Splits "name_12" into ("name", 12). Returns the number 0 if the name does not end in a number. A
// number with leading zeros belongs to the name.
std::pair<std::string_view, size_t> split_number(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore + 1 == name.size() ||
      name[underscore + 1] == '0') {
    return {name, 0};
  }
  size_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + underscore + 1, end, number);
  if (error != std::errc() || stop != end || number >= SIZE_MAX / 2) return {name, 0};
  return {name.substr(0, underscore), number};
}

// Spells a call's name like FX: "aten.sum.dim_IntList" -> "aten.sum.dim_int_list".
std::string snake_case(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z') text += '_';
    text += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// Python keywords and built-in functions, which FX does not use as names of nodes. Sorted.
constexpr std::array<std::string_view, 36> kPythonNames = {
    "abs",  "all",    "and",  "any",    "bool",  "bytes",  "compile", "complex", "dict",
    "dir",  "divmod", "eval", "filter", "float", "format", "hash",    "help",    "id",
    "in",   "input",  "int",  "iter",   "len",   "list",   "map",     "max",     "min",
    "next", "object", "or",   "pow",    "range", "round",  "slice",   "sum",     "type"};

bool is_python_name(std::string_view name) {
  return std::ranges::binary_search(kPythonNames, name);
}

// Maximum number of nodes in a graph, because a small file could expand to a huge graph.
constexpr size_t kMaxNodes = size_t{1} << 18;

class DistinctNodes {
 public:
  void add(Node* node) {
    if (nodes_.size() < kMaxLinearSearch) {
      if (std::ranges::find(nodes_, node) != nodes_.end()) return;
    } else {
      if (seen_.empty()) seen_.insert(nodes_.begin(), nodes_.end());
      if (!seen_.insert(node).second) return;
    }
    nodes_.push_back(node);
  }
  bool has(const Node* node) const {
    return seen_.empty() ? std::ranges::find(nodes_, node) != nodes_.end() : seen_.contains(node);
  }
  const std::vector<Node*>& nodes() const { return nodes_; }
  std::vector<Node*> take() { return std::move(nodes_); }

 private:
  // Up to this number of nodes, a linear search is as fast as a lookup in a hash set.
  static constexpr size_t kMaxLinearSearch = 16;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> seen_;
};

DistinctNodes nodes_in(const ArgumentList& args, const ArgumentMap& kwargs) {
  DistinctNodes found;
  const auto add = [&](Node* node) { found.add(node); };
  for (const Argument& arg : args) arg.for_each_node(add);
  for (const auto& [key, arg] : kwargs) arg.for_each_node(add);
  return found;
}

}  // namespace

std::string default_name(Target target) {
  return target.dialect() == Dialect::kEdge ? snake_case(target.name()) : std::string(target.op());
}

const Argument* Node::kwarg(std::string_view name) const {
  const auto found = std::ranges::find_if(kwargs_, [&](const auto& k) { return k.first == name; });
  return found == kwargs_.end() ? nullptr : &found->second;
}

const Argument& Node::need(size_t index) const {
  if (index >= args_.size()) {
    throw AotError(fmt::format("node {}{}: has {} arguments, so it has no argument {}", name_,
                               is_call() ? fmt::format(" ({})", target_.name()) : "", args_.size(),
                               index));
  }
  return args_[index];
}

Node& Node::need_node(size_t index) const {
  Node* found = need(index).node();
  if (found == nullptr) {
    throw AotError(fmt::format("node {}{}: argument {} is a literal, not a node", name_,
                               is_call() ? fmt::format(" ({})", target_.name()) : "", index));
  }
  return *found;
}

std::vector<Node*> Node::inputs() const { return nodes_in(args_, kwargs_).take(); }

void Node::update_uses(const std::vector<Node*>& before) {
  const DistinctNodes after = nodes_in(args_, kwargs_);
  DistinctNodes old;
  for (Node* node : before) {
    old.add(node);
    if (!after.has(node)) std::erase(node->users_, this);
  }
  for (Node* node : after.nodes()) {
    if (node->graph_ != graph_) {
      throw AotError(
          fmt::format("node {}: argument {} belongs to another graph", name_, node->name_));
    }
    if (!old.has(node)) node->users_.push_back(this);
  }
}

void Node::set_args(ArgumentList args) {
  const std::vector<Node*> before = inputs();
  args_ = std::move(args);
  update_uses(before);
}

void Node::set_kwargs(ArgumentMap kwargs) {
  const std::vector<Node*> before = inputs();
  kwargs_ = std::move(kwargs);
  update_uses(before);
}

void Node::set_arg(size_t index, Argument value) {
  const std::vector<Node*> before = inputs();
  need(index);
  args_[index] = std::move(value);
  update_uses(before);
}

void Node::replace_input(Node* old_input, Node* new_input) {
  const std::vector<Node*> before = inputs();
  const auto map = [&](Node* node) { return node == old_input ? new_input : node; };
  for (Argument& arg : args_) arg = arg.with_nodes(map);
  for (auto& [key, arg] : kwargs_) arg = arg.with_nodes(map);
  update_uses(before);
}

void Node::replace_all_uses_with(Node* other, const Node* except) {
  const std::vector<Node*> users = users_;
  for (Node* user : users) {
    if (user != except) user->replace_input(this, other);
  }
}

Node* Node::next() const {
  const auto after = std::next(position_);
  return after == graph_->nodes().end() ? nullptr : &*after;
}

Node* Node::previous() const {
  return position_ == graph_->nodes().begin() ? nullptr : &*std::prev(position_);
}

std::string Graph::unique_name(std::string_view base, bool avoid_python_names) {
  std::string name(base.empty() ? "node" : base);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
  }
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "_");
  if (!names_.contains(name) && !(avoid_python_names && is_python_name(name))) return name;
  const auto [stem, number] = split_number(name);
  const std::string key(stem);
  size_t& next = next_number_[key];
  next = std::max(next, number + 1);
  for (;; ++next) {
    std::string candidate = fmt::format("{}_{}", key, next);
    if (!names_.contains(candidate)) return candidate;
  }
}

Node* Graph::insert(Node::Kind kind, std::string_view name, Node* before) {
  if (nodes_.size() >= kMaxNodes) {
    throw AotError(
        fmt::format("node {}: cannot be added, because the graph has the maximum of {} nodes", name,
                    kMaxNodes));
  }
  std::string unique = unique_name(name, kind != Node::Kind::kPlaceholder);
  const auto position = nodes_.emplace(before == nullptr ? nodes_.end() : before->position_);
  Node* node = &*position;
  node->graph_ = this;
  node->position_ = position;
  node->kind_ = kind;
  node->name_ = std::move(unique);
  names_.emplace(node->name_, node);
  return node;
}

Node* Graph::placeholder(std::string_view name, Node* before) {
  return insert(Node::Kind::kPlaceholder, name, before);
}

Node* Graph::get_attr(std::string_view attribute, Node* before) {
  Node* node = insert(Node::Kind::kGetAttr, attribute, before);
  node->attribute_ = attribute;
  return node;
}

Node* Graph::call(Target target, ArgumentList args, ArgumentMap kwargs, Node* before,
                  std::string_view name) {
  if (before == nullptr) before = output_;
  Node* node =
      insert(Node::Kind::kCall, name.empty() ? default_name(target) : std::string(name), before);
  node->target_ = target;
  node->args_ = std::move(args);
  node->kwargs_ = std::move(kwargs);
  node->update_uses({});
  return node;
}

Node* Graph::set_output(Argument result) {
  if (output_ == nullptr) output_ = insert(Node::Kind::kOutput, "output", nullptr);
  output_->set_args({std::move(result)});
  return output_;
}

Node* Graph::find(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  return found == names_.end() ? nullptr : found->second;
}

std::vector<Node*> Graph::placeholders() {
  std::vector<Node*> found;
  for (Node& node : nodes_) {
    if (node.kind() == Node::Kind::kPlaceholder) found.push_back(&node);
  }
  return found;
}

void Graph::erase(Node* node) {
  if (!node->users_.empty()) {
    throw AotError(fmt::format("node {}: cannot be erased, because {} uses it", node->name_,
                               node->users_.front()->name_));
  }
  node->set_args({});
  node->set_kwargs({});
  if (node == output_) output_ = nullptr;
  names_.erase(node->name_);
  nodes_.erase(node->position_);
}

void Graph::move_before(Node* node, Node* before) {
  nodes_.splice(before == nullptr ? nodes_.end() : before->position_, nodes_, node->position_);
}

void Graph::rename(Node* node, std::string_view name) {
  if (node->name_ == name) return;
  names_.erase(node->name_);
  node->name_ = unique_name(name);
  names_.emplace(node->name_, node);
}

void Graph::rename_all(const std::function<std::string(const Node&)>& name_of) {
  names_.clear();
  next_number_.clear();
  for (Node& node : nodes_) {
    node.name_ = unique_name(name_of(node));
    names_.emplace(node.name_, &node);
  }
}

void Graph::reorder(const std::vector<Node*>& order) {
  if (order.size() != nodes_.size()) {
    throw AotError(fmt::format("the new order has {} nodes, but the graph has {}", order.size(),
                               nodes_.size()));
  }
  next_number_.clear();
  for (Node* node : order) {
    nodes_.splice(nodes_.end(), nodes_, node->position_);
    node->users_.clear();
    const auto [stem, number] = split_number(node->name_);
    if (number != 0) next_number_[std::string(stem)] = number + 1;
  }
  for (Node* node : order) {
    for (Node* input : node->inputs()) input->users_.push_back(node);
  }
}

size_t Graph::remove_dead_code() {
  size_t removed = 0;
  for (auto position = nodes_.end(); position != nodes_.begin();) {
    --position;
    Node& node = *position;
    const bool removable = node.kind_ == Node::Kind::kGetAttr || (node.is_call() && is_pure(node));
    if (!removable || !node.users_.empty()) continue;
    ++position;
    erase(&node);
    ++removed;
  }
  for (auto& [name, subgraph] : subgraphs_) removed += subgraph->remove_dead_code();
  return removed;
}

std::unique_ptr<Graph> Graph::copy(std::unordered_map<const Node*, Node*>* nodes) const {
  auto made = std::make_unique<Graph>();
  std::unordered_map<const Node*, Node*> own;
  std::unordered_map<const Node*, Node*>& map = nodes == nullptr ? own : *nodes;
  const auto mapped = [&](Node* node) { return map.at(node); };
  for (const Node& node : nodes_) {
    Node* copied = made->insert(node.kind_, node.name_, nullptr);
    copied->target_ = node.target_;
    copied->attribute_ = node.attribute_;
    copied->meta = node.meta;
    map[&node] = copied;
    for (const Argument& arg : node.args_) copied->args_.push_back(arg.with_nodes(mapped));
    for (const auto& [key, arg] : node.kwargs_) {
      copied->kwargs_.emplace_back(key, arg.with_nodes(mapped));
    }
    copied->update_uses({});
    if (&node == output_) made->output_ = copied;
  }
  for (const auto& [name, subgraph] : subgraphs_) made->subgraphs_[name] = subgraph->copy();
  made->tensors_ = tensors_;
  made->lowered_modules_ = lowered_modules_;
  made->next_number_ = next_number_;
  return made;
}

bool is_pure(const Node& node) {
  const Target target = node.target();
  if (target.dialect() == Dialect::kPython) return true;
  if (has_unknown_effects(target)) return false;
  if (const Operator* known = operator_of(target)) {
    if (known->results.empty()) return false;  // such a call is made only for its effects
    if (std::ranges::any_of(known->arguments, &OperatorArgument::is_written)) return false;
  }
  // Operators that write to an argument end in one "_": "add_". Python's operators end in "__".
  const std::string_view op = target.op();
  if (op.ends_with("_") && !op.ends_with("__")) return false;
  return !op.starts_with("_assert") && !op.starts_with("sym_constrain_range") &&
         target.dialect() != Dialect::kHigherOrder;
}

}  // namespace vitrine::aot
