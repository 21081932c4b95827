// pte_lower --quantize auto: chooses the precision of each part of a model under a bound, by
// measuring lowered programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"
#include "tools/pte_lower/auto/choose.h"

namespace vitrine::tools {

struct AutoOptions {
  enum class Unit { kDecibels, kScore, kBytes, kMilliseconds };
  Goal goal;
  Unit unit = Unit::kDecibels;
  size_t samples = 0;                  // at most this many are used for measuring
  std::string accuracy;                // a command that prints a score; may be empty
  std::filesystem::path report;        // JSON; may be empty
  std::vector<std::string> arguments;  // the command line without quantization
  std::vector<std::string> calibrate;  // paths of calibration data
};

// A part of the model whose precision is chosen.
struct AutoPart {
  PartFigures figures;        // `saved` is in the unit that the search minimizes
  std::string scheme;         // "int8", "int8_dynamic"
  double saved_bytes = 0;     // by this part alone
  double saved_ms = 0;        // noisy
  bool is_quantized = false;  // in the result
};

// A program that was measured.
struct AutoProgram {
  std::string name;  // "float", "int8", "chosen"; of a step, the number of quantized parts
  double noise = 0;
  std::optional<double> score = std::nullopt;  // with --accuracy
  size_t bytes = 0;
  double ms = 0;  // noisy; 0 if it was not measured
};

struct AutoResult {
  bool is_met = false;
  std::vector<AutoPart> parts;       // in the order in which they are quantized
  std::vector<AutoProgram> steps;    // the programs that the search measured, in order
  std::vector<AutoProgram> results;  // float, all int8, chosen
  size_t samples = 0;                // used for measuring
  std::string quantize;              // "int8"; empty if all parts stay float
  std::vector<std::string> keep;     // rules of --keep
};

// `methods` has one method and `lowering` has the calibration data. `output` names the folder for
// temporary programs of --accuracy. Throws HostErrors.
AutoResult search_precisions(const aot::Methods& methods, const aot::LowerOptions& lowering,
                             const AutoOptions& options, const std::filesystem::path& output);

}  // namespace vitrine::tools
