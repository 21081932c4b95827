// The command line of pte_lower.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/pipeline/dynamic_bounds.h"
#include "aot/pipeline/lower.h"
#include "aot/pipeline/quantisation.h"

namespace vitrine::tools {

struct LoweringOptions {
  std::map<std::string, std::filesystem::path> models;  // by method
  std::filesystem::path output;
  std::filesystem::path record;    // empty: none
  std::filesystem::path graphviz;  // empty: none
  std::vector<std::string> backends;
  std::vector<std::string> only_ops;
  std::vector<std::string> excluded_ops;
  std::vector<aot::DynamicBound> bounds;
  std::vector<const Operator*> operators;
  aot::QuantiseOptions quantise;
  aot::AttentionOperator attention = aot::AttentionOperator::kAten;
  aot::EmitOptions emit;
  bool fold_constants = false;
  bool optimise = false;
  bool summary = false;
  bool graph = false;
  bool explain = false;
  bool explain_places = false;  // each call, too
};

// Empty if the program must end with *exit_code: after --help, or a wrong command line (reported on
// stderr).
std::optional<LoweringOptions> parse_lowering_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
