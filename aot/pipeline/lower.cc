#include "aot/pipeline/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "aot/emit/record.h"
#include "aot/emit/shared_buffers.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/import/import_error.h"
#include "aot/import/native.h"
#include "aot/import/pt2.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/to_backend.h"
#include "aot/optimize/economical_partitioner.h"
#include "aot/optimize/fold_constants.h"
#include "aot/optimize/optimize.h"
#include "aot/passes/kv_caches.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "base/zip_archive.h"
#include "formats/native/native_package.h"

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
    throw AotError(fmt::format("bounds of {}: the model has no such dynamic size; {}", bound.name,
                               known.empty() ? "all sizes are static" : "it has " + known));
  }
}

bool is_kept(std::span<const OpsToKeep> all, const Node& call) {
  return std::ranges::any_of(all, [&](const OpsToKeep& ops) {
    return std::ranges::count(ops.targets, call.target().name()) != 0 &&
           (!ops.keeps || ops.keeps(call));
  });
}

using NodeNames = std::map<const Node*, std::string>;

NodeNames names_of(Graph& graph) {
  NodeNames names;
  for_each_graph(graph, [&](Graph& g) {
    for (const Node& node : g.nodes()) names.emplace(&node, node.name());
  });
  return names;
}

// Erases rejections of nodes that a pass has removed from the graph.
void erase_removed(const NodeNames& before, const NodeNames& after,
                   std::vector<Rejection>& rejections) {
  std::erase_if(rejections, [&](const Rejection& rejection) {
    const auto old_name = before.find(rejection.node);
    const auto new_name = after.find(rejection.node);
    return old_name == before.end() || new_name == after.end() ||
           old_name->second != new_name->second;
  });
}

// Flattens a cache in all methods if replace_attention() flattened the cache in any method
// (`flat`), because methods that share a buffer must use the same shape.
void flatten_in_all_methods(Methods& methods,
                            const std::map<std::string, std::set<std::string>>& flat) {
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

void replace_attention_in(const LowerOptions& options, LoweredModel& model) {
  const bool all = options.attention == AttentionOperator::kCustomSdpa;
  const AttentionChoice choice = all ? AttentionChoice::kAll
                                 : options.partitioners.empty()
                                     ? AttentionChoice::kIfFaster
                                     : AttentionChoice::kIfFasterThanDelegated;
  size_t replaced = 0;
  std::vector<std::string> kept;
  std::map<std::string, std::set<std::string>> flat;
  for (auto& [name, program] : model.methods) {
    std::set<std::string>& flat_here = flat[name];
    AttentionResult made;
    const Pass passes[] = {{"inline_wrapped", inline_wrapped},
                           {"replace_attention", [&](ExportedProgram& each) {
                              made = replace_attention(each, choice);
                            }}};
    ExportedProgram changed = program.copy();
    run_passes(changed, passes);
    kept.insert(kept.end(), made.kept.begin(), made.kept.end());
    if (!all && made.replaced == 0) continue;  // replacing only writes does not save time
    replaced += made.replaced + made.writes;
    Changes changes(changed.range_constraints);
    changes.add("attention replaced by llama::custom_sdpa", made.replaced);
    changes.add("cache write replaced by llama::update_cache", made.writes);
    model.changes[name] = changes.all();
    flat_here = std::move(made.flat_buffers);
    program = std::move(changed);
  }
  if (all && replaced == 0) {
    throw AotError(fmt::format(
        "--attention custom_sdpa: the model has no aten.scaled_dot_product_attention{}{}",
        kept.empty() ? "" : " that custom_sdpa can replace: ", fmt::join(kept, "; ")));
  }
  if (options.emit.memory_planning.share_mutable_buffers)
    flatten_in_all_methods(model.methods, flat);
  model.notes.insert(model.notes.end(), kept.begin(), kept.end());
}

class Lowering {
 public:
  Lowering(Methods exported, const LowerOptions& options) : options_(options), emit_(options.emit) {
    emit_.memory_planning.tight |= options.optimize;
    emit_.memory_planning.in_place |= options.optimize;
    emit_.emit_record_digest |= options.make_record;
    for (const auto& partitioner : options.partitioners) {
      partitioners_.push_back(filtered(partitioner, options.filter));
    }
    declare(options.operators, exported);
    apply_bounds(options.bounds, exported);
    for (auto& [name, program] : exported) {
      for (std::string& note : set_missing_bounds(program)) {
        model_.notes.push_back(std::move(note));
      }
    }
    model_.methods = std::move(exported);
    if (options.attention != AttentionOperator::kAten) {
      replace_attention_in(options, model_);
    }
    quantize();
  }

  LoweredModel run() {
    for (auto& [name, program] : model_.methods) make_edge_program(name, program);
    require_converted(options_.quantize.half, half_);
    if (options_.emit.memory_planning.share_mutable_buffers) mark_shared_buffers(model_.methods);
    for (auto& [name, program] : model_.methods) finish_edge_program(name, program);
    options_.filter.require_known(operators_);
    for (auto& [name, program] : model_.methods) {
      if (options_.optimize) {
        optimize(name, program);
      } else {
        keep(name, attempt(name, std::move(program), kNoOptimization));
      }
    }
    write();
    return std::move(model_);
  }

 private:
  void report_progress(std::string_view step, std::string_view method) const {
    if (options_.progress) options_.progress(step, method);
  }

  // Runs one step for a method. If the model has several methods, errors name the method.
  template <class Step>
  void run_step(const std::string& name, Step step) const {
    try {
      step();
    } catch (const AotError& error) {
      if (model_.methods.size() == 1) throw;
      throw AotError(fmt::format("method {}: {}", name, error.what()));
    }
  }

  // Quantizes embeddings first, because calibration for int8 must use the quantized embeddings.
  void quantize() {
    const QuantizeOptions& weights = options_.quantize.weights;
    if (!options_.quantize.int8) return quantize_weights(weights);
    QuantizeOptions embeddings = weights;
    embeddings.linears.reset();
    std::erase_if(embeddings.rules,
                  [](const WeightRule& rule) { return rule.linears.has_value(); });
    QuantizeOptions linears = weights;
    linears.embeddings.reset();
    std::erase_if(linears.rules,
                  [](const WeightRule& rule) { return rule.embeddings.has_value(); });
    quantize_weights(embeddings);
    quantize_methods_to_int8();
    quantize_weights(linears);
  }

  void quantize_weights(const QuantizeOptions& weights) {
    if (!weights.linears && !weights.embeddings && weights.rules.empty()) return;
    report_progress("quantizing", "");
    for (const std::string& layer : apply(weights, model_.methods)) {
      model_.notes.push_back("not quantized: " + layer);
    }
  }

  void quantize_methods_to_int8() {
    const CalibrationData& data = options_.calibration;
    if (data.count != 0 && model_.methods.size() > 1) {
      throw AotError(fmt::format(
          "--calibrate: expected a program with one method, found {} methods; quantize each method "
          "in a separate program",
          model_.methods.size()));
    }
    for (auto& method : model_.methods) {
      const std::string& name = method.first;
      run_step(name, [&] {
        model_.int8[name] =
            quantize_to_int8(method.second, *options_.quantize.int8, data, [&](size_t sample) {
              report_progress(
                  fmt::format("calibrating with sample {} of {}", sample + 1, data.count), name);
            });
      });
      std::vector<std::string>& notes = model_.int8[name].notes;
      model_.notes.insert(model_.notes.end(), notes.begin(), notes.end());
    }
  }

  void make_edge_program(const std::string& name, ExportedProgram& program) {
    report_progress("converting to the edge dialect", name);
    run_step(name, [&] {
      EdgeOptions edge;
      for (const auto& partitioner : partitioners_) {
        edge.ops_to_keep.push_back(partitioner->ops_to_keep(program));
      }
      const HalfOptions& half = options_.quantize.half;
      const RuleKinds kinds = kinds_of(program, half);
      if (!half.is_empty()) {
        edge.rewrite = [&](ExportedProgram& each) {
          half_ += convert_to_half(each, half, kinds, [&](const Node& call) {
            return has_kernel(call.target()) || is_kept(edge.ops_to_keep, call);
          });
        };
      }
      to_edge(program, edge);
      kept_[name] = std::move(edge.ops_to_keep);
    });
  }

  void finish_edge_program(const std::string& name, ExportedProgram& program) {
    run_step(name, [&] {
      if (!options_.fold_constants) return;
      FoldOptions fold;
      fold.keep_quantization = true;
      fold_constants(program, fold);
    });
    add_operators(*program.graph, operators_);
  }

  struct Attempt {
    ExportedProgram edge;  // set only if make_record
    ExportedProgram delegated;
    ExportedProgram executable;
    std::vector<Rejection> rejections;
    std::vector<Change> changes;
  };

  Attempt attempt(const std::string& name, ExportedProgram program, Optimizations optimizations) {
    Attempt made;
    Changes changes(program.range_constraints);
    run_step(name, [&] {
      optimize_before_delegation(program, without_merging_if_no_backend(optimizations), changes);
    });
    if (options_.make_record) made.edge = program.copy();
    if (!partitioners_.empty()) {
      const SparedViews spared = delegate(name, program, optimizations, made.rejections);
      changes.add("view moved out of a delegate", spared.views);
      changes.add("delegate removed: it had only views", spared.delegates, spared.delegates);
    }
    report_progress("preparing for execution", name);
    run_step(name, [&] {
      const NodeNames before = names_of(*program.graph);
      optimize_after_delegation(program, optimizations, changes);
      erase_removed(before, names_of(*program.graph), made.rejections);
      made.executable = program.copy();
      to_executable(made.executable);
      optimize_executable(made.executable, optimizations, changes);
    });
    made.delegated = std::move(program);
    made.changes = changes.all();
    return made;
  }

  Optimizations without_merging_if_no_backend(Optimizations optimizations) const {
    return partitioners_.empty() ? optimizations & ~kMerging & 0xff : optimizations;
  }

  // Tries one set of optimizations after the other until the result does not need more planned
  // memory than the result without optimizations. If every set needs more, does not optimize.
  void optimize(const std::string& name, const ExportedProgram& program) {
    Attempt stock = attempt(name, program.copy(), kNoOptimization);
    const uint64_t max_bytes = planned_bytes(stock.executable, options_.emit.memory_planning);
    for (const Optimizations choice : optimization_choices()) {
      if (choice == kNoOptimization) break;
      Attempt made = attempt(name, program.copy(), choice);
      if (planned_bytes(made.executable, emit_.memory_planning) <= max_bytes)
        return keep(name, std::move(made));
    }
    keep(name, std::move(stock));
  }

  void keep(const std::string& name, Attempt made) {
    if (options_.make_record) edge_programs_.emplace(name, std::move(made.edge));
    if (!partitioners_.empty()) model_.rejections[name] = std::move(made.rejections);
    if (options_.optimize) {
      std::vector<Change>& changes = model_.changes[name];
      changes.insert(changes.end(), made.changes.begin(), made.changes.end());
    }
    executable_.emplace(name, std::move(made.executable));
    model_.methods.find(name)->second = std::move(made.delegated);
  }

  SparedViews delegate(const std::string& name, ExportedProgram& program,
                       Optimizations optimizations, std::vector<Rejection>& rejections) {
    SparedViews spared;
    report_progress("delegating", name);
    run_step(name, [&] {
      if (options_.emit.external_constants) tag_external_constants(program, file_of_weight);
      std::vector<std::shared_ptr<const Partitioner>> partitioners = partitioners_;
      if (optimizations & kUndelegating) {
        for (auto& partitioner : partitioners) {
          partitioner = economical(std::move(partitioner), &spared);
        }
      }
      rejections = to_backend(program, partitioners);
      require_kept_ops_lowered(program, kept_.at(name));
    });
    return spared;
  }

  void write() {
    report_progress("writing the program", "");
    std::vector<std::byte> pte;
    const auto sink = [&](std::span<const std::byte> bytes) {
      model_.program_bytes += bytes.size();
      if (options_.sink) return options_.sink(bytes);
      pte.insert(pte.end(), bytes.begin(), bytes.end());
    };
    model_.emitted = emit_to(sink, executable_, emit_);
    model_.emitted.pte = std::move(pte);
    if (!options_.make_record) return;
    report_progress("writing the record", "");
    model_.record =
        write_record(edge_programs_, model_.emitted.debug_info, model_.emitted.record_digest);
  }

  const LowerOptions& options_;
  EmitOptions emit_;
  std::vector<std::shared_ptr<const Partitioner>> partitioners_;
  LoweredModel model_;
  std::map<std::string, std::vector<OpsToKeep>> kept_;  // keyed by method
  std::set<std::string> operators_;
  HalfResult half_;
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
  for (const auto& [name, file] : files) {
    const SharedBytes bytes = map_shared(file);
    if (!native::is_native_model(bytes.span)) {
      methods.emplace(name, parse_pt2(bytes.span, bytes.owner, file.string()));
      continue;
    }
    NativeMethods found = parse_native(bytes.span, bytes.owner, file.string());
    if (files.size() == 1) return found;
    if (found.size() != 1) {
      throw ImportError(fmt::format("{}: the file has {} methods; lower it without other models",
                                    file.string(), found.size()));
    }
    methods.emplace(name, std::move(found.begin()->second));
  }
  return methods;
}

LoweredModel lower(Methods exported, const LowerOptions& options) {
  return Lowering(std::move(exported), options).run();
}

}  // namespace vitrine::aot
