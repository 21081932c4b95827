#include "aot/lowering/to_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/fx_order.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/submodule_program.h"

namespace vitrine::aot {
namespace {

// "tag2" comes before "tag10".
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
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view of_a = number(a);
      const std::string_view of_b = number(b);
      if (of_a.size() != of_b.size()) return of_a.size() < of_b.size();
      if (of_a != of_b) return of_a < of_b;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() == b.empty() ? whole_a < whole_b : a.empty();
}

template <class Visit>
void each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (auto& [name, subgraph] : graph.subgraphs()) each_graph(*subgraph, visit);
}

// Compares the graphs node by node; numbers are positions in their graphs.
class GraphComparison {
 public:
  GraphComparison(const Graph& before, const Graph& after) {
    number(before, old_numbers_);
    number(after, new_numbers_);
    compare(before, after);
  }

 private:
  using Numbers = std::unordered_map<const Node*, size_t>;

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
          fmt::format("node {}: the partitioner changed it; it may only tag nodes", b->name()));
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

// A partition that was taken out of its graph but is not compiled yet.
struct Part {
  const DelegationSpec* spec = nullptr;
  Graph* graph = nullptr;
  Node* call = nullptr;
  bool is_submodule = false;
  Value::Items values;
  SubmoduleProgram taken;
};

std::shared_ptr<const LoweredBackendModule> lower(const Backend& backend, ExportedProgram original,
                                                  std::span<const CompileSpec> compile_specs) {
  try {
    ExportedProgram copied = original.copy();
    PreprocessResult result = backend.preprocess(copied, compile_specs);
    LoweredBackendModule module;
    module.backend_id = backend.id();
    module.processed_bytes =
        std::make_shared<const std::vector<std::byte>>(std::move(result.processed_bytes));
    module.compile_specs.assign(compile_specs.begin(), compile_specs.end());
    module.original = std::move(original);
    module.delegate_map = std::move(result.delegate_map);
    module.named_data = std::move(result.named_data);
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
      if (spec.backend == nullptr) throw AotError(fmt::format("partition {}: no backend", tag));
      tags_.push_back(tag);
    }
    std::ranges::sort(tags_, comes_before);
  }

  void run() {
    each_graph(*program_.graph, [](Graph& graph) { settle(graph); });
    for (const std::string& tag : tags_) duplicate_shared_constants(program_, tag);
    check_tags(*program_.graph);
    take_parts(*program_.graph, false);
    // Backend by backend, in order of first appearance; those of one backend in the order of calls.
    std::vector<std::string> ids;
    for (const Part& part : parts_) {
      const std::string id = part.spec->backend->id();
      if (std::ranges::count(ids, id) == 0) ids.push_back(id);
    }
    for (const std::string& id : ids) {
      each_graph(*program_.graph, [&](Graph& graph) { compile_parts(graph, id); });
    }
  }

 private:
  void check_tags(Graph& graph) {
    const bool is_top = &graph == program_.graph.get();
    for (const Node& node : graph.nodes()) {
      const std::string& tag = node.meta.delegation_tag;
      if (tag.empty()) continue;
      if (!partitions_.tags.contains(tag)) {
        throw AotError(
            fmt::format("node {}: the partitioner does not list the tag {}", node.name(), tag));
      }
      if (node.kind() == Node::Kind::kOutput) {
        throw AotError(fmt::format("node {}: outputs must not be tagged", node.name()));
      }
      if (node.kind() == Node::Kind::kPlaceholder) check_tagged_placeholder(node, is_top);
    }
    for (auto& [name, subgraph] : graph.subgraphs()) check_tags(*subgraph);
  }

  void check_tagged_placeholder(const Node& node, bool is_top) const {
    const InputSpec* spec = is_top ? program_.input_of(node.name()) : nullptr;
    if (spec == nullptr || program_.data_of(*spec) == nullptr) {
      throw AotError(
          fmt::format("node {}: is tagged {}, but only parameters, buffers and constants may be",
                      node.name(), node.meta.delegation_tag));
    }
    for (const Node* user : node.users()) {
      if (user->meta.delegation_tag == node.meta.delegation_tag) continue;
      throw AotError(fmt::format("node {}: is tagged {}, but its user {} is not", node.name(),
                                 node.meta.delegation_tag, user->name()));
    }
  }

  // Takes out all parts of a graph before one is compiled; then those of its subgraphs.
  void take_parts(Graph& graph, bool is_submodule) {
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
      Part part;
      part.spec = &partitions_.tags.at(tag);
      part.graph = &graph;
      part.call = submodule.call;
      part.is_submodule = is_submodule;
      part.taken = create_exported_program_from_submodule(submodule, program_, tag, is_submodule);
      part.values = *submodule.call->meta.value.items();
      for (Node& node : part.taken.program.graph->nodes()) node.meta.delegation_tag.clear();
      parts_.push_back(std::move(part));
    }
    for (auto& [name, subgraph] : graph.subgraphs()) take_parts(*subgraph, true);
  }

  void compile_parts(Graph& graph, const std::string& id) {
    std::vector<Node*> nodes;
    for (Node& node : graph.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) {
      const auto part = std::ranges::find(parts_, node, &Part::call);
      if (part == parts_.end() || part->graph != &graph || part->spec->backend->id() != id) {
        continue;
      }
      compile(*part);
      parts_.erase(part);
    }
  }

  void compile(Part& part) {
    lint(part.taken.program);
    const auto module =
        lower(*part.spec->backend, std::move(part.taken.program), part.spec->compile_specs);
    std::vector<Node*> inputs;
    for (const Argument& arg : part.call->args()) {
      if (std::ranges::count(part.taken.consumed_inputs, arg.node()->name()) == 0) {
        inputs.push_back(arg.node());
      }
    }
    Node* call =
        insert_delegate_call(*part.graph, module, inputs, std::move(part.values), part.call);
    call->meta.debug_handle = max_debug_handle(*program_.graph) + 1;
    replace_uses(part.call, call);
    part.graph->erase(part.call);
    if (!part.is_submodule) adjust_owning_program(program_, *call, part.taken);
  }

  ExportedProgram& program_;
  const PartitionResult& partitions_;
  std::vector<std::string> tags_;
  std::vector<Part> parts_;
};

std::unordered_set<const Node*> tagged_nodes(Graph& graph) {
  std::unordered_set<const Node*> nodes;
  each_graph(graph, [&](Graph& each) {
    for (const Node& node : each.nodes()) {
      if (!node.meta.delegation_tag.empty()) nodes.insert(&node);
    }
  });
  return nodes;
}

void clear_tags(Graph& graph) {
  each_graph(graph, [](Graph& each) {
    for (Node& node : each.nodes()) node.meta.delegation_tag.clear();
  });
}

// Adds to `rejections` and removes the nodes that are delegated now.
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
  std::erase_if(rejections, [&](const Rejection& each) { return tagged.contains(each.node); });
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
