#include "aot/lowering/submodule_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

InputSpec user_input(const Node& placeholder) {
  InputSpec spec;
  spec.name = placeholder.name();
  return spec;
}

int64_t index_of(const Node& item) {
  const int64_t* index = item.calls(getitem()) ? item.need(1).get<int64_t>() : nullptr;
  if (index == nullptr) {
    throw AotError(
        fmt::format("node {}: uses the results of a partition without getitem; add a getitem for "
                    "each result",
                    item.name()));
  }
  return *index;
}

class SubmoduleProgramMaker {
 public:
  SubmoduleProgramMaker(Submodule& submodule, const ExportedProgram& owning, std::string_view tag,
                        bool is_submodule)
      : submodule_(submodule), owning_(owning), tag_(tag), is_submodule_(is_submodule) {}

  SubmoduleProgram make() {
    arrange_graph_placeholders(*submodule_.graph, owning_, tag_);
    ArgumentList args;
    for (const Node* node : submodule_.graph->placeholders()) {
      add_input(*node);
      args.emplace_back(submodule_.call->graph().find(node->name()));
    }
    submodule_.call->set_args(std::move(args));
    add_outputs();
    ExportedProgram& program = made_.program;
    program.graph = std::move(submodule_.graph);
    program.range_constraints = owning_.range_constraints;
    program.opset_version = owning_.opset_version;
    program.verifiers = owning_.verifiers;
    program.torch_version = owning_.torch_version;
    program.module_call_graph.push_back({});
    return std::move(made_);
  }

 private:
  void add_input(const Node& node) {
    std::vector<InputSpec>& inputs = made_.program.signature.inputs;
    const InputSpec* spec = is_submodule_ ? nullptr : owning_.input_of(node.name());
    if (spec == nullptr || (node.tensor() != nullptr && node.meta.delegation_tag != tag_)) {
      inputs.push_back(user_input(node));
      return;
    }
    inputs.push_back(*spec);
    if (!has_data(spec->kind)) return;
    const TensorData* data = owning_.data_of(*spec);
    if (data == nullptr) {
      throw AotError(
          fmt::format("node {}: the program has no data for \"{}\"", node.name(), spec->target));
    }
    TensorMap& map = is_in_state(*spec) ? made_.program.state_dict : made_.program.constants;
    map.insert_or_assign(spec->target, *data);
    made_.consumed_inputs.push_back(node.name());
    if (spec->kind == InputSpec::Kind::kBuffer) buffers_.insert(spec->target);
  }

  // If the result `item` is the new value of a buffer that moves into the delegate, returns the
  // owning program's spec of this mutation. Otherwise returns null.
  const OutputSpec* moved_mutation(const Node& item) const {
    if (is_submodule_) return nullptr;
    const OutputSpec* found = nullptr;
    size_t uses = 0;
    for (const OutputSpec& output : owning_.signature.outputs) {
      if (output.name != item.name()) continue;
      ++uses;
      if (output.kind == OutputSpec::Kind::kBufferMutation && buffers_.contains(output.target)) {
        found = &output;
      }
    }
    if (found == nullptr) return nullptr;
    const bool is_used = item.users().size() > 1;
    if (uses > 1 || is_used) {
      throw AotError(fmt::format(
          "partition {}: the buffer \"{}\" cannot move into the delegate, because its new value {} "
          "{}; leave the buffer untagged, so that the program updates it",
          tag_, found->target, item.name(),
          is_used ? fmt::format("is also used by node {}", other_user(item)->name())
                  : std::string("is also another output of the program")));
    }
    return found;
  }

  const Node* other_user(const Node& item) const {
    const Node* output = owning_.graph->output();
    return item.users().front() == output ? item.users().back() : item.users().front();
  }

  void add_outputs() {
    const size_t count = submodule_.graph->output()->need(0).list()->size();
    std::vector<const OutputSpec*> mutations(count, nullptr);
    for (const Node* item : submodule_.call->users()) {
      const OutputSpec* mutation = moved_mutation(*item);
      if (mutation == nullptr) continue;
      mutations.at(static_cast<size_t>(index_of(*item))) = mutation;
      made_.consumed_outputs.push_back(item->name());
    }
    std::vector<size_t> order;
    for (const bool wanted : {true, false}) {
      for (size_t i = 0; i < count; ++i) {
        if ((mutations[i] != nullptr) == wanted) order.push_back(i);
      }
    }
    if (!made_.consumed_outputs.empty()) arrange_graph_outputs(submodule_, order);
    const ArgumentList& results = *submodule_.graph->output()->need(0).list();
    for (size_t i = 0; i < count; ++i) {
      OutputSpec output;
      output.name = results[i].node()->name();
      if (const OutputSpec* mutation = mutations[order[i]]) {
        output.kind = OutputSpec::Kind::kBufferMutation;
        output.target = mutation->target;
      }
      made_.program.signature.outputs.push_back(std::move(output));
    }
  }

  Submodule& submodule_;
  const ExportedProgram& owning_;
  std::string_view tag_;
  bool is_submodule_;
  SubmoduleProgram made_;
  std::set<std::string, std::less<>> buffers_;
};

}  // namespace

SubmoduleProgram create_exported_program_from_submodule(Submodule& submodule,
                                                        const ExportedProgram& owning,
                                                        std::string_view tag, bool is_submodule) {
  return SubmoduleProgramMaker(submodule, owning, tag, is_submodule).make();
}

void adjust_owning_program(ExportedProgram& owning, Node& call, const SubmoduleProgram& taken) {
  if (!taken.consumed_outputs.empty()) {
    Node& output = *owning.graph->output();
    const ArgumentList before = *output.need(0).list();
    ArgumentList after;
    std::vector<OutputSpec> specs;
    for (size_t i = 0; i < before.size(); ++i) {
      if (std::ranges::count(taken.consumed_outputs, owning.signature.outputs.at(i).name) != 0) {
        continue;
      }
      after.push_back(before[i]);
      specs.push_back(owning.signature.outputs[i]);
    }
    output.set_args({Argument::tuple(std::move(after))});
    owning.signature.outputs = std::move(specs);

    std::vector<int64_t> removed;
    for (const std::string& name : taken.consumed_outputs) {
      Node* item = owning.graph->find(name);
      removed.push_back(index_of(*item));
      owning.graph->erase(item);
    }
    for (Node* item : call.users()) {
      const int64_t index = index_of(*item);
      const auto num_before =
          std::ranges::count_if(removed, [&](int64_t other) { return other < index; });
      item->set_arg(1, index - num_before);
    }
    Value::Items kept;
    const Value::Items values = *call.meta.value.items();
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::ranges::count(removed, static_cast<int64_t>(i)) == 0) kept.push_back(values[i]);
    }
    call.meta.value = std::move(kept);
  }
  for (const std::string& name : taken.consumed_inputs) {
    owning.remove_input(owning.graph->find(name));
  }
}

}  // namespace vitrine::aot
