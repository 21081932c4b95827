#include "tools/pte_lower/auto/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "tools/common/files.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/accuracy.h"
#include "tools/pte_lower/auto/measure.h"
#include "tools/pte_lower/auto/parts.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMaxSwaps = 8;
constexpr double kPartMs = 60;      // of running a part's program and the float program in turn
constexpr double kResultMs = 1000;  // the same for the programs at the end, and for bounds on time

aot::LowerOptions quiet(aot::LowerOptions options) {
  options.progress = nullptr;
  options.sink = nullptr;
  return options;
}

class PrecisionSearch {
 public:
  PrecisionSearch(const aot::Methods& methods, const aot::LowerOptions& lowering,
                  const AutoOptions& options, const std::filesystem::path& output)
      : methods_(methods),
        lowering_(quiet(lowering)),
        options_(options),
        output_(output),
        samples_(std::min(lowering.calibration.count, options.samples)),
        float_program_(lower({}, lowering_.calibration.count)),
        comparison_(lowering_.calibration, samples_, methods.begin()->first, float_program_) {
    for (const ModelPart& part : parts_of(methods.begin()->second)) {
      names_.push_back(part);
    }
    if (names_.empty()) {
      throw ToolError(
          "--quantize auto: the model has no modules with convolutions or linear layers");
    }
  }

  AutoResult run() {
    measure_parts();
    std::vector<PartFigures> figures;
    for (const AutoPart& part : parts_) figures.push_back(part.figures);
    std::vector<AutoPart> sorted;
    for (const size_t i : greedy_order(figures)) sorted.push_back(parts_[i]);
    parts_ = std::move(sorted);
    figures.clear();
    for (const AutoPart& part : parts_) figures.push_back(part.figures);

    Progress progress("choosing");
    const Choice choice = choose(figures, options_.goal, kMaxSwaps, [&](const Selection& each) {
      progress.update(steps_.size(), steps_.size() + kMaxSwaps);
      return measure(each);
    });
    progress.clear();
    AutoResult result;
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].is_quantized = choice.selection[i];
    result.is_met = choice.is_met;
    result.samples = samples_;
    const Rules rules = rules_for(choice.selection);
    result.quantize = rules.quantize;
    result.keep = rules.keep;
    result.results = {final_program("float", {}), final_program("int8", {"int8", {}}),
                      final_program("chosen", rules)};
    if (options_.unit == AutoOptions::Unit::kMilliseconds) {
      // Times are noisy: the last measurement decides.
      result.is_met = result.results.back().ms <= options_.goal.bound;
    }
    result.parts = std::move(parts_);
    result.steps = std::move(steps_);
    return result;
  }

 private:
  struct Rules {
    std::string quantize;           // empty: float
    std::vector<std::string> keep;  // of --keep
  };

  ProgramBytes lower(const Rules& rules, size_t samples) const {
    aot::LowerOptions options = lowering_;
    ProgramBytes program;
    options.sink = [&](std::span<const std::byte> bytes) {
      program.insert(program.end(), bytes.begin(), bytes.end());
    };
    options.calibration.count = samples;
    if (!rules.quantize.empty()) options.quantize = aot::parse_quantization(rules.quantize);
    for (const std::string& rule : rules.keep) aot::add_int8_rule(rule, options.quantize);
    aot::Methods copies;
    for (const auto& [name, method] : methods_) copies.emplace(name, method.copy());
    aot::lower(std::move(copies), options);
    return program;
  }

  // The rules that give parts their schemes; parts without a scheme stay float.
  Rules rules_of(const std::map<std::string, std::string>& schemes) const {
    Rules rules{.quantize = "int8", .keep = {}};
    for (const ModelPart& part : names_) {
      const auto found = schemes.find(part.name);
      const std::string scheme = found == schemes.end() ? "float" : found->second;
      if (scheme != "int8") rules.keep.push_back(part.name + '=' + scheme);
    }
    if (schemes.empty()) return {};
    return rules;
  }

  Rules rules_for(const Selection& selection) const {
    std::map<std::string, std::string> schemes;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (selection[i]) schemes[parts_[i].figures.name] = parts_[i].scheme;
    }
    return rules_of(schemes);
  }

  // Lowers each part alone in each scheme, and keeps the scheme with less error.
  void measure_parts() {
    Progress progress("measuring the parts");
    const bool by_time = options_.unit == AutoOptions::Unit::kMilliseconds;
    for (size_t i = 0; i < names_.size(); ++i) {
      progress.update(i, names_.size());
      std::optional<AutoPart> best;
      for (const char* scheme : {"int8", "int8_dynamic"}) {
        if (scheme != std::string_view("int8") && !names_[i].has_linear) continue;
        std::optional<AutoPart> part = measure_part(names_[i].name, scheme);
        if (!part) continue;
        part->figures.saved = by_time ? part->saved_ms : part->saved_bytes;
        if (!best || part->figures.noise < best->figures.noise) best = std::move(part);
      }
      if (best) parts_.push_back(std::move(*best));
    }
    if (parts_.empty()) {
      throw ToolError("--quantize auto: no part of the model becomes int8 on its own");
    }
  }

  // Empty if the scheme does not reach the part.
  std::optional<AutoPart> measure_part(const std::string& name, const char* scheme) const {
    ProgramBytes program;
    try {
      program = lower(rules_of({{name, scheme}}), samples_);
    } catch (const aot::NothingToQuantize&) {
      return std::nullopt;
    }
    AutoPart part;
    part.figures.name = name;
    part.figures.noise = comparison_.noise(program);
    part.scheme = scheme;
    part.saved_bytes =
        static_cast<double>(float_program_.size()) - static_cast<double>(program.size());
    const Times times = comparison_.times(program, kPartMs);
    part.saved_ms = times.reference_ms - times.ms;
    return part;
  }

  std::optional<double> score(const ProgramBytes& program) const {
    if (options_.accuracy.empty()) return std::nullopt;
    NewFile file(output_);  // the destructor removes it
    file.append(program);
    file.finish();
    const std::filesystem::path path = file.temporary_path();
    if (path.empty()) throw ToolError("--accuracy needs --output with the name of a file");
    return run_accuracy(options_.accuracy, path);
  }

  AutoProgram figures_of(std::string name, const ProgramBytes& program) const {
    return {.name = std::move(name),
            .noise = comparison_.noise(program),
            .score = score(program),
            .bytes = program.size()};
  }

  Measured measure(const Selection& selection) {
    const ProgramBytes program = lower(rules_for(selection), lowering_.calibration.count);
    AutoProgram made = figures_of(std::to_string(std::ranges::count(selection, true)), program);
    const bool by_time = options_.unit == AutoOptions::Unit::kMilliseconds;
    if (by_time) made.ms = comparison_.times(program, kResultMs).ms;
    const Measured measured{.quality = made.score.value_or(decibels(made.noise)),
                            .cost = by_time ? made.ms : static_cast<double>(made.bytes)};
    steps_.push_back(std::move(made));
    return measured;
  }

  AutoProgram final_program(const char* name, const Rules& rules) const {
    const ProgramBytes program = lower(rules, lowering_.calibration.count);
    AutoProgram made = figures_of(name, program);
    made.ms = comparison_.times(program, kResultMs / 2).ms;
    return made;
  }

  const aot::Methods& methods_;
  const aot::LowerOptions lowering_;
  const AutoOptions& options_;
  const std::filesystem::path& output_;
  size_t samples_;
  ProgramBytes float_program_;
  Comparison comparison_;
  std::vector<ModelPart> names_;
  std::vector<AutoPart> parts_;
  std::vector<AutoProgram> steps_;
};

}  // namespace

AutoResult search_precisions(const aot::Methods& methods, const aot::LowerOptions& lowering,
                             const AutoOptions& options, const std::filesystem::path& output) {
  if (methods.size() != 1) {
    throw ToolError(fmt::format(
        "--quantize auto: the calibration data can be for one method only, but the program has {}",
        methods.size()));
  }
  return PrecisionSearch(methods, lowering, options, output).run();
}

}  // namespace vitrine::tools
