#include "aot/optimize/optimize.h"

#include <array>

#include "aot/graph/pass.h"
#include "aot/optimize/fold_constants.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

void fold(ExportedProgram& program, Changes& changes, bool for_backends) {
  FoldOptions options;
  options.keep_quantization = for_backends;
  options.keep_transpositions = for_backends;
  const size_t calls = fold_constants(program, options);
  changes.add("call with constant inputs folded", calls, calls);
}

// Repeats the rules, because each rule may enable others. The program is correct after every round.
void simplify(ExportedProgram& program, Changes& changes, bool make_views) {
  constexpr size_t kMaxRounds = 8;
  for (size_t round = 0, before = 0; round < kMaxRounds; ++round) {
    before = program.graph->nodes().size();
    remove_neutral_calls(program, changes);
    remove_expansions(program, changes);
    compose_permutations(program, changes);
    if (make_views) copies_to_views(program, changes);
    if (program.graph->nodes().size() == before) break;
  }
}

void remove_unused_weights(ExportedProgram& program) {
  program.graph->remove_dead_code();
  for (Node* node : program.graph->placeholders()) {
    if (node->users().empty() && constant_of(program, node) != nullptr) program.remove_input(node);
  }
}

}  // namespace

std::span<const Optimizations> optimization_choices() {
  constexpr Optimizations kBasic = kFolding | kSimplifying;
  constexpr Optimizations kAllForBackends = kBasic | kViewing | kMerging;
  static constexpr std::array<Optimizations, 8> kChoices = {
      kAllForBackends | kUndelegating | kSharing | kSlicing,
      kAllForBackends | kUndelegating | kSharing,
      kAllForBackends | kUndelegating,
      kAllForBackends,
      kBasic | kViewing,
      kBasic,
      kFolding,
      kNoOptimization};
  return kChoices;
}

void optimize_before_delegation(ExportedProgram& program, Optimizations optimizations,
                                Changes& changes) {
  if (optimizations == kNoOptimization) return;
  std::vector<Pass> passes;
  const auto add = [&](const char* name, auto rule) {
    passes.push_back({name, [&changes, rule](ExportedProgram& each) { rule(each, changes); }});
  };
  const bool make_views = (optimizations & kViewing) != 0;
  if (optimizations & kFolding) {
    add("fold_constants", [](auto& each, auto& found) { fold(each, found, true); });
  }
  if (optimizations & kSimplifying) {
    add("simplify", [=](auto& each, auto& found) { simplify(each, found, make_views); });
    add("remove_safe_softmax", remove_safe_softmax);
    add("merge_scales", merge_scales);
    add("fold_pads", fold_pads);
  }
  if (optimizations & kMerging) {
    add("rewrite_for_backends", rewrite_for_backends);
    add("simplify", [=](auto& each, auto& found) { simplify(each, found, make_views); });
  }
  if (optimizations & kSharing) {
    add("share_results", [](auto& each, auto& found) { share_results(each, found, true); });
  }
  passes.push_back({"remove_unused_weights", remove_unused_weights});
  run_passes(program, passes);
}

void optimize_after_delegation(ExportedProgram& program, Optimizations optimizations,
                               Changes& changes) {
  if (optimizations == kNoOptimization) return;
  std::vector<Pass> passes = {{"decompose_late", decompose_late}};
  const auto add = [&](const char* name, auto rule) {
    passes.push_back({name, [&changes, rule](ExportedProgram& each) { rule(each, changes); }});
  };
  if (optimizations & kSimplifying) {
    add("simplify", [](auto& each, auto& found) { simplify(each, found, true); });
  }
  if (optimizations & kSharing) {
    add("share_results", [](auto& each, auto& found) { share_results(each, found, false); });
  }
  if (optimizations & kFolding) {
    add("fold_batch_norms", fold_batch_norms);
    add("fold_constants", [](auto& each, auto& found) { fold(each, found, false); });
  }
  passes.push_back({"remove_unused_weights", remove_unused_weights});
  run_passes(program, passes);
}

void optimize_executable(ExportedProgram& program, Optimizations optimizations, Changes& changes) {
  if ((optimizations & kSlicing) == 0) return;
  const Pass passes[] = {
      {"slices_to_views", [&](ExportedProgram& each) { slices_to_views(each, changes); }}};
  run_passes(program, passes);
}

}  // namespace vitrine::aot
