#pragma once

#include <cstdint>

#include "test/support/program_builder.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Feeds a TokenProfiler with synthetic steps. Each step logs one kernel that takes 1000 + 5 *
// position ns.
class SyntheticSteps {
 public:
  void prompt() {
    profiler.on_prompt(now_, now_ + 300);
    now_ += 300;
  }
  void step(bool is_prefill, int64_t position, size_t tokens, uint64_t disturbance = 0) {
    GenerationStep step{.is_prefill = is_prefill, .position = position, .tokens = tokens};
    step.start_ns = now_ + 20;  // between steps
    profiler.begin_step(step);
    const auto last = static_cast<uint64_t>(position) + tokens - 1;
    const uint64_t kernel = 1000 + 5 * last + disturbance;
    StepTracer& tracer = profiler.tracer();
    tracer.begin_block("Execute");
    tracer.record({.start_ns = step.start_ns,
                   .end_ns = step.start_ns + kernel,
                   .name = "aten::add.out",
                   .chain_index = 0,
                   .kind = TraceRecord::Kind::kKernelCall});
    tracer.record({.start_ns = step.start_ns,
                   .end_ns = step.start_ns + kernel + 70,
                   .name = "Method::execute"});
    step.fed_ns = step.start_ns + kernel + 70 + 9;
    step.sampled_ns = step.fed_ns + 4;
    step.decoded_ns = step.sampled_ns + 3;
    step.end_ns = step.decoded_ns + 2;
    now_ = step.end_ns;
    profiler.end_step(step);
  }

  // Feeds a prompt of eight tokens and then `tokens` decode steps.
  void run(int64_t tokens) {
    prompt();
    step(true, 0, 8);
    for (int64_t i = 0; i < tokens; ++i) step(false, 8 + i, 1);
  }

  TokenProfile profile() const {
    test::ProgramBuilder builder;
    test::MethodSpec& forward = builder.method("forward");
    forward.buffer_sizes = {0, 64};
    const int x = forward.tensor({.sizes = {4}, .planned = test::Planned{1, 0}});
    forward.kernel_call(forward.op("aten::add", "out"), {x, x, forward.integer(1), x, x});
    const test::AlignedBytes file = builder.build();
    const auto program = Program::load(*view_buffer(file));
    return make_token_profile(profiler, **program, {{*(*program)->method_meta("forward")}},
                              {.max_context = 4096});
  }

  TokenProfiler profiler;

 private:
  uint64_t now_ = 1'000'000;
};

// Checks each kept step of the JSON report. The total time of the rows and the unattributed time
// must equal those in the step's profile. With the times of the step's other parts, they must add
// up to its wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
