#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/pipeline/dynamic_bounds.h"
#include "aot/pipeline/lower.h"
#include "aot/pipeline/quantization.h"
#include "tools/pte_lower/auto/search.h"

namespace vitrine::tools {

struct LoweringOptions {
  std::map<std::string, std::filesystem::path> models;  // keyed by method
  std::filesystem::path output;                         // may be empty if a report is printed
  std::filesystem::path record;                         // file for the ETRecord; may be empty
  std::filesystem::path graphviz;                       // file for the graph; may be empty
  std::vector<std::string> backends;
  std::vector<std::string> backend_options;
  std::vector<std::string> only_ops;
  std::vector<std::string> excluded_ops;
  std::vector<aot::DynamicBound> bounds;
  std::vector<const Operator*> operators;
  aot::Quantization quantize;
  std::optional<AutoOptions> search;   // --quantize auto
  std::vector<std::string> calibrate;  // paths of files, folders and lists
  aot::AttentionOperator attention = aot::AttentionOperator::kAten;
  aot::EmitOptions emit;
  bool fold_constants = false;
  bool optimize = false;
  bool check_loading = true;
  bool summary = false;
  bool graph = false;
  bool explain = false;
  bool explain_places = false;  // lists each call
};

// Returns nullopt if the tool must exit with *exit_code: after --help, or after an invalid command
// line, which is reported on stderr.
std::optional<LoweringOptions> parse_lowering_options(int argc, char** argv, int* exit_code);
// `arguments` excludes the name of the tool.
std::optional<LoweringOptions> parse_lowering_options(std::vector<std::string> arguments,
                                                      int* exit_code);

// Does not set the members `calibration`, `progress` and `sink`. `options` must outlive the call to
// aot::lower().
aot::LowerOptions to_lower_options(const LoweringOptions& options);

}  // namespace vitrine::tools
