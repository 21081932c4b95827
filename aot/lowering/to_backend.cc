#include "aot/lowering/to_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/pass.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/fx_order.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/submodule_program.h"

namespace vitrine::aot {
namespace {

// Compares numbers in the names of tags by value: "tag2" comes before "tag10".
bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    size_t length = 0;
    while (length < text.size() && is_digit(text[length])) ++length;
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
  };
  const std::string_view full_a = a;
  const std::string_view full_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view number_a = number(a);
      const std::string_view number_b = number(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() == b.empty() ? full_a < full_b : a.empty();
}

// Throws AotError if a graph and its copy from before partitioning differ in more than tags.
class GraphComparison {
 public:
  GraphComparison(const Graph& before, const Graph& after) {
    number(before, old_numbers_);
    number(after, new_numbers_);
    compare(before, after);
  }

 private:
  using Numbers = std::unordered_map<const Node*, size_t>;  // positions in all graphs together

  static void number(const Graph& graph, Numbers& numbers) {
    for (const Node& node : graph.nodes()) numbers.emplace(&node, numbers.size());
    for (const auto& [name, subgraph] : graph.subgraphs()) number(*subgraph, numbers);
  }

  void compare(const Graph& before, const Graph& after) const {
    if (before.nodes().size() != after.nodes().size()) {
      throw AotError(
          fmt::format("the partitioner changed the graph: it had {} nodes and now has {}",
                      before.nodes().size(), after.nodes().size()));
    }
    for (auto a = before.nodes().begin(), b = after.nodes().begin(); a != before.nodes().end();
         ++a, ++b) {
      if (is_same(*a, *b)) continue;
      throw AotError(
          fmt::format("node {}: the partitioner changed this node; partitioners may only tag nodes",
                      b->name()));
    }
    if (before.subgraphs().size() != after.subgraphs().size()) {
      throw AotError("the partitioner changed the subgraphs");
    }
    for (auto a = before.subgraphs().begin(), b = after.subgraphs().begin();
         a != before.subgraphs().end(); ++a, ++b) {
      compare(*a->second, *b->second);
    }
  }

  bool is_same(const Node& a, const Node& b) const {
    if (a.kind() != b.kind() || a.name() != b.name() || a.attribute() != b.attribute() ||
        !(a.target() == b.target()) || a.meta.debug_handle != b.meta.debug_handle ||
        a.args().size() != b.args().size() || a.kwargs().size() != b.kwargs().size()) {
      return false;
    }
    const std::vector<Node*> inputs_a = a.inputs();
    const std::vector<Node*> inputs_b = b.inputs();
    return std::ranges::equal(inputs_a, inputs_b, [&](const Node* x, const Node* y) {
      return old_numbers_.at(x) == new_numbers_.at(y);
    });
  }

  Numbers old_numbers_;
  Numbers new_numbers_;
};

// A partition that was moved out of its graph, but is not compiled yet.
struct PendingPartition {
  const DelegationSpec* spec = nullptr;
  Graph* graph = nullptr;
  Node* call = nullptr;
  bool is_submodule = false;
  Value::Items values;
  SubmoduleProgram moved;
};

std::shared_ptr<const LoweredBackendModule> lower(const Backend& backend, ExportedProgram original,
                                                  std::span<const CompileSpec> compile_specs) {
  try {
    ExportedProgram copied = original.copy();
    PreprocessResult result = backend.preprocess(copied, compile_specs);
    LoweredBackendModule module;
    module.backend_id = backend.id();
    module.payload = std::make_shared<const std::vector<std::byte>>(std::move(result.payload));
    module.compile_specs.assign(compile_specs.begin(), compile_specs.end());
    module.original = std::move(original);
    module.delegate_map = std::move(result.delegate_map);
    module.named_data = std::move(result.named_data);
    module.scratch_sizes = std::move(result.scratch_sizes);
    module.input_padding = backend.input_padding();
    return std::make_shared<const LoweredBackendModule>(std::move(module));
  } catch (const AotError& error) {
    throw AotError(fmt::format("{}: {}", backend.id(), error.what()));
  }
}

class Lowering {
 public:
  Lowering(ExportedProgram& program, const PartitionResult& partitions)
      : program_(program), partitions_(partitions) {
    for (const auto& [tag, spec] : partitions.tags) {
      if (spec.backend == nullptr)
        throw AotError(fmt::format("partition {}: its delegation spec has no backend", tag));
      tags_.push_back(tag);
    }
    std::ranges::sort(tags_, comes_before);
  }

  void run() {
    for_each_graph(*program_.graph, [](Graph& graph) { settle(graph); });
    for (const std::string& tag : tags_) duplicate_shared_constants(program_, tag);
    check_tags(*program_.graph);
    extract_partitions(*program_.graph, false);
    // Compiles backend by backend, in order of first appearance. The partitions of a backend are in
    // the order of their calls.
    std::vector<std::string> ids;
    for (const PendingPartition& partition : pending_) {
      const std::string id = partition.spec->backend->id();
      if (std::ranges::count(ids, id) == 0) ids.push_back(id);
    }
    for (const std::string& id : ids) {
      for_each_graph(*program_.graph, [&](Graph& graph) { compile_partitions(graph, id); });
    }
  }

 private:
  void check_tags(Graph& graph) {
    const bool is_top = &graph == program_.graph.get();
    for (const Node& node : graph.nodes()) {
      const std::string& tag = node.meta.delegation_tag;
      if (tag.empty()) continue;
      if (!partitions_.tags.contains(tag)) {
        throw AotError(fmt::format("node {}: the partitioner's result does not list the tag {}",
                                   node.name(), tag));
      }
      if (node.kind() == Node::Kind::kOutput) {
        throw AotError(fmt::format("node {}: the output must not be tagged", node.name()));
      }
      if (node.kind() == Node::Kind::kPlaceholder) check_tagged_placeholder(node, is_top);
    }
    for (auto& [name, subgraph] : graph.subgraphs()) check_tags(*subgraph);
  }

  void check_tagged_placeholder(const Node& node, bool is_top) const {
    const InputSpec* spec = is_top ? program_.input_of(node.name()) : nullptr;
    if (spec == nullptr || program_.data_of(*spec) == nullptr) {
      throw AotError(
          fmt::format("node {}: is tagged {}, but it is a user input; only weights may be tagged",
                      node.name(), node.meta.delegation_tag));
    }
    for (const Node* user : node.users()) {
      if (user->meta.delegation_tag == node.meta.delegation_tag) continue;
      throw AotError(fmt::format("node {}: is tagged {}, but its user {} does not have this tag",
                                 node.name(), node.meta.delegation_tag, user->name()));
    }
  }

  // Moves all partitions out of a graph, and then out of its subgraphs, without compiling them.
  void extract_partitions(Graph& graph, bool is_submodule) {
    for (const std::string& tag : tags_) {
      std::vector<Node*> nodes;
      for (Node& node : graph.nodes()) {
        if (node.meta.delegation_tag == tag && node.kind() != Node::Kind::kPlaceholder) {
          nodes.push_back(&node);
        }
      }
      if (nodes.empty()) continue;
      Submodule submodule = create_submodule_from_nodes(
          graph, nodes, tag, is_submodule ? nullptr : &program_.signature);
      PendingPartition partition;
      partition.spec = &partitions_.tags.at(tag);
      partition.graph = &graph;
      partition.call = submodule.call;
      partition.is_submodule = is_submodule;
      partition.moved =
          create_exported_program_from_submodule(submodule, program_, tag, is_submodule);
      partition.values = *submodule.call->meta.value.items();
      for (Node& node : partition.moved.program.graph->nodes()) node.meta.delegation_tag.clear();
      pending_.push_back(std::move(partition));
    }
    for (auto& [name, subgraph] : graph.subgraphs()) extract_partitions(*subgraph, true);
  }

  void compile_partitions(Graph& graph, const std::string& id) {
    std::vector<Node*> nodes;
    for (Node& node : graph.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) {
      const auto partition = std::ranges::find(pending_, node, &PendingPartition::call);
      if (partition == pending_.end() || partition->graph != &graph ||
          partition->spec->backend->id() != id) {
        continue;
      }
      compile(*partition);
      pending_.erase(partition);
    }
  }

  void compile(PendingPartition& partition) {
    lint(partition.moved.program);
    const auto module = lower(*partition.spec->backend, std::move(partition.moved.program),
                              partition.spec->compile_specs);
    std::vector<Node*> inputs;
    for (const Argument& arg : partition.call->args()) {
      if (std::ranges::count(partition.moved.consumed_inputs, arg.node()->name()) == 0) {
        inputs.push_back(arg.node());
      }
    }
    Node* call = insert_delegate_call(*partition.graph, module, inputs, std::move(partition.values),
                                      partition.call);
    call->meta.debug_handle = max_debug_handle(*program_.graph) + 1;
    replace_uses(partition.call, call);
    partition.graph->erase(partition.call);
    if (!partition.is_submodule) adjust_owning_program(program_, *call, partition.moved);
  }

  ExportedProgram& program_;
  const PartitionResult& partitions_;
  std::vector<std::string> tags_;
  std::vector<PendingPartition> pending_;
};

std::unordered_set<const Node*> tagged_nodes(Graph& graph) {
  std::unordered_set<const Node*> nodes;
  for_each_graph(graph, [&](Graph& g) {
    for (const Node& node : g.nodes()) {
      if (!node.meta.delegation_tag.empty()) nodes.insert(&node);
    }
  });
  return nodes;
}

void clear_tags(Graph& graph) {
  for_each_graph(graph, [](Graph& g) {
    for (Node& node : g.nodes()) node.meta.delegation_tag.clear();
  });
}

// Adds the partitioner's rejections, and removes rejections of nodes that are now delegated.
void partition_and_lower(ExportedProgram& program, const Partitioner& partitioner,
                         const ToBackendOptions& options, std::vector<Rejection>& rejections) {
  lint(program);
  clear_tags(*program.graph);
  std::unique_ptr<Graph> before;
  if (options.check_partitioner) before = program.graph->copy();
  PartitionResult partitions = partitioner.partition(program);
  if (before != nullptr) GraphComparison(*before, *program.graph);
  rejections.insert(rejections.end(), std::make_move_iterator(partitions.rejections.begin()),
                    std::make_move_iterator(partitions.rejections.end()));
  const std::unordered_set<const Node*> tagged = tagged_nodes(*program.graph);
  std::erase_if(rejections, [&](const Rejection& r) { return tagged.contains(r.node); });
  Lowering(program, partitions).run();
  clear_tags(*program.graph);
  lint(program);
}

}  // namespace

std::shared_ptr<const LoweredBackendModule> to_backend(const Backend& backend,
                                                       const ExportedProgram& program,
                                                       std::span<const CompileSpec> compile_specs) {
  lint(program);
  return lower(backend, program.copy(), compile_specs);
}

std::vector<Rejection> to_backend(ExportedProgram& program, const Partitioner& partitioner,
                                  const ToBackendOptions& options) {
  std::vector<Rejection> rejections;
  partition_and_lower(program, partitioner, options, rejections);
  return rejections;
}

std::vector<Rejection> to_backend(ExportedProgram& program,
                                  std::span<const std::shared_ptr<const Partitioner>> partitioners,
                                  const ToBackendOptions& options) {
  std::vector<Rejection> rejections;
  for (const auto& partitioner : partitioners) {
    partition_and_lower(program, *partitioner, options, rejections);
  }
  return rejections;
}

}  // namespace vitrine::aot
