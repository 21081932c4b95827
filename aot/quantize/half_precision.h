// Makes calls compute in f16 or bf16.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/graph/model_part.h"

namespace vitrine::aot {

struct HalfRule {
  std::string pattern;                             // model_part.h
  std::optional<ScalarType> dtype = std::nullopt;  // empty: the part stays as it is
};

struct HalfOptions {
  std::optional<ScalarType> dtype = std::nullopt;  // kHalf or kBFloat16, for the complete model
  std::vector<HalfRule> rules = {};                // the first rule that names a call decides

  bool is_empty() const;
};

// For each rule, the kind of model part that the pattern names. An element is empty if its pattern
// matches nothing.
using RuleKinds = std::vector<std::optional<PartKind>>;

// Call this before to_edge(), because rules name operators of the imported program.
RuleKinds kinds_of(const ExportedProgram& program, const HalfOptions& options);

struct HalfResult {
  size_t calls = 0;             // number of calls that a rule or `dtype` chose
  std::vector<size_t> by_rule;  // number of calls that each rule chose

  HalfResult& operator+=(const HalfResult& other);
};

// Makes calls compute in f16 or bf16 instead of f32. `program` must be a functional graph of core
// ATen. The first rule that names a call chooses the dtype, or else options.dtype. If options.dtype
// is empty, calls that only move values, such as view_copy, get the dtype of their operands. Rounds
// stored operands ahead of time, and inserts conversions. Does not change integers, int8 calls,
// calls with several results, calls in subgraphs, and calls for which can_run() is false.
HalfResult convert_to_half(ExportedProgram& program, const HalfOptions& options,
                           const RuleKinds& kinds,
                           const std::function<bool(const Node& call)>& can_run);

}  // namespace vitrine::aot
