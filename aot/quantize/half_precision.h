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
  std::vector<HalfRule> rules = {};                // the first one that names a call decides

  bool is_empty() const;
};

// The kind of part that the pattern of each rule names. An element is empty if no part of the model
// has this name.
using RuleKinds = std::vector<std::optional<PartKind>>;

// Call this before to_edge(), because rules name operators of the imported program.
RuleKinds kinds_of(const ExportedProgram& program, const HalfOptions& options);

struct HalfResult {
  size_t calls = 0;             // that a rule or `dtype` reached
  std::vector<size_t> by_rule;  // the same for each rule

  HalfResult& operator+=(const HalfResult& other);
};

// Runs on a functional graph of core ATen. If a rule names a call, the f32 operands and the f32
// result of the call get the rule's dtype. Stored operands are rounded ahead of time. Conversions
// surround these calls, except where one of these calls reads the result of another. Calls that do
// not compute new values, such as relu and view_copy, get the dtype of their operands. Does not
// change integers, int8 calls, calls with several results, calls in branches and loops, and calls
// for which can_run() is false in the new dtype.
HalfResult convert_to_half(ExportedProgram& program, const HalfOptions& options,
                           const RuleKinds& kinds,
                           const std::function<bool(const Node& call)>& can_run);

}  // namespace vitrine::aot
