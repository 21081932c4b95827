#include "aot/pipeline/lower.h"

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

namespace vitrine::aot {
namespace {

void add_operators(const Graph& graph, std::set<std::string>& operators) {
  for (const Node& node : graph.nodes()) {
    if (node.is_call() && node.target().dialect() == Dialect::kEdge) {
      operators.insert(node.target().name());
    }
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) add_operators(*subgraph, operators);
}

// Numbers that the lowering lifted out of calls are code rather than weights.
std::string file_of_weight(const InputSpec& weight) {
  return weight.name.starts_with("_lifted_tensor") ? "" : kDefaultExternalTag;
}

// Errors of a method's steps name it where there are several.
template <class Step>
void of_method(const std::string& name, size_t methods, Step step) {
  try {
    step();
  } catch (const AotError& error) {
    if (methods == 1) throw;
    throw AotError(fmt::format("method {}: {}", name, error.what()));
  }
}

void apply_bounds(const std::vector<DynamicBound>& bounds, Methods& methods) {
  for (const DynamicBound& bound : bounds) {
    bool found = false;
    std::string known;
    for (auto& [name, program] : methods) {
      found |= apply(bound, program);
      known += describe_dynamic_sizes(program);
    }
    if (found) continue;
    throw AotError(fmt::format("--dynamic {}: there is no such size; {}", bound.name,
                               known.empty() ? "all sizes are static" : "dynamic are " + known));
  }
}

}  // namespace

Methods import_methods(const std::map<std::string, std::filesystem::path>& files) {
  Methods methods;
  for (const auto& [name, file] : files) methods.emplace(name, import_pt2(file));
  return methods;
}

LoweredModel lower(Methods exported, const LowerOptions& options) {
  const auto tell = [&](std::string_view step, std::string_view method) {
    if (options.progress) options.progress(step, method);
  };
  std::vector<std::shared_ptr<const Partitioner>> partitioners;
  for (const auto& partitioner : options.partitioners) {
    partitioners.push_back(filtered(partitioner, options.filter));
  }
  apply_bounds(options.bounds, exported);

  LoweredModel model;
  model.methods = std::move(exported);
  const size_t count = model.methods.size();
  Methods edge_programs;
  std::set<std::string> operators;
  std::map<std::string, std::vector<OpsToKeep>> kept;
  for (auto& [name, program] : model.methods) {
    tell("to the edge dialect", name);
    of_method(name, count, [&, &method = name, &each = program] {
      EdgeOptions edge;
      for (const auto& partitioner : partitioners) {
        edge.ops_to_keep.push_back(partitioner->ops_to_keep(each));
      }
      to_edge(each, edge);
      kept[method] = std::move(edge.ops_to_keep);
      if (options.fold_constants) {
        FoldOptions fold;
        fold.keeps_quantisation = true;
        fold_constants(each, fold);
      }
    });
    add_operators(*program.graph, operators);
    if (options.make_record) edge_programs.emplace(name, program.copy());
  }
  options.filter.require_known(operators);

  Methods executable;
  for (auto& [name, program] : model.methods) {
    if (!partitioners.empty()) {
      tell("to backends", name);
      of_method(name, count, [&, &method = name, &each = program] {
        if (options.emit.external_constants) tag_external_constants(each, file_of_weight);
        model.rejections[method] = to_backend(each, partitioners);
        require_kept_ops_lowered(each, kept[method]);
      });
    }
    tell("for execution", name);
    executable.emplace(name, program.copy());
    of_method(name, count, [&, &method = name] { to_executable(executable.find(method)->second); });
  }
  tell("writing", "");
  std::vector<std::byte> pte;
  const auto keep = [&](std::span<const std::byte> bytes) {
    pte.insert(pte.end(), bytes.begin(), bytes.end());
  };
  const ByteSink sink = options.sink ? options.sink : ByteSink(keep);
  const auto count_bytes = [&](std::span<const std::byte> bytes) {
    model.program_bytes += bytes.size();
    sink(bytes);
  };
  model.emitted = emit_to(count_bytes, executable, options.emit);
  model.emitted.pte = std::move(pte);
  if (options.make_record) {
    tell("recording", "");
    model.record = write_record(edge_programs, model.emitted.debug_info);
  }
  return model;
}

}  // namespace vitrine::aot
