#include "aot/pipeline/lower.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "aot/emit/record.h"
#include "aot/emit/shared_buffers.h"
#include "aot/evaluation/fold_constants.h"
#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"

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

void replace_attention_of(Methods& methods, std::vector<std::string>& notes) {
  AttentionResult all;
  for (auto& [name, program] : methods) {
    const Pass passes[] = {{"inline_wrapped", inline_wrapped},
                           {"replace_attention", [&](ExportedProgram& each) {
                              const AttentionResult made = replace_attention(each);
                              all.replaced += made.replaced;
                              all.kept.insert(all.kept.end(), made.kept.begin(), made.kept.end());
                            }}};
    run_passes(program, passes);
  }
  if (all.replaced == 0) {
    throw AotError(
        fmt::format("--attention custom_sdpa: there is no aten.scaled_dot_product_attention{}{}",
                    all.kept.empty() ? "" : " that it computes: ", fmt::join(all.kept, "; ")));
  }
  for (const std::string& call : all.kept) notes.push_back("attention stays: " + call);
}

class Lowering {
 public:
  Lowering(Methods exported, const LowerOptions& options) : options_(options) {
    for (const auto& partitioner : options.partitioners) {
      partitioners_.push_back(filtered(partitioner, options.filter));
    }
    apply_bounds(options.bounds, exported);
    model_.methods = std::move(exported);
    if (options.custom_sdpa) replace_attention_of(model_.methods, model_.notes);
    if (!options.quantise.linears && !options.quantise.embeddings) return;
    tell("quantising", "");
    for (const std::string& layer : apply(options.quantise, model_.methods)) {
      model_.notes.push_back("not quantised: " + layer);
    }
  }

  LoweredModel run() {
    for (auto& [name, program] : model_.methods) make_edge_program(name, program);
    if (options_.emit.memory_planning.share_mutable_buffers) mark_shared_buffers(model_.methods);
    for (auto& [name, program] : model_.methods) finish_edge_program(name, program);
    options_.filter.require_known(operators_);
    for (auto& [name, program] : model_.methods) {
      if (!partitioners_.empty()) delegate(name, program);
      make_executable(name, program);
    }
    write();
    return std::move(model_);
  }

 private:
  void tell(std::string_view step, std::string_view method) const {
    if (options_.progress) options_.progress(step, method);
  }

  // Errors of a method's steps name it where there are several.
  template <class Step>
  void of_method(const std::string& name, Step step) const {
    try {
      step();
    } catch (const AotError& error) {
      if (model_.methods.size() == 1) throw;
      throw AotError(fmt::format("method {}: {}", name, error.what()));
    }
  }

  void make_edge_program(const std::string& name, ExportedProgram& program) {
    tell("to the edge dialect", name);
    of_method(name, [&] {
      EdgeOptions edge;
      for (const auto& partitioner : partitioners_) {
        edge.ops_to_keep.push_back(partitioner->ops_to_keep(program));
      }
      to_edge(program, edge);
      kept_[name] = std::move(edge.ops_to_keep);
    });
  }

  void finish_edge_program(const std::string& name, ExportedProgram& program) {
    of_method(name, [&] {
      if (!options_.fold_constants) return;
      FoldOptions fold;
      fold.keeps_quantisation = true;
      fold_constants(program, fold);
    });
    add_operators(*program.graph, operators_);
    if (options_.make_record) edge_programs_.emplace(name, program.copy());
  }

  void delegate(const std::string& name, ExportedProgram& program) {
    tell("to backends", name);
    of_method(name, [&] {
      if (options_.emit.external_constants) tag_external_constants(program, file_of_weight);
      model_.rejections[name] = to_backend(program, partitioners_);
      require_kept_ops_lowered(program, kept_.at(name));
    });
  }

  void make_executable(const std::string& name, const ExportedProgram& program) {
    tell("for execution", name);
    ExportedProgram& executable = executable_.emplace(name, program.copy()).first->second;
    of_method(name, [&] { to_executable(executable); });
  }

  void write() {
    tell("writing", "");
    std::vector<std::byte> pte;
    const auto sink = [&](std::span<const std::byte> bytes) {
      model_.program_bytes += bytes.size();
      if (options_.sink) return options_.sink(bytes);
      pte.insert(pte.end(), bytes.begin(), bytes.end());
    };
    model_.emitted = emit_to(sink, executable_, options_.emit);
    model_.emitted.pte = std::move(pte);
    if (!options_.make_record) return;
    tell("recording", "");
    model_.record = write_record(edge_programs_, model_.emitted.debug_info);
  }

  const LowerOptions& options_;
  std::vector<std::shared_ptr<const Partitioner>> partitioners_;
  LoweredModel model_;
  std::map<std::string, std::vector<OpsToKeep>> kept_;  // by method
  std::set<std::string> operators_;
  Methods edge_programs_;
  Methods executable_;
};

}  // namespace

Methods import_methods(const std::map<std::string, std::filesystem::path>& files) {
  Methods methods;
  for (const auto& [name, file] : files) methods.emplace(name, import_pt2(file));
  return methods;
}

LoweredModel lower(Methods exported, const LowerOptions& options) {
  return Lowering(std::move(exported), options).run();
}

}  // namespace vitrine::aot
