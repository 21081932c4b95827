// Watches a TextGenerator and its methods: what the steps' time went to, inside the model and out.
//
//   TokenProfiler profiler;
//   auto method = Method::load(program, "forward", {.tracer = &profiler.tracer()});
//   generator.set_observer(&profiler);
//   generator.generate(...);
//   TokenProfile profile = make_token_profile(profiler, ...);
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "llm/profile/step_tracer.h"

namespace vitrine::llm {

// The time of one step, since the one before; the first of a prompt begins with generate().
struct StepWall {
  uint64_t position = 0;  // of the first token fed
  uint64_t start_ns = 0;
  uint64_t ns = 0;
};

class TokenProfiler final : public GenerationObserver {
 public:
  // The tracer of a method of the decoder, by its number; made when first asked for, before any
  // step.
  StepTracer& tracer(size_t method = 0);
  const StepTracer& tracer(size_t method = 0) const { return tracers_[method]; }

  void on_prompt(uint64_t start_ns, uint64_t encoded_ns) override;
  void begin_step(const GenerationStep& step) override;
  void end_step(const GenerationStep& step) override;

  const StepSums& part(Phase phase, Part part) const {
    return parts_[static_cast<size_t>(phase)][static_cast<size_t>(part)];
  }
  // Sums over the model's calls (Method::execute), and over everything: these calls and all parts.
  const StepSums& executed(Phase phase) const { return executed_[static_cast<size_t>(phase)]; }
  const StepSums& wall(Phase phase) const { return wall_[static_cast<size_t>(phase)]; }
  // The times of every step, 24 bytes each.
  const std::vector<StepWall>& walls(Phase phase) const {
    return walls_[static_cast<size_t>(phase)];
  }
  // From generate() to its first token; one of each call.
  const std::vector<uint64_t>& first_token_ns() const { return first_token_ns_; }

 private:
  bool is_usual(const GenerationStep& step, uint64_t wall_ns);

  std::deque<StepTracer> tracers_ = std::deque<StepTracer>(1);  // tracers stay where they are
  std::array<std::array<StepSums, kParts>, kPhases> parts_;
  std::array<StepSums, kPhases> executed_;
  std::array<StepSums, kPhases> wall_;
  std::array<std::vector<StepWall>, kPhases> walls_;
  std::vector<uint64_t> first_token_ns_;
  uint64_t generation_start_ns_ = 0;
  uint64_t prompt_ns_ = 0;  // of a prompt whose first step is running
  uint64_t last_end_ns_ = 0;
  bool is_first_decode_ = true;
  std::array<uint64_t, 31> recent_{};  // walls of decode steps, a ring
  size_t recent_count_ = 0;
};

}  // namespace vitrine::llm
