// Observes a TextGenerator and traces its methods. Sums the time in each op, and outside of the
// model.
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

#include "tools/llm_runner/profile/step_tracer.h"

namespace vitrine::llm {

// The wall time of a step begins at the end of the previous step or, for a prompt's first step, at
// the call to generate().
struct StepWall {
  uint64_t position = 0;  // position of the first token fed
  uint64_t start_ns = 0;
  uint64_t ns = 0;
};

class TokenProfiler final : public GenerationObserver {
 public:
  // Returns the tracer of the decoder's method with this index, and creates the tracer if
  // necessary. All tracers must exist before the first step. References stay valid.
  StepTracer& tracer(size_t method = 0);
  const StepTracer& tracer(size_t method = 0) const { return tracers_[method]; }

  void on_prompt(uint64_t start_ns, uint64_t encoded_ns) override;
  void begin_step(const GenerationStep& step) override;
  void end_step(const GenerationStep& step) override;

  const StepSums& part(Phase phase, StepPart part) const {
    return parts_[static_cast<size_t>(phase)][static_cast<size_t>(part)];
  }
  const StepSums& wall(Phase phase) const { return wall_[static_cast<size_t>(phase)]; }
  const std::vector<StepWall>& walls(Phase phase) const {
    return walls_[static_cast<size_t>(phase)];
  }
  // The time to the first token of each call of generate().
  const std::vector<uint64_t>& first_token_ns() const { return first_token_ns_; }

 private:
  bool is_usual(const GenerationStep& step, uint64_t wall_ns);

  std::deque<StepTracer> tracers_ = std::deque<StepTracer>(1);  // a deque keeps addresses valid
  std::array<std::array<StepSums, kStepParts>, kPhases> parts_;
  std::array<StepSums, kPhases> wall_;
  std::array<std::vector<StepWall>, kPhases> walls_;
  std::vector<uint64_t> first_token_ns_;
  uint64_t generation_start_ns_ = 0;
  uint64_t prompt_ns_ = 0;  // time to tokenize the prompt; 0 after its first step
  uint64_t last_end_ns_ = 0;
  bool is_first_decode_ = true;
  std::array<uint64_t, 31> recent_{};  // wall times of recent decode steps, as a ring buffer
  size_t recent_count_ = 0;
};

}  // namespace vitrine::llm
