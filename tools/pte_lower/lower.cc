#include "tools/pte_lower/lower.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "aot/emit/record.h"
#include "aot/evaluation/fold_constants.h"
#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "tools/tool_error.h"

namespace vitrine::tools {
namespace {

using aot::ExportedProgram;
using aot::Graph;
using aot::Node;

void add_operators(const Graph& graph, std::set<std::string>& operators) {
  for (const Node& node : graph.nodes()) {
    if (node.is_call() && node.target().dialect() == aot::Dialect::kEdge) {
      operators.insert(node.target().name());
    }
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) add_operators(*subgraph, operators);
}

// Numbers that the lowering lifted out of calls are code rather than weights.
std::string file_of_weight(const aot::InputSpec& weight) {
  return weight.name.starts_with("_lifted_tensor") ? "" : aot::kDefaultExternalTag;
}

// Errors of a method's steps name it where there are several.
template <class Step>
void of_method(const std::string& name, size_t methods, Step step) {
  try {
    step();
  } catch (const aot::AotError& error) {
    if (methods == 1) throw;
    throw aot::AotError(fmt::format("method {}: {}", name, error.what()));
  }
}

void apply_bounds(const std::vector<DynamicBound>& bounds, aot::Methods& methods) {
  for (const DynamicBound& bound : bounds) {
    bool found = false;
    std::string known;
    for (auto& [name, program] : methods) {
      found |= apply(bound, program);
      known += describe_dynamic_sizes(program);
    }
    if (found) continue;
    throw ToolError(fmt::format("--dynamic {}: there is no such size; {}", bound.name,
                                known.empty() ? "all sizes are static" : "dynamic are " + known));
  }
}

}  // namespace

aot::Methods import_methods(const std::map<std::string, std::filesystem::path>& files) {
  aot::Methods methods;
  for (const auto& [name, file] : files) methods.emplace(name, aot::import_pt2(file));
  return methods;
}

LoweredModel lower(aot::Methods exported, const LowerOptions& options) {
  const auto tell = [&](std::string_view step, std::string_view method) {
    if (options.progress) options.progress(step, method);
  };
  std::vector<std::shared_ptr<const aot::Partitioner>> partitioners;
  for (const auto& partitioner : options.partitioners) {
    partitioners.push_back(filtered(partitioner, options.filter));
  }
  apply_bounds(options.bounds, exported);

  LoweredModel model;
  model.methods = std::move(exported);
  const size_t count = model.methods.size();
  aot::Methods edge_programs;
  std::set<std::string> operators;
  std::map<std::string, std::vector<aot::OpsToKeep>> kept;
  for (auto& [name, program] : model.methods) {
    tell("to the edge dialect", name);
    of_method(name, count, [&, &method = name, &each = program] {
      aot::EdgeOptions edge;
      for (const auto& partitioner : partitioners) {
        edge.ops_to_keep.push_back(partitioner->ops_to_keep(each));
      }
      aot::to_edge(each, edge);
      kept[method] = std::move(edge.ops_to_keep);
      if (options.fold_constants) {
        aot::FoldOptions fold;
        fold.keeps_quantisation = true;
        aot::fold_constants(each, fold);
      }
    });
    add_operators(*program.graph, operators);
    if (options.make_record) edge_programs.emplace(name, program.copy());
  }
  options.filter.require_known(operators);

  aot::Methods executable;
  for (auto& [name, program] : model.methods) {
    if (!partitioners.empty()) {
      tell("to backends", name);
      of_method(name, count, [&, &method = name, &each = program] {
        if (options.emit.external_constants) aot::tag_external_constants(each, file_of_weight);
        model.rejections[method] = aot::to_backend(each, partitioners);
        aot::require_kept_ops_lowered(each, kept[method]);
      });
    }
    tell("for execution", name);
    executable.emplace(name, program.copy());
    of_method(name, count,
              [&, &method = name] { aot::to_executable(executable.find(method)->second); });
  }
  tell("writing", "");
  std::vector<std::byte> pte;
  const auto keep = [&](std::span<const std::byte> bytes) {
    pte.insert(pte.end(), bytes.begin(), bytes.end());
  };
  const aot::ByteSink sink = options.sink ? options.sink : aot::ByteSink(keep);
  const auto count_bytes = [&](std::span<const std::byte> bytes) {
    model.program_bytes += bytes.size();
    sink(bytes);
  };
  model.emitted = aot::emit_to(count_bytes, executable, options.emit);
  model.emitted.pte = std::move(pte);
  if (options.make_record) {
    tell("recording", "");
    model.record = aot::write_record(edge_programs, model.emitted.debug_info);
  }
  return model;
}

}  // namespace vitrine::tools
