#include "aot/optimise/optimise.h"

#include <array>

#include "aot/evaluation/fold_constants.h"
#include "aot/optimise/rewriting.h"
#include "aot/optimise/rules.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

void fold(ExportedProgram& program, Changes& changes, bool for_backends) {
  FoldOptions options;
  options.keeps_quantisation = for_backends;
  options.keeps_transpositions = for_backends;
  const size_t calls = fold_constants(program, options);
  changes.add("call that depends on constants alone", calls, calls);
}

// Each makes work for the others. A few rounds do; what is left costs time only.
void simplify(ExportedProgram& program, Changes& changes, bool makes_views) {
  constexpr size_t kMaxRounds = 8;
  for (size_t round = 0, before = 0; round < kMaxRounds; ++round) {
    before = program.graph->nodes().size();
    remove_neutral_calls(program, changes);
    remove_expansions(program, changes);
    compose_permutations(program, changes);
    if (makes_views) copies_to_views(program, changes);
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

std::span<const uint8_t> optimisation_choices() {
  constexpr uint8_t kPlain = kFolding | kSimplifying;
  constexpr uint8_t kMost = kPlain | kViewing | kMerging;
  static constexpr std::array<uint8_t, 8> kChoices = {kMost | kUndelegating | kSharing | kSlicing,
                                                      kMost | kUndelegating | kSharing,
                                                      kMost | kUndelegating,
                                                      kMost,
                                                      kPlain | kViewing,
                                                      kPlain,
                                                      kFolding,
                                                      kNoOptimisation};
  return kChoices;
}

void optimise_before_delegation(ExportedProgram& program, uint8_t optimisations, Changes& changes) {
  if (optimisations == kNoOptimisation) return;
  std::vector<Pass> passes;
  const auto add = [&](const char* name, auto rule) {
    passes.push_back({name, [&changes, rule](ExportedProgram& each) { rule(each, changes); }});
  };
  const bool views = (optimisations & kViewing) != 0;
  if (optimisations & kFolding) {
    add("fold_constants", [](auto& each, auto& found) { fold(each, found, true); });
  }
  if (optimisations & kSimplifying) {
    add("simplify", [=](auto& each, auto& found) { simplify(each, found, views); });
    add("remove_safe_softmax", remove_safe_softmax);
    add("merge_scales", merge_scales);
    add("fold_pads", fold_pads);
  }
  if (optimisations & kMerging) {
    add("use_forms_of_backends", use_forms_of_backends);
    add("simplify", [=](auto& each, auto& found) { simplify(each, found, views); });
  }
  if (optimisations & kSharing) {
    add("share_results", [](auto& each, auto& found) { share_results(each, found, true); });
  }
  passes.push_back({"remove_unused_weights", remove_unused_weights});
  run_passes(program, passes);
}

void optimise_after_delegation(ExportedProgram& program, uint8_t optimisations, Changes& changes) {
  if (optimisations == kNoOptimisation) return;
  std::vector<Pass> passes = {{"decompose_late", decompose_late}};
  const auto add = [&](const char* name, auto rule) {
    passes.push_back({name, [&changes, rule](ExportedProgram& each) { rule(each, changes); }});
  };
  if (optimisations & kSimplifying) {
    add("simplify", [](auto& each, auto& found) { simplify(each, found, true); });
  }
  if (optimisations & kSharing) {
    add("share_results", [](auto& each, auto& found) { share_results(each, found, false); });
  }
  if (optimisations & kFolding) {
    add("fold_batch_norms", fold_batch_norms);
    add("fold_constants", [](auto& each, auto& found) { fold(each, found, false); });
  }
  passes.push_back({"remove_unused_weights", remove_unused_weights});
  run_passes(program, passes);
}

void optimise_executable(ExportedProgram& program, uint8_t optimisations, Changes& changes) {
  if ((optimisations & kSlicing) == 0) return;
  const Pass passes[] = {
      {"slices_to_views", [&](ExportedProgram& each) { slices_to_views(each, changes); }}};
  run_passes(program, passes);
}

}  // namespace vitrine::aot
