#include "tools/pte_lower/auto/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "aot/quantize/prepare.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/device_times.h"
#include "tools/pte_lower/auto/parts.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMaxSwaps = 8;
// Budgets for measuring time ratios. A search with a bound on time uses the `kDecisive` budgets.
// Only `ms` limits these measurements, because `max_pairs` is very large.
constexpr TimeBudget kPart{.ms = 60, .max_pairs = 2000};
constexpr TimeBudget kResult{.ms = 1000, .max_pairs = 2000};
constexpr size_t kManyPairs = 100'000;
constexpr TimeBudget kDecisivePart{.ms = 250, .max_pairs = kManyPairs};
constexpr TimeBudget kDecisiveStep{.ms = 1000, .max_pairs = kManyPairs};
constexpr TimeBudget kDecisiveResult{.ms = 3000, .max_pairs = kManyPairs};

bool is_half(std::string_view scheme) { return scheme == "f16" || scheme == "bf16"; }

aot::LowerOptions quiet(aot::LowerOptions options) {
  options.progress = nullptr;
  options.sink = nullptr;
  return options;
}

class PrecisionSearch {
 public:
  PrecisionSearch(const aot::Methods& methods, const aot::LowerOptions& lowering,
                  const AutoOptions& options)
      : methods_(methods),
        lowering_(quiet(lowering)),
        options_(options),
        by_time_(options.unit == AutoOptions::Unit::kMilliseconds),
        samples_(std::min(lowering.calibration.count, options.samples)),
        float_program_(lower({}, lowering_.calibration.count)),
        lean_float_bytes_(lower({}, lowering_.calibration.count, true).size()),
        comparison_(lowering_.calibration, samples_, methods.begin()->first, float_program_),
        names_(parts_of(methods.begin()->second)) {
    if (names_.empty()) {
      throw ToolError(
          "--quantize auto: the model has no modules with convolutions, linear layers or "
          "embeddings");
    }
    if (!options.device_times.empty()) {
      device_.emplace(options.device_times, methods.begin()->second, names_,
                      lowering_.calibration.read(0),
                      [this](const std::string& scheme) { return profile_of(scheme); });
    }
  }

  AutoResult run() {
    AutoResult result;
    result.samples = samples_;
    if (measure_parts()) {
      choose_levels(result);
    } else {
      result.is_interrupted = true;
    }
    set_times(result);
    result.parts = std::move(parts_);
    result.steps = std::move(steps_);
    return result;
  }

 private:
  struct Rules {
    std::string quantize;           // empty: float
    std::vector<std::string> keep;  // rules of --keep
  };

  // Calibration uses the first `samples` samples. `removes_unused` removes unused tensors first, as
  // quantization to int8 always does.
  ProgramBytes lower(const Rules& rules, size_t samples, bool removes_unused = false) const {
    aot::LowerOptions options = lowering_;
    options.calibration.count = samples;
    return lower(rules, std::move(options), removes_unused);
  }

  ProgramBytes lower(const Rules& rules, aot::LowerOptions options,
                     bool removes_unused = false) const {
    ProgramBytes program;
    options.sink = [&](std::span<const std::byte> bytes) {
      program.insert(program.end(), bytes.begin(), bytes.end());
    };
    if (!rules.quantize.empty()) options.quantize = aot::parse_quantization(rules.quantize);
    for (const std::string& rule : rules.keep) aot::add_rule(rule, options.quantize);
    aot::Methods copies;
    for (const auto& [name, method] : methods_) {
      aot::ExportedProgram& copy = copies.emplace(name, method.copy()).first->second;
      if (!removes_unused) continue;
      copy.graph->remove_dead_code();
      aot::remove_unused_weights(copy);
    }
    aot::lower(std::move(copies), options);
    return program;
  }

  // Profiles the program that uses the scheme in all parts that support it.
  inspector::Profile profile_of(const std::string& scheme) {
    PartSchemes schemes;
    for (const ModelPart& part : names_) {
      if (std::ranges::count(schemes_of(part), scheme) != 0) schemes[part.name] = scheme;
    }
    aot::LowerOptions options = lowering_;
    options.emit.emit_debug_maps = true;
    return comparison_.profile(lower(rules_of(schemes), options));
  }

  // Returns the rules that give parts their schemes. Parts without a scheme stay float.
  Rules rules_of(const PartSchemes& schemes) const {
    if (schemes.empty()) return {};
    const bool has_int8 = std::ranges::any_of(
        schemes, [](const auto& each) { return each.second.starts_with("int8"); });
    Rules rules{.quantize = has_int8 ? "int8" : "float", .keep = {}};
    for (const ModelPart& part : names_) {
      const auto found = schemes.find(part.name);
      const std::string scheme = found == schemes.end() ? "float" : found->second;
      const bool is_int8 = scheme.starts_with("int8");
      if (scheme != "int8" && scheme != "float") rules.keep.push_back(part.name + '=' + scheme);
      // A scheme other than f16 and bf16 may skip calls of the part. These calls would become int8
      // if another part is int8, so a rule keeps these calls in float.
      const bool has_rest =
          scheme.starts_with("8da4w") ? part.has_other : part.has_int8() && !is_half(scheme);
      if (has_int8 && !is_int8 && has_rest) rules.keep.push_back(part.name + "=float");
    }
    return rules;
  }

  PartSchemes schemes_for(const Selection& selection) const {
    PartSchemes schemes;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (selection[i] != 0) schemes[parts_[i].name] = parts_[i].levels[selection[i] - 1].scheme;
    }
    return schemes;
  }

  // With --device_times, only schemes with a profile from the device are tried.
  std::vector<std::string> tried_schemes(const ModelPart& part) const {
    std::vector<std::string> schemes = schemes_of(part);
    if (device_) {
      std::erase_if(schemes, [&](const std::string& each) { return !device_->has_scheme(each); });
    }
    return schemes;
  }

  bool is_stopped() const { return options_.is_stopped && options_.is_stopped(); }

  // Measures each scheme of each part in a model that is otherwise float. Returns false if the
  // search was stopped.
  bool measure_parts() {
    Progress progress("measuring the parts");
    size_t all = 0;
    size_t done = 0;
    for (const ModelPart& part : names_) all += tried_schemes(part).size();
    for (const ModelPart& part : names_) {
      AutoPart made;
      made.name = part.name;
      for (const std::string& scheme : tried_schemes(part)) {
        if (is_stopped()) return false;
        progress.update(done++, all);
        std::optional<AutoLevel> level = measure_level(part.name, scheme);
        if (!level) continue;
        const bool overflows = scheme == "f16" && !std::isfinite(level->noise) && !device_;
        made.levels.push_back(std::move(*level));
        if (overflows) level = measure_level(part.name, "bf16");
        if (overflows && level) made.levels.push_back(std::move(*level));
      }
      if (!made.levels.empty()) parts_.push_back(std::move(made));
    }
    if (parts_.empty()) {
      throw ToolError("--quantize auto: no part of the model can be quantized on its own");
    }
    return true;
  }

  // Measures a scheme of a part. Returns nullopt if the scheme does not apply to any call of the
  // part.
  std::optional<AutoLevel> measure_level(const std::string& name, const std::string& scheme) {
    ProgramBytes program;
    try {
      program = lower(rules_of({{name, scheme}}), samples_);
    } catch (const aot::NothingToQuantize&) {
      return std::nullopt;
    }
    AutoLevel level;
    level.scheme = scheme;
    level.noise = comparison_.noise(program);
    // Quantization to int8 also removes unused tensors, which is not a saving of the part.
    const size_t float_bytes =
        scheme.starts_with("int8") ? lean_float_bytes_ : float_program_.size();
    level.saved_bytes = static_cast<double>(float_bytes) - static_cast<double>(program.size());
    if (device_) {
      level.saved_ms = device_->saved_ms(name, scheme);
    } else {
      level.time = comparison_.time_ratio(program, by_time_ ? kDecisivePart : kPart);
    }
    return level;
  }

  double saved_ms(const AutoLevel& level, const Milliseconds& reference) const {
    if (device_) return level.saved_ms;
    return level.time.is_significant ? reference.median * (1 - level.time.ratio) : 0;
  }

  // Computes times from the ratios and the reference's median time over the whole search.
  void set_times(AutoResult& result) {
    if (device_) {
      result.device = device_->device();
    } else if (!parts_.empty()) {
      const Milliseconds reference = comparison_.reference_time();
      for (AutoPart& part : parts_) {
        for (AutoLevel& level : part.levels) level.saved_ms = saved_ms(level, reference);
      }
      for (AutoProgram& program : steps_) program.ms = time_of(program.time, reference);
      for (AutoProgram& program : result.results) program.ms = time_of(program.time, reference);
    }
    if (!by_time_ || result.results.empty()) return;
    const Milliseconds& chosen = result.results.back().ms;
    result.is_met = chosen.median <= options_.goal.bound;
    result.is_certain = !result.is_met || (!device_ && chosen.repeated.high <= options_.goal.bound);
  }

  std::vector<PartFigures> figures() const {
    std::vector<PartFigures> all;
    for (const AutoPart& part : parts_) {
      PartFigures each{.name = part.name, .levels = {}};
      for (const AutoLevel& level : part.levels) {
        each.levels.push_back({level.scheme, level.noise,
                               by_time_ ? saved_ms(level, reference_) : level.saved_bytes});
      }
      all.push_back(std::move(each));
    }
    return all;
  }

  void sort_parts() {
    std::vector<AutoPart> sorted;
    const auto add = [&](AutoPart& part) {
      if (!part.name.empty()) sorted.push_back(std::move(part));
      part.name.clear();
    };
    for (const Step& step : greedy_steps(figures())) add(parts_[step.part]);
    for (AutoPart& part : parts_) add(part);
    parts_ = std::move(sorted);
  }

  void choose_levels(AutoResult& result) {
    if (!device_) reference_ = comparison_.reference_time();
    sort_parts();
    Progress progress("choosing");
    const Choice choice = choose(
        figures(), options_.goal, kMaxSwaps,
        [&](const Selection& each) {
          progress.update(steps_.size(), steps_.size() + kMaxSwaps);
          return measure(each);
        },
        [&] { return is_stopped(); });
    progress.clear();
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].chosen = choice.selection[i];
    result.is_met = choice.is_met;
    const PartSchemes chosen = schemes_for(choice.selection);
    const Rules rules = rules_of(chosen);
    result.quantize = rules.quantize;
    result.keep = rules.keep;
    result.is_interrupted = is_stopped();
    if (result.is_interrupted) return;
    result.results.push_back(final_program("float", {}, {}));
    if (!device_ || device_->has_scheme("int8")) {
      try {
        result.results.push_back(final_program("int8", {"int8", {}}, int8_schemes()));
      } catch (const aot::NothingToQuantize&) {  // the model has only embeddings
      }
    }
    result.results.push_back(final_program("chosen", rules, chosen));
  }

  // Returns the schemes of the program that has int8 in all parts that support it.
  PartSchemes int8_schemes() const {
    PartSchemes schemes;
    for (const ModelPart& part : names_) {
      if (part.has_int8()) schemes[part.name] = "int8";
    }
    return schemes;
  }

  void set_time(AutoProgram& made, const ProgramBytes& program, const PartSchemes& schemes,
                const TimeBudget& budget) {
    if (device_) {
      const double ms = device_->program_ms(schemes);
      made.ms = {.median = ms, .repeated = {ms, ms}};
    } else {
      made.time = comparison_.time_ratio(program, budget);
    }
  }

  AutoProgram figures_of(std::string name, const ProgramBytes& program) const {
    return {.name = std::move(name),
            .noise = comparison_.noise(program),
            .score = options_.score ? std::optional(options_.score(program)) : std::nullopt,
            .bytes = program.size()};
  }

  Measured measure(const Selection& selection) try {
    const PartSchemes schemes = schemes_for(selection);
    const ProgramBytes program = lower(rules_of(schemes), lowering_.calibration.count);
    AutoProgram made = figures_of(
        std::to_string(selection.size() - static_cast<size_t>(std::ranges::count(selection, 0U))),
        program);
    set_time(made, program, schemes, by_time_ ? kDecisiveStep : kPart);
    // The upper end of the interval makes it probable that another measurement meets the bound too.
    const Milliseconds ms = device_ ? made.ms : time_of(made.time, reference_);
    const double cost = by_time_ ? ms.repeated.high : static_cast<double>(made.bytes);
    const Measured measured{.quality = made.score.value_or(decibels(made.noise)), .cost = cost};
    steps_.push_back(std::move(made));
    return measured;
  } catch (const ToolError&) {
    // Ctrl-C also ends the --accuracy command, so an error after Ctrl-C is ignored.
    if (!is_stopped()) throw;
    constexpr double kWorst = std::numeric_limits<double>::infinity();
    return {.quality = -kWorst, .cost = kWorst};
  }

  AutoProgram final_program(const char* name, const Rules& rules, const PartSchemes& schemes) {
    const ProgramBytes program = lower(rules, lowering_.calibration.count);
    AutoProgram made = figures_of(name, program);
    set_time(made, program, schemes, by_time_ ? kDecisiveResult : kResult);
    return made;
  }

  const aot::Methods& methods_;
  const aot::LowerOptions lowering_;
  const AutoOptions& options_;
  bool by_time_;
  size_t samples_;
  ProgramBytes float_program_;
  size_t lean_float_bytes_;  // size of the float program without unused tensors
  Comparison comparison_;
  Milliseconds reference_;  // measured with the parts; the search compares all programs with it
  std::vector<ModelPart> names_;
  std::optional<DeviceTimes> device_;
  std::vector<AutoPart> parts_;
  std::vector<AutoProgram> steps_;
};

}  // namespace

AutoResult search_precisions(const aot::Methods& methods, const aot::LowerOptions& lowering,
                             const AutoOptions& options) {
  if (methods.size() != 1) {
    throw ToolError(fmt::format(
        "--quantize auto: expected a model with one method, but the model has {} methods",
        methods.size()));
  }
  return PrecisionSearch(methods, lowering, options).run();
}

}  // namespace vitrine::tools
