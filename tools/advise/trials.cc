#include "tools/advise/trials.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text/number_texts.h"
#include "runtime/platform/clock.h"
#include "tools/advise/rows.h"
#include "tools/common/interrupt.h"
#include "tools/common/median.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr double kTrialSeconds = 0.7;     // maximum duration of a trial
constexpr double kMinShareOfBytes = 0.2;  // minimum share of a saving of memory or file size
// Smaller relative gains are not reported as advice.
constexpr double kMinGain = 0.01;
// A change may cost time if the upper bound of its time ratio exceeds this limit.
constexpr double kMaxEqualRatio = 1.06;

double seconds_now() { return static_cast<double>(platform::now_ns()) * 1e-9; }

double memory_of(const inspector::RunInfo& run) {
  if (!run.memory) return 0;
  const inspector::MemoryInfo& memory = *run.memory;
  return static_cast<double>(memory.planned + memory.metadata + memory.workspace +
                             memory.packed_weights + memory.constants);
}

std::string changes_text(const std::vector<aot::Change>& changes) {
  constexpr size_t kShown = 3;
  std::string text;
  size_t shown = 0;
  for (const aot::Change& change : changes) {
    if (change.count == 0) continue;
    if (++shown > kShown) continue;
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", change.count, change.what);
  }
  if (shown > kShown) text += fmt::format(" and {} more kinds of change", shown - kShown);
  return text;
}

// Shortens a message to its first line, up to the first semicolon.
std::string first_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find(';'));
}

// A new folder for packed weights. The destructor removes the folder.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "vitrine_advise_").string();
    name.append(6, 'X');  // mkdtemp() replaces the X
    if (mkdtemp(name.data()) == nullptr) {
      throw ToolError("cannot create a temporary folder for packed weights");
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Trials {
 public:
  Trials(Baseline& baseline, const AdviseOptions& options, Findings& findings)
      : baseline_(baseline),
        options_(options),
        findings_(findings),
        end_(seconds_now() + options.seconds) {}

  void handle(Advice advice) {
    if (!advice.change && advice.how.empty()) return dismiss(advice, advice.why);
    if (!advice.change || advice.gain == Gain::kFile) return keep(std::move(advice));
    if (stop_flag()) {
      findings_.is_interrupted = true;
      return dismiss(advice, "interrupted");
    }
    const double wall = baseline_.context().wall_ns() * 1e-9;
    const double needed = std::max(kTrialSeconds, 20 * wall) + baseline_.lowered().seconds;
    if (seconds_now() + needed > end_ && seconds_now() > end_ - options_.seconds + 0.01) {
      return dismiss(advice,
                     fmt::format("no time left: raise --seconds (now {:g})", options_.seconds));
    }
    try {
      attempt(std::move(advice));
    } catch (const HostError& error) {
      const std::string why = first_line(error.what());
      // The advice exclude_OPERATOR fails if lowering replaces the operator before delegation.
      const bool has_no_such_op =
          failed_.name.starts_with("exclude_") && why.ends_with("the model has no such operator");
      if (!has_no_such_op) dismiss(failed_, why);
    }
  }

  // The baseline's median time in each trial.
  const std::vector<double>& baseline_times() const { return baseline_times_; }

  // Combines advice that does not change the outputs. Adds one piece after another, and keeps each
  // piece that saves time.
  void try_together() {
    constexpr size_t kMaxLines = 5;
    Combination all;
    all.advice = {.name = "together", .what = "", .why = ""};
    all.advice.change.emplace();
    const size_t count = std::min(findings_.advice.size(), kMaxLines);
    for (size_t i = 0; i < count && !stop_flag(); ++i) {
      const Advice& one = findings_.advice[i];
      if (one.gain != Gain::kTime || !one.change || !one.ratio || !one.needs.empty()) continue;
      const std::string result = add_to(all, i);
      all.steps.push_back(fmt::format("#{} {}: {}", i + 1, one.name, result));
    }
    if (all.lines.empty()) return;
    // The combination has the same baseline time as each piece of advice.
    Advice& advice = all.advice;
    advice.of = findings_.advice.front().of;
    advice.saved =
        Interval{advice.of * (1 - advice.ratio->high), advice.of * (1 - advice.ratio->low)};
    findings_.together = std::move(all);
  }

 private:
  // Returns a text that says if the advice was added to the combination, and why.
  std::string add_to(Combination& all, size_t index) {
    const Advice& one = findings_.advice[index];
    if (!one.outputs.is_safe) {
      return fmt::format("left out, because the outputs change ({})", one.outputs.text);
    }
    Advice next = all.advice;
    next.change = merged(*all.advice.change, *one.change);
    if (*next.change == *all.advice.change) return "already included";
    if (all.lines.empty()) {
      next.ratio = one.ratio;
      next.saved = one.saved;
      next.of = one.of;
      next.outputs = one.outputs;
      next.method = one.method;
      next.confidence = one.confidence;
    } else {
      try {
        measure(next);
      } catch (const HostError& error) {
        return first_line(error.what());
      }
      if (!next.outputs.is_safe) {
        return fmt::format("dropped, because the outputs change ({})", next.outputs.text);
      }
    }
    const std::string result = fmt::format("{:.3f} to {:.3f} of the time of the baseline",
                                           next.ratio->low, next.ratio->high);
    if (!all.lines.empty() && next.ratio->high >= all.advice.ratio->middle()) {
      return "dropped, no certain gain: " + result;
    }
    all.advice = std::move(next);
    all.lines.push_back(index + 1);
    return "kept: " + result;
  }

  TrialResult compare(const Variant& variant, const LoweredProgram* lowered) {
    TrialResult trial =
        baseline_.compare(variant, lowered, std::min(kTrialSeconds, options_.seconds));
    if (!baseline_.is_for_device()) baseline_times_.push_back(trial.a_ns);
    return trial;
  }

  void measure(Advice& advice) {
    const Variant variant = merged(baseline_.context().baseline, *advice.change);
    std::optional<LoweredProgram> lowered;
    if (!advice.change->lowering.empty()) lowered = baseline_.lower(variant);
    set_ratio(advice, variant, lowered ? &*lowered : nullptr);
  }

  // Measures the ratio of times on this machine, or predicts the ratio on the device.
  void set_ratio(Advice& advice, const Variant& variant, const LoweredProgram* lowered) {
    set_measured(compare(variant, lowered), advice);
    if (lowered == nullptr || !baseline_.is_for_device()) return;
    set_predicted(baseline_.predict(*lowered, *advice.ratio), baseline_.context(), advice);
  }

  void keep(Advice advice) { findings_.advice.push_back(std::move(advice)); }
  void dismiss(const Advice& advice, std::string why) {
    findings_.not_tried.push_back({advice.name, std::move(why)});
  }

  void attempt(Advice advice) {
    failed_ = advice;
    const Context& context = baseline_.context();
    const Variant variant = merged(context.baseline, *advice.change);
    if (baseline_.is_for_device() && !advice.change->running.empty()) {
      return dismiss(
          advice, fmt::format("the effect of {} on {} cannot be predicted from a profile: run the "
                              "program on the device with these options",
                              settings_text({.running = advice.change->running}), context.device));
    }
    if (advice.gain == Gain::kLoading) return try_loading(std::move(advice), variant);
    if (advice.change->lowering.empty()) {
      return try_time(std::move(advice), variant, nullptr);
    }
    const LoweredProgram lowered = baseline_.lower(variant);
    if (advice.gain == Gain::kMemory) return try_memory(std::move(advice), lowered);
    if (is_known(advice.name, lowered)) return;
    const auto changes = lowered.model.changes.find(context.method);
    if (changes != lowered.model.changes.end() && !changes->second.empty()) {
      if (!advice.why.empty()) advice.why += "; ";
      advice.why += changes_text(changes->second);
    }
    advice.file_change =
        static_cast<double>(lowered.bytes.size()) - static_cast<double>(context.program_bytes);
    try_time(std::move(advice), variant, &lowered);
  }

  // True if the program equals the baseline or a program that was already tried.
  bool is_known(const std::string& name, const LoweredProgram& lowered) {
    if (!baseline_.context().is_file && lowered.bytes == baseline_.lowered().bytes) {
      findings_.useless.push_back({name, "makes the same program"});
      return true;
    }
    const auto same = std::ranges::find(tried_, lowered.bytes,
                                        &std::pair<std::string, std::vector<std::byte>>::second);
    if (same != tried_.end()) {
      findings_.useless.push_back({name, "makes the same program as " + same->first});
      return true;
    }
    tried_.emplace_back(name, lowered.bytes);
    return false;
  }

  void try_time(Advice advice, const Variant& variant, const LoweredProgram* lowered) {
    set_ratio(advice, variant, lowered);
    sort_tried(std::move(advice), baseline_.context(), findings_);
  }

  void try_memory(Advice advice, const LoweredProgram& lowered) {
    const auto before = static_cast<double>(baseline_.lowered().planned_bytes);
    const double saved = before - static_cast<double>(lowered.planned_bytes);
    if (saved <= 0) {
      findings_.useless.push_back({advice.name, "plans the same amount of memory"});
      return;
    }
    advice.saved = Interval{saved, saved};
    advice.of = before;
    advice.method = "the memory plans of both programs";
    advice.confidence = Confidence::kMeasured;
    advice.memory_change = -saved;
    advice.outputs = {"equal", true};
    keep(std::move(advice));
  }

  // Compares load times with and without the cache file. The first load creates the file and is not
  // counted.
  void try_loading(Advice advice, const Variant& variant) {
    constexpr int kLoads = 5;
    const TemporaryFolder folder;
    RunnerOptions cached = options_.run;
    cached.backend.weights_cache =
        (folder.path() / value_of(variant.running, "--weights_cache")).string();
    std::vector<double> ratios, times;
    for (int i = 0; i < kLoads; ++i) {
      const LoadedProgram before(baseline_.program(), options_.run, baseline_.pools(),
                                 baseline_.inputs());
      const LoadedProgram after(baseline_.program(), cached, baseline_.pools(), baseline_.inputs());
      if (i == 0) continue;  // this load wrote the file
      ratios.push_back(after.load_ns() / before.load_ns());
      times.push_back(before.load_ns());
    }
    const Interval ratio = predict_ratio(ratios);
    advice.of = median_of(times);
    advice.saved = Interval{advice.of * (1 - ratio.high), advice.of * (1 - ratio.low)};
    advice.method = fmt::format("{} loads with and without the file", ratios.size());
    advice.confidence = Confidence::kMeasured;
    advice.outputs = {"equal", true};
    if (advice.is_gain()) return keep(std::move(advice));
    findings_.useless.push_back({advice.name, "loads as fast without the file"});
  }

  Baseline& baseline_;
  const AdviseOptions& options_;
  Findings& findings_;
  double end_;
  Advice failed_;  // the advice in work
  std::vector<std::pair<std::string, std::vector<std::byte>>> tried_;
  std::vector<double> baseline_times_;
};

// Computes all savings of time from one baseline time, the median over the trials.
void use_common_baseline(const std::vector<double>& times, double profiled, Findings& findings) {
  if (times.empty() || profiled <= 0) return;
  const double common = median_of(times);
  for (Advice& advice : findings.advice) {
    if (advice.gain != Gain::kTime || !advice.saved) continue;
    if (advice.ratio) {
      advice.saved = Interval{common * (1 - advice.ratio->high), common * (1 - advice.ratio->low)};
    } else {
      advice.saved->low *= common / profiled;
      advice.saved->high *= common / profiled;
    }
    advice.of = common;
  }
}

}  // namespace

void set_measured(const TrialResult& trial, Advice& advice) {
  const Interval ratio = trial.ratio();
  advice.ratio = ratio;
  advice.of = trial.a_ns;
  advice.saved = Interval{trial.a_ns * (1 - ratio.high), trial.a_ns * (1 - ratio.low)};
  advice.memory_change = trial.memory_change;
  advice.method = fmt::format("{} pairs of runs", trial.pairs);
  advice.confidence = Confidence::kMeasured;
  advice.outputs = trial.outputs;
  if (advice.needs.empty()) return;
  advice.confidence = Confidence::kModeled;
  advice.method += " with a stand-in for the calibration data";
  advice.outputs = {"depend on the calibration data", false};
}

void set_predicted(const DevicePrediction& prediction, const Context& context, Advice& advice) {
  advice.ratio = prediction.ratio;
  advice.of = context.wall_ns();
  advice.saved =
      Interval{advice.of * (1 - prediction.ratio.high), advice.of * (1 - prediction.ratio.low)};
  advice.confidence = Confidence::kModeled;
  advice.method = fmt::format("for {}: the device's times of {} that the change keeps",
                              context.device, inspector::counted(prediction.kept, "row"));
  if (prediction.removed > 0)
    advice.method += fmt::format("; {} removed", inspector::counted(prediction.removed, "row"));
  if (prediction.added > 0) {
    advice.method += fmt::format("; {} with {:.2f} to {:.2f} times the share measured here",
                                 inspector::counted(prediction.added, "new row"),
                                 prediction.factor.low, prediction.factor.high);
  }
  if (!advice.needs.empty()) advice.method += "; with a stand-in for the calibration data";
}

void sort_tried(Advice advice, const Context& context, Findings& findings) {
  const Interval ratio = *advice.ratio;
  if (ratio.high < 1 - kMinGain) {
    findings.advice.push_back(std::move(advice));
    return;
  }
  const std::string of_time = fmt::format("{:.2f} to {:.2f} of the time", ratio.low, ratio.high);
  if (ratio.low > 1) {
    findings.useless.push_back({advice.name, "takes " + of_time});
    return;
  }
  if (ratio.high > kMaxEqualRatio) {
    findings.useless.push_back(
        {advice.name, context.device.empty()
                          ? "undecided, because times vary: " + of_time
                          : fmt::format("undecided for {}: {}", context.device, of_time)});
    return;
  }
  // Without an effect on time, a change must save memory or file size.
  const auto saves = [&](Gain gain, double change, double of) {
    if (-change <= kMinShareOfBytes * of) return false;
    advice.gain = gain;
    advice.of = of;
    advice.saved = Interval{-change, -change};
    advice.why = "the time stays the same: " + of_time;
    findings.advice.push_back(std::move(advice));
    return true;
  };
  if (saves(Gain::kFile, advice.file_change.value_or(0),
            static_cast<double>(context.program_bytes)) ||
      saves(Gain::kMemory, advice.memory_change.value_or(0), memory_of(context.profile.run))) {
    return;
  }
  const size_t threads = threads_of(*advice.change, context.threads);
  findings.useless.push_back(
      {advice.name,
       fmt::format("no certain gain ({}){}", of_time,
                   threads < context.threads ? ", but fewer threads are enough" : "")});
}

void try_advice(std::vector<Advice> all, Baseline& baseline, const AdviseOptions& options,
                Findings& findings) {
  Trials trials(baseline, options, findings);
  Progress progress("trying");
  for (size_t i = 0; i < all.size(); ++i) {
    progress.update(i, all.size());
    trials.handle(std::move(all[i]));
  }
  use_common_baseline(trials.baseline_times(), baseline.context().wall_ns(), findings);
  rank_advice(findings.advice);
  if (!stop_flag()) trials.try_together();
}

}  // namespace vitrine::tools
