// Turns writes to tensors into new values, as PyTorch's functionalisation does. Everything that
// shares the written memory sees the write, and views are made again where they are next read.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "aot/graph/node_error.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/passes/view_inverses.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {
namespace {

bool is_write(const Node& node) {
  return node.is_call() && node.target().dialect() == Dialect::kAten && is_in_place(node.target());
}

// Views with several results, which getitem takes.
bool is_tuple_of_views(const Node& node) {
  return node.is_call() && is_view(node.target()) && node.tensor() == nullptr;
}
bool is_one_view(const Node& node) {
  if (!node.is_call()) return false;
  if (node.target() != getitem()) return is_view(node.target()) && node.tensor() != nullptr;
  const Node* tuple = node.need(0).node();
  return tuple != nullptr && is_tuple_of_views(*tuple);
}

// The memory behind a tensor and all its views.
struct Storage {
  Node* origin = nullptr;  // the original value
  Node* base = nullptr;    // the current value, without pending updates
  size_t generation = 0;   // how many writes there were
  struct Update {
    Node* value = nullptr;
    std::vector<Node*> views;  // through which it was written
  };
  std::vector<Update> updates;
};

// A tensor of the graph as it was.
struct Alias {
  Storage* storage = nullptr;
  std::vector<Node*> views;  // that make it of the storage's base
  size_t generation = 0;     // of the storage when `value` was made
  Node* value = nullptr;
};

class Functionaliser {
 public:
  Functionaliser(ExportedProgram& program, Graph& graph) : program_(program), graph_(graph) {}

  void run() {
    std::vector<Node*> nodes;  // as they were: those made on the way are values already
    bool writes = false;
    for (Node& node : graph_.nodes()) {
      nodes.push_back(&node);
      writes = writes || is_write(node) || writes_arguments(node);
    }
    if (!writes) return;
    for (Node* node : nodes) {
      run_at_node(std::string(node->name()), [&] { visit(*node); });
    }
  }

 private:
  Alias& alias_of(Node& node) {
    // A call that writes returns the tensor that it wrote.
    Node* tensor = written_by_.contains(&node) ? written_by_.at(&node) : &node;
    const auto [found, is_new] = aliases_.try_emplace(tensor);
    if (is_new) {
      storages_.push_back(std::make_unique<Storage>());
      storages_.back()->origin = storages_.back()->base = tensor;
      found->second.storage = storages_.back().get();
      found->second.value = tensor;
    }
    return found->second;
  }

  Node* view_again(const Node& view, Node& input, Node& at) {
    if (view.target() != getitem()) {
      ArgumentList args = view.args();
      args[0] = &input;
      return insert(at, view, view.target(), std::move(args), view.kwargs(), view.meta.value);
    }
    const Node& old = *view.need(0).node();
    ArgumentList args = old.args();
    args[0] = &input;
    Node* tuple = insert(at, view, old.target(), std::move(args), old.kwargs(), old.meta.value);
    return insert(at, view, getitem(), {tuple, view.need(1)}, {}, view.meta.value);
  }

  void apply_updates(Storage& storage, Node& at) {
    const std::vector<Storage::Update> updates = std::exchange(storage.updates, {});
    for (const Storage::Update& update : updates) {
      std::vector<Node*> inputs = {storage.base};
      for (size_t i = 0; i + 1 < update.views.size(); ++i) {
        inputs.push_back(view_again(*update.views[i], *inputs.back(), at));
      }
      Node* value = update.value;
      for (size_t i = update.views.size(); i-- > 0;) {
        value = inverse_of(*update.views[i])(at, *update.views[i], *inputs[i], *value);
      }
      storage.base = value;
    }
  }

  // The tensor's value at `at`.
  Node* value_of(Node& node, Node& at) {
    Alias& alias = alias_of(node);
    if (alias.generation != alias.storage->generation) {
      apply_updates(*alias.storage, at);
      alias.value = alias.storage->base;
      for (const Node* view : alias.views) alias.value = view_again(*view, *alias.value, at);
      alias.generation = alias.storage->generation;
    }
    return alias.value;
  }

  void take_values(Node& node) {
    const auto value = [&](Node* input) {
      return input->tensor() == nullptr ? input : value_of(*input, node);
    };
    ArgumentList args;
    for (const Argument& arg : node.args()) args.push_back(arg.with_nodes(value));
    ArgumentMap kwargs;
    for (const auto& [key, arg] : node.kwargs()) kwargs.emplace_back(key, arg.with_nodes(value));
    node.set_args(std::move(args));
    node.set_kwargs(std::move(kwargs));
  }

  void visit(Node& node) {
    if (node.kind() == Node::Kind::kOutput) return finish(node);
    if (!node.is_call()) return;
    if (is_write(node)) return write(node);
    if (writes_arguments(node)) return write_arguments(node);
    Node* input = node.args().empty() ? nullptr : node.args()[0].node();
    if (is_tuple_of_views(node) && input != nullptr) tuple_input_[&node] = input;
    if (!is_one_view(node) || input == nullptr) return take_values(node);
    if (node.target() == getitem()) {
      input = tuple_input_.at(input);
    } else {
      take_values(node);
    }
    const Alias& of_input = alias_of(*input);
    Alias alias;
    alias.storage = of_input.storage;
    alias.views = of_input.views;
    alias.views.push_back(&node);
    alias.value = &node;
    aliases_[&node] = std::move(alias);
  }

  // The tensor that a call writes.
  Node& written(const Node& node, const Argument* given) {
    Node* tensor = given == nullptr ? nullptr : given->node();
    if (tensor == nullptr || tensor->tensor() == nullptr) {
      fail_at(node, "it writes to something that is not a tensor");
    }
    Node& origin = written_by_.contains(tensor) ? *written_by_.at(tensor) : *tensor;
    if (&graph_ != program_.graph.get() &&
        alias_of(origin).storage->origin->kind() == Node::Kind::kPlaceholder) {
      fail_at(node, "a branch writes to its input");
    }
    return origin;
  }

  // `tensor` is `value` from here on.
  void note_write(Node& tensor, Node& value) {
    Alias& alias = alias_of(tensor);
    alias.storage->updates.push_back({&value, alias.views});
    alias.generation = ++alias.storage->generation;
    alias.value = &value;
  }

  void write(Node& node) {
    Node& tensor = written(node, &node.need(0));
    take_values(node);
    note_write(tensor, *functional(node));
    written_by_[&node] = &tensor;
  }

  // Becomes a call of PyTorch's auto_functionalized_v2, which returns what the arguments end as.
  void write_arguments(Node& node) {
    std::vector<Node*> tensors;
    std::vector<const Storage*> storages;
    for (const OperatorArgument* argument : written_arguments(*operator_of(node.target()))) {
      tensors.push_back(&written(node, Call(node).find(argument->name)));
      storages.push_back(alias_of(*tensors.back()).storage);
      if (std::ranges::count(storages, storages.back()) > 1) {
        fail_at(node, "it writes two arguments that share memory");
      }
    }
    take_values(node);
    Node& call = auto_functionalized(node);
    const size_t results = call.meta.value.items()->size() - tensors.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      note_write(*tensors[i], item_of(call, results + i, node));
    }
    if (node.tensor() == nullptr) {
      node.replace_all_uses_with(&call);
    } else if (!node.users().empty()) {
      node.replace_all_uses_with(&item_of(call, 0, node));
    }
    graph_.erase(&node);
  }

  // The value that the call writes: the functional form of the call, except for copies.
  Node* functional(Node& node) {
    node.set_target(Target::of(without_underscore(node.target().name())));
    if (!node.target().is("aten.copy.default")) return of_written_dtype(node);
    Node* source = node.need(1).node();
    const TensorSpec& spec = *node.need(0).node()->tensor();
    if (source == nullptr || source->tensor() == nullptr) return &node;
    if (source->tensor()->dtype != spec.dtype) {
      source = make(node, node, "aten._to_copy.default", {source}, {{"dtype", spec.dtype}});
    }
    if (!same(source->tensor()->sizes, spec.sizes)) {
      source = make(node, node, "aten.expand.default",
                    {source, sizes_of(node, node, *node.args()[0].node())});
    }
    return source;
  }

  // A write keeps the dtype of the written tensor, whatever its operands promote to.
  Node* of_written_dtype(Node& node) {
    if (!can_infer(node.target()) || node.tensor() == nullptr || node.next() == nullptr) {
      return &node;
    }
    const ScalarType written = node.tensor()->dtype;
    const Value result = infer(node.target(), node.args(), node.kwargs());
    if (result.tensor() == nullptr || result.tensor()->dtype == written) return &node;
    TensorSpec spec = *node.tensor();
    spec.dtype = result.tensor()->dtype;
    Node* converted = insert_like(*node.next(), Target::of("aten._to_copy.default"), {&node},
                                  {{"dtype", written}}, node.meta.value);
    converted->meta = node.meta;
    node.meta.value = std::move(spec);
    return converted;
  }

  void finish(Node& output) {
    // Inputs that were written come first, in their order.
    std::vector<std::pair<Node*, Node*>> ends;
    for (Node* input : graph_.placeholders()) {
      const auto found = aliases_.find(input);
      if (found != aliases_.end() && found->second.storage->origin == input &&
          found->second.storage->generation > 0) {
        ends.emplace_back(input, value_of(*input, output));
      }
    }
    take_values(output);
    if (&graph_ != program_.graph.get()) return;
    for (const auto& [input, value] : ends) add_mutation(*input, *value);
    const ArgumentList& results = *output.need(0).list();
    for (size_t i = 0; i < results.size(); ++i) {
      const Node* node = results[i].node();
      program_.signature.outputs.at(i).name = node == nullptr ? "" : node->name();
    }
  }

  // Makes `value` the final value of the input in the signature.
  void add_mutation(const Node& input, Node& value) {
    const InputSpec* spec = program_.input_of(input.name());
    OutputSpec mutation;
    mutation.name = value.name();
    mutation.target = spec->target;
    mutation.kind = OutputSpec::Kind::kBufferMutation;
    if (spec->kind == InputSpec::Kind::kParameter) {
      mutation.kind = OutputSpec::Kind::kParameterMutation;
    } else if (spec->kind == InputSpec::Kind::kUserInput) {
      mutation.kind = OutputSpec::Kind::kUserInputMutation;
      mutation.target = input.name();
    }
    ArgumentList results = *graph_.output()->need(0).list();
    size_t place = 0;
    for (const InputSpec& each : program_.signature.inputs) {
      if (each.name == input.name()) break;
      for (const OutputSpec& output : program_.signature.outputs) {
        if (output.kind == OutputSpec::Kind::kUserOutput) continue;
        place += output.target == (each.target.empty() ? each.name : each.target) ? 1 : 0;
      }
    }
    const auto at = static_cast<std::ptrdiff_t>(place);
    results.insert(results.begin() + at, &value);
    program_.signature.outputs.insert(program_.signature.outputs.begin() + at, mutation);
    graph_.output()->set_args({Argument::tuple(std::move(results))});
  }

  ExportedProgram& program_;
  Graph& graph_;
  std::unordered_map<Node*, Alias> aliases_;
  std::vector<std::unique_ptr<Storage>> storages_;
  std::unordered_map<Node*, Node*> written_by_;   // calls that write -> the values that they write
  std::unordered_map<Node*, Node*> tuple_input_;  // tuples of views -> their bases
};

}  // namespace

void functionalise(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) { Functionaliser(program, graph).run(); });
}

}  // namespace vitrine::aot
