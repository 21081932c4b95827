#include "tools/llm_runner/profile/token_profiler.h"

#include <algorithm>
#include <utility>

namespace vitrine::llm {
namespace {

constexpr size_t kMinRecent = 5;
constexpr uint64_t kMaxMediansOfWarmToken = 2;

Phase phase_of(const GenerationStep& step) {
  return step.is_prefill ? Phase::kPrefill : Phase::kDecode;
}

}  // namespace

StepTracer& TokenProfiler::tracer(size_t method) {
  if (method >= tracers_.size()) tracers_.resize(method + 1);
  return tracers_[method];
}

void TokenProfiler::on_prompt(uint64_t start_ns, uint64_t encoded_ns) {
  generation_start_ns_ = start_ns;
  prompt_ns_ = encoded_ns - start_ns;
  last_end_ns_ = encoded_ns;
  is_first_decode_ = true;
}

void TokenProfiler::begin_step(const GenerationStep& step) {
  for (StepTracer& tracer : tracers_) tracer.begin_step(phase_of(step));
}

void TokenProfiler::end_step(const GenerationStep& step) {
  const auto phase = static_cast<size_t>(phase_of(step));
  const uint64_t between = step.start_ns - last_end_ns_;
  const uint64_t feed = step.fed_ns - step.start_ns;
  uint64_t executed = 0;
  for (const StepTracer& tracer : tracers_) executed += tracer.executed_ns();
  executed = std::min(executed, feed);
  const uint64_t wall = prompt_ns_ + step.end_ns - last_end_ns_;
  const uint64_t position = static_cast<uint64_t>(step.position) + step.tokens - 1;
  const bool usual = is_usual(step, wall);
  // Times of the parts of a step, in the order of StepPart.
  const StepPartTimes ns = {
      prompt_ns_,
      between,
      feed - executed,
      step.sampled_ns - step.fed_ns,
      step.decoded_ns - step.sampled_ns,
      step.end_ns - step.decoded_ns,
  };
  const uint64_t index = walls_[phase].size();
  for (size_t i = 0; i < kStepParts; ++i) parts_[phase][i].add(ns[i], position, usual, index);
  wall_[phase].add(wall, position, usual, index);
  walls_[phase].push_back({static_cast<uint64_t>(step.position), step.end_ns - wall, wall});
  if (step.is_prefill && step.sampled_ns != step.fed_ns) {
    first_token_ns_.push_back(step.end_ns - generation_start_ns_);
  }
  prompt_ns_ = 0;
  last_end_ns_ = step.end_ns;
  for (StepTracer& tracer : tracers_) tracer.end_step(step, ns, position, usual);
}

// Returns false for decode steps that the cost fit excludes:
// - the first step after each prompt, which sets up shapes
// - the first kMinRecent other steps, because a median needs earlier steps
// - steps that took more than twice the median of recent steps
bool TokenProfiler::is_usual(const GenerationStep& step, uint64_t wall_ns) {
  if (step.is_prefill) return true;
  const bool is_first = std::exchange(is_first_decode_, false);
  const size_t count = std::min(recent_count_, recent_.size());
  std::array<uint64_t, 31> sorted = recent_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  if (is_first) return false;
  recent_[recent_count_++ % recent_.size()] = wall_ns;
  return count >= kMinRecent && wall_ns <= kMaxMediansOfWarmToken * *middle;
}

}  // namespace vitrine::llm
