// Replaces writes to tensors with new values, like PyTorch's functionalization. Recomputes each
// view of written memory before the next call that reads the view.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/infer.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/passes.h"
#include "aot/passes/view_inverses.h"

namespace vitrine::aot {
namespace {

bool is_write(const Node& node) {
  return node.is_call() && node.target().dialect() == Dialect::kAten && is_in_place(node.target());
}

// True for view operators with several results, which getitem nodes select.
bool is_tuple_of_views(const Node& node) {
  return node.is_call() && is_view(node.target()) && node.tensor() == nullptr;
}
bool is_one_view(const Node& node) {
  if (!node.is_call()) return false;
  if (node.target() != getitem()) return is_view(node.target()) && node.tensor() != nullptr;
  const Node* tuple = node.need(0).node();
  return tuple != nullptr && is_tuple_of_views(*tuple);
}

// The memory that a tensor and all its views share.
struct Storage {
  Node* origin = nullptr;  // the value before all writes
  Node* base = nullptr;    // the value without pending updates
  size_t generation = 0;   // number of writes so far
  struct Update {
    Node* value = nullptr;
    std::vector<Node*> views;  // the chain of views from the base to the written tensor
  };
  std::vector<Update> updates;
};

// A tensor of the original graph, represented by a storage and a chain of views of the storage.
struct Alias {
  Storage* storage = nullptr;
  std::vector<Node*> views;  // the chain of views from the storage's base to this tensor
  size_t generation = 0;     // generation of the storage when `value` was computed
  Node* value = nullptr;
};

class Functionalizer {
 public:
  Functionalizer(ExportedProgram& program, Graph& graph) : program_(program), graph_(graph) {}

  void run() {
    std::vector<Node*> nodes;  // the original nodes; nodes added below need no visit
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
    // The result of an in-place call is the tensor to which the call writes.
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

  // Inserts a call before `at`. The call applies the operator of `view` to another input.
  Node* recompute_view(const Node& view, Node& input, Node& at) {
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
        inputs.push_back(recompute_view(*update.views[i], *inputs.back(), at));
      }
      Node* value = update.value;
      for (size_t i = update.views.size(); i-- > 0;) {
        value = inverse_of(*update.views[i])(at, *update.views[i], *inputs[i], *value);
      }
      storage.base = value;
    }
  }

  // Returns the node whose result is the value of tensor `node` at the time when `at` runs.
  Node* value_of(Node& node, Node& at) {
    Alias& alias = alias_of(node);
    if (alias.generation != alias.storage->generation) {
      apply_updates(*alias.storage, at);
      alias.value = alias.storage->base;
      for (const Node* view : alias.views) alias.value = recompute_view(*view, *alias.value, at);
      alias.generation = alias.storage->generation;
    }
    return alias.value;
  }

  void update_inputs(Node& node) {
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
    if (!is_one_view(node) || input == nullptr) return update_inputs(node);
    if (node.target() == getitem()) {
      input = tuple_input_.at(input);
    } else {
      update_inputs(node);
    }
    const Alias& of_input = alias_of(*input);
    Alias alias;
    alias.storage = of_input.storage;
    alias.views = of_input.views;
    alias.views.push_back(&node);
    alias.value = &node;
    aliases_[&node] = std::move(alias);
  }

  Node& written_tensor(const Node& node, const Argument* argument) {
    Node* tensor = argument == nullptr ? nullptr : argument->node();
    if (tensor == nullptr || tensor->tensor() == nullptr) {
      fail_at(node, "the call writes to an argument that is not a tensor");
    }
    Node& origin = written_by_.contains(tensor) ? *written_by_.at(tensor) : *tensor;
    if (&graph_ != program_.graph.get() &&
        alias_of(origin).storage->origin->kind() == Node::Kind::kPlaceholder) {
      fail_at(node, "writes to an input of a branch or loop body, which is not supported");
    }
    return origin;
  }

  // Records a write: from now on, the value of `tensor` is `value`.
  void record_write(Node& tensor, Node& value) {
    Alias& alias = alias_of(tensor);
    alias.storage->updates.push_back({&value, alias.views});
    alias.generation = ++alias.storage->generation;
    alias.value = &value;
  }

  void write(Node& node) {
    Node& tensor = written_tensor(node, &node.need(0));
    update_inputs(node);
    record_write(tensor, *functional(node));
    written_by_[&node] = &tensor;
  }

  // Replaces the call with auto_functionalized_v2, which returns the values of written arguments.
  void write_arguments(Node& node) {
    std::vector<Node*> tensors;
    std::vector<const Storage*> storages;
    for (const OperatorArgument* argument : written_arguments(*operator_of(node.target()))) {
      tensors.push_back(&written_tensor(node, Call(node).find(argument->name)));
      storages.push_back(alias_of(*tensors.back()).storage);
      if (std::ranges::count(storages, storages.back()) > 1) {
        fail_at(node, "writes to two arguments that share memory, which is not supported");
      }
    }
    update_inputs(node);
    Node& call = insert_auto_functionalized(node);
    const size_t results = call.meta.value.items()->size() - tensors.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      record_write(*tensors[i], insert_getitem(call, results + i, node));
    }
    if (node.tensor() == nullptr) {
      node.replace_all_uses_with(&call);
    } else if (!node.users().empty()) {
      node.replace_all_uses_with(&insert_getitem(call, 0, node));
    }
    graph_.erase(&node);
  }

  // Returns the value that an in-place call writes: the result of the call's functional form or,
  // for copy_, the converted source.
  Node* functional(Node& node) {
    node.set_target(Target::of(without_underscore(node.target().name())));
    if (!node.target().is("aten.copy.default")) return convert_to_written_dtype(node);
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

  // Writes keep the dtype of the written tensor, so results with another dtype are converted.
  Node* convert_to_written_dtype(Node& node) {
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
    // The first outputs are the final values of the written inputs, in the order of the inputs.
    std::vector<std::pair<Node*, Node*>> final_values;
    for (Node* input : graph_.placeholders()) {
      const auto found = aliases_.find(input);
      if (found != aliases_.end() && found->second.storage->origin == input &&
          found->second.storage->generation > 0) {
        final_values.emplace_back(input, value_of(*input, output));
      }
    }
    update_inputs(output);
    if (&graph_ != program_.graph.get()) return;
    for (const auto& [input, value] : final_values) add_mutation(*input, *value);
    const ArgumentList& results = *output.need(0).list();
    for (size_t i = 0; i < results.size(); ++i) {
      const Node* node = results[i].node();
      program_.signature.outputs.at(i).name = node == nullptr ? "" : node->name();
    }
  }

  // Records in the signature that `value` is the final value of the input.
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
    size_t index = 0;
    for (const InputSpec& earlier : program_.signature.inputs) {
      if (earlier.name == input.name()) break;
      for (const OutputSpec& output : program_.signature.outputs) {
        if (output.kind == OutputSpec::Kind::kUserOutput) continue;
        index += output.target == (earlier.target.empty() ? earlier.name : earlier.target) ? 1 : 0;
      }
    }
    const auto at = static_cast<std::ptrdiff_t>(index);
    results.insert(results.begin() + at, &value);
    program_.signature.outputs.insert(program_.signature.outputs.begin() + at, mutation);
    graph_.output()->set_args({Argument::tuple(std::move(results))});
  }

  ExportedProgram& program_;
  Graph& graph_;
  std::unordered_map<Node*, Alias> aliases_;
  std::vector<std::unique_ptr<Storage>> storages_;
  std::unordered_map<Node*, Node*> written_by_;   // in-place call -> the tensor that it writes
  std::unordered_map<Node*, Node*> tuple_input_;  // view with several results -> its input
};

}  // namespace

void functionalize(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) { Functionalizer(program, graph).run(); });
}

}  // namespace vitrine::aot
