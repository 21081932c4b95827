// --quantize auto: chooses the precision of each part of a model under a bound, by measuring
// lowered programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"
#include "tools/pte_lower/auto/choose.h"
#include "tools/pte_lower/auto/measure.h"

namespace vitrine::tools {

struct AutoOptions {
  enum class Unit { kDecibels, kScore, kBytes, kMilliseconds };
  Goal goal;
  Unit unit = Unit::kDecibels;
  size_t samples = 0;  // maximum number of samples for measuring
  // The user's score of a program. Higher is better. May be null.
  std::function<double(std::span<const std::byte> program)> score;
  // Returns true if the search must end with its results so far. May be null.
  std::function<bool()> is_stopped;
  std::string accuracy;                // --accuracy: a command that prints a score; may be empty
  std::filesystem::path report;        // JSON or a page (.html); may be empty
  std::vector<std::string> arguments;  // the command line without quantization
  std::vector<std::string> calibrate;  // paths of calibration data
  // Profiles from a device, as SCHEME=FILE. If the list is not empty, times come from these
  // profiles.
  std::vector<std::string> device_times;
};

struct AutoLevel {
  std::string scheme;      // "int8", "8da4w:32"
  double noise = 0;        // noise at the outputs if only this part has this precision
  double saved_bytes = 0;  // bytes that this part alone saves
  TimeRatio time = {};     // time if only this part has this precision
  double saved_ms = 0;     // 0 if within the noise of the measurement
};

struct AutoPart {
  std::string name;
  std::vector<AutoLevel> levels;
  size_t chosen = 0;  // 0: float; n: levels[n - 1]
};

struct AutoProgram {
  std::string name;  // "float", "int8", "chosen"; of a step, the number of quantized parts
  double noise = 0;
  std::optional<double> score = std::nullopt;  // set if the user has a score
  size_t bytes = 0;
  TimeRatio time = {};
  Milliseconds ms = {};
};

struct AutoResult {
  bool is_met = false;
  // False if another measurement may exceed the bound on time: the time comes from a device's
  // profiles, or the interval of the time contains the bound.
  bool is_certain = true;
  bool is_interrupted = false;       // `results` is then empty, and `parts` may be incomplete
  std::vector<AutoPart> parts;       // parts in the order of their first step
  std::vector<AutoProgram> steps;    // the programs that the search measured, in order
  std::vector<AutoProgram> results;  // float, all int8, chosen
  size_t samples = 0;                // used for measuring
  std::string quantize;              // "int8", "float"; empty if all parts stay float
  std::vector<std::string> keep;     // rules of --keep
  std::string device;                // device of the times; empty: this machine
};

// `methods` must contain one method, and `lowering` calibration data. Throws HostErrors.
AutoResult search_precisions(const aot::Methods& methods, const aot::LowerOptions& lowering,
                             const AutoOptions& options);

}  // namespace vitrine::tools
