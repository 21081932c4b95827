#include "aot/pipeline/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "aot/emit/record.h"
#include "aot/emit/shared_buffers.h"
#include "aot/evaluation/fold_constants.h"
#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/to_backend.h"
#include "aot/optimise/economical_partitioner.h"
#include "aot/optimise/optimise.h"
#include "aot/passes/kv_caches.h"
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

std::string file_of_weight(const InputSpec& weight) {
  return weight.is_lifted_number ? "" : kDefaultExternalTag;
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

using NodeNames = std::map<const Node*, std::string>;

NodeNames names_of(Graph& graph) {
  NodeNames names;
  for_each_graph(graph, [&](Graph& each) {
    for (const Node& node : each.nodes()) names.emplace(&node, node.name());
  });
  return names;
}

// Rejections of nodes that are gone.
void forget_removed(const NodeNames& before, const NodeNames& after,
                    std::vector<Rejection>& rejections) {
  std::erase_if(rejections, [&](const Rejection& each) {
    const auto was = before.find(each.node);
    const auto is = after.find(each.node);
    return was == before.end() || is == after.end() || was->second != is->second;
  });
}

// Methods that share a buffer see it in the same sizes.
void flatten_alike(Methods& methods, const std::map<std::string, std::set<std::string>>& flat) {
  std::set<std::string> all;
  for (const auto& [method, buffers] : flat) all.insert(buffers.begin(), buffers.end());
  for (auto& [method, program] : methods) {
    for (const InputSpec& input : program.signature.inputs) {
      if (input.kind != InputSpec::Kind::kBuffer || !all.contains(input.target)) continue;
      if (flat.at(method).contains(input.target)) continue;
      flatten_cache(program, *program.graph->find(input.name), nullptr);
    }
  }
}

// An operator for attention, and writes to the caches that it reads.
void replace_attention_of(const LowerOptions& options, LoweredModel& model) {
  const bool all = options.attention == AttentionOperator::kCustomSdpa;
  const AttentionChoice which = all ? AttentionChoice::kAll
                                : options.partitioners.empty()
                                    ? AttentionChoice::kWherePays
                                    : AttentionChoice::kWherePaysDelegated;
  size_t replaced = 0;
  std::vector<std::string> kept;
  std::map<std::string, std::set<std::string>> flat;
  for (auto& [name, program] : model.methods) {
    std::set<std::string>& flat_here = flat[name];
    AttentionResult made;
    const Pass passes[] = {{"inline_wrapped", inline_wrapped},
                           {"replace_attention",
                            [&](ExportedProgram& each) { made = replace_attention(each, which); }}};
    ExportedProgram changed = program.copy();
    run_passes(changed, passes);
    kept.insert(kept.end(), made.kept.begin(), made.kept.end());
    if (!all && made.replaced == 0) continue;  // writes alone do not make up for the operator
    replaced += made.replaced + made.writes;
    Changes changes(changed.range_constraints);
    changes.add("attention as one operator, llama::custom_sdpa", made.replaced);
    changes.add("write to a cache by llama::update_cache", made.writes);
    model.changes[name] = changes.all();
    flat_here = std::move(made.flat_buffers);
    program = std::move(changed);
  }
  if (all && replaced == 0) {
    throw AotError(
        fmt::format("--attention custom_sdpa: there is no aten.scaled_dot_product_attention{}{}",
                    kept.empty() ? "" : " that it computes: ", fmt::join(kept, "; ")));
  }
  if (options.emit.memory_planning.share_mutable_buffers) flatten_alike(model.methods, flat);
  model.notes.insert(model.notes.end(), kept.begin(), kept.end());
}

class Lowering {
 public:
  Lowering(Methods exported, const LowerOptions& options) : options_(options), emit_(options.emit) {
    emit_.memory_planning.tight |= options.optimise;
    emit_.memory_planning.in_place |= options.optimise;
    for (const auto& partitioner : options.partitioners) {
      partitioners_.push_back(filtered(partitioner, options.filter));
    }
    declare(options.operators, exported);
    apply_bounds(options.bounds, exported);
    model_.methods = std::move(exported);
    if (options.attention != AttentionOperator::kAten) {
      replace_attention_of(options, model_);
    }
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
      if (options_.optimise) {
        optimise(name, program);
      } else {
        keep(name, attempt(name, std::move(program), kNoOptimisation));
      }
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
  }

  // A method on its way: as the record, reports and the emitter see it.
  struct Attempt {
    ExportedProgram edge;  // only for a record
    ExportedProgram delegated;
    ExportedProgram executable;
    std::vector<Rejection> rejections;
    std::vector<Change> changes;
  };

  Attempt attempt(const std::string& name, ExportedProgram program, uint8_t optimisations) {
    Attempt made;
    Changes changes(program.range_constraints);
    of_method(name,
              [&] { optimise_before_delegation(program, for_backends(optimisations), changes); });
    if (options_.make_record) made.edge = program.copy();
    if (!partitioners_.empty()) {
      const SparedViews spared = delegate(name, program, optimisations, made.rejections);
      changes.add("view that left a delegate", spared.views);
      changes.add("delegate that held views alone", spared.delegates, spared.delegates);
    }
    tell("for execution", name);
    of_method(name, [&] {
      const NodeNames before = names_of(*program.graph);
      optimise_after_delegation(program, optimisations, changes);
      forget_removed(before, names_of(*program.graph), made.rejections);
      made.executable = program.copy();
      to_executable(made.executable);
      optimise_executable(made.executable, optimisations, changes);
    });
    made.delegated = std::move(program);
    made.changes = changes.all();
    return made;
  }

  uint8_t for_backends(uint8_t optimisations) const {
    return partitioners_.empty() ? optimisations & ~kMerging & 0xff : optimisations;
  }

  // Nobody who asks for speed shall pay in memory: what makes the plan larger is not done.
  void optimise(const std::string& name, const ExportedProgram& program) {
    Attempt stock = attempt(name, program.copy(), kNoOptimisation);
    const uint64_t most = planned_bytes(stock.executable, options_.emit.memory_planning);
    for (const uint8_t choice : optimisation_choices()) {
      if (choice == kNoOptimisation) break;
      Attempt made = attempt(name, program.copy(), choice);
      if (planned_bytes(made.executable, emit_.memory_planning) <= most)
        return keep(name, std::move(made));
    }
    keep(name, std::move(stock));
  }

  void keep(const std::string& name, Attempt made) {
    if (options_.make_record) edge_programs_.emplace(name, std::move(made.edge));
    if (!partitioners_.empty()) model_.rejections[name] = std::move(made.rejections);
    if (options_.optimise) {
      std::vector<Change>& changes = model_.changes[name];
      changes.insert(changes.end(), made.changes.begin(), made.changes.end());
    }
    executable_.emplace(name, std::move(made.executable));
    model_.methods.find(name)->second = std::move(made.delegated);
  }

  SparedViews delegate(const std::string& name, ExportedProgram& program, uint8_t optimisations,
                       std::vector<Rejection>& rejections) {
    SparedViews spared;
    tell("to backends", name);
    of_method(name, [&] {
      if (options_.emit.external_constants) tag_external_constants(program, file_of_weight);
      std::vector<std::shared_ptr<const Partitioner>> partitioners = partitioners_;
      if (optimisations & kUndelegating) {
        for (auto& each : partitioners) each = economical(std::move(each), &spared);
      }
      rejections = to_backend(program, partitioners);
      require_kept_ops_lowered(program, kept_.at(name));
    });
    return spared;
  }

  void write() {
    tell("writing", "");
    std::vector<std::byte> pte;
    const auto sink = [&](std::span<const std::byte> bytes) {
      model_.program_bytes += bytes.size();
      if (options_.sink) return options_.sink(bytes);
      pte.insert(pte.end(), bytes.begin(), bytes.end());
    };
    model_.emitted = emit_to(sink, executable_, emit_);
    model_.emitted.pte = std::move(pte);
    if (!options_.make_record) return;
    tell("recording", "");
    model_.record = write_record(edge_programs_, model_.emitted.debug_info);
  }

  const LowerOptions& options_;
  EmitOptions emit_;
  std::vector<std::shared_ptr<const Partitioner>> partitioners_;
  LoweredModel model_;
  std::map<std::string, std::vector<OpsToKeep>> kept_;  // by method
  std::set<std::string> operators_;
  Methods edge_programs_;
  Methods executable_;
};

}  // namespace

std::optional<AttentionOperator> attention_operator(std::string_view name) {
  if (name == "aten") return AttentionOperator::kAten;
  if (name == "custom_sdpa") return AttentionOperator::kCustomSdpa;
  if (name == "auto") return AttentionOperator::kAuto;
  return std::nullopt;
}

Methods import_methods(const std::map<std::string, std::filesystem::path>& files) {
  Methods methods;
  for (const auto& [name, file] : files) methods.emplace(name, import_pt2(file));
  return methods;
}

LoweredModel lower(Methods exported, const LowerOptions& options) {
  return Lowering(std::move(exported), options).run();
}

}  // namespace vitrine::aot
