// CallProfile sums the time of a Module's calls by method, instruction and operator of a delegate.
//
//   CallProfile profile;
//   auto module = Module::load("model.pte", {.tracer = &profile});
//   ...                                      // call the module any number of times
//   auto methods = profile.methods();
//   if (!methods.ok()) return fail(methods.error().message());
//   for (const CallProfile::Row& row : methods->front().rows) {
//     std::printf("%8.1f us  %.*s\n", row.times.mean_ns() / 1000, int(row.name.size()),
//                 row.name.data());
//   }
//
// A profile reads the clock once for each instruction and each operator of a delegate. Its memory
// grows with the number of different instructions and operators, not with the number of calls. A
// profile serves one Module and must outlive it. Names are not copied: the result of methods() is
// valid until the next call to the profile or the Module. json() works only while the Module
// exists. Not thread-safe. Code that uses Method instead of Module must call begin_method() itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "vitrine/error.h"
#include "vitrine/event_tracer.h"

namespace vitrine {

class CallProfile final : public EventTracer {
 public:
  // Times of several calls, in nanoseconds.
  struct Times {
    uint64_t calls = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;

    double mean_ns() const {
      return calls == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(calls);
    }
  };
  // The calls of one instruction, or of one operator inside a delegate. An instruction in a loop
  // can have more calls than its method.
  struct Row {
    // One of kKernelCall, kDelegateCall, kDelegateOperator, kMove, kJumpFalse and kFree.
    TraceRecord::Kind kind = TraceRecord::Kind::kKernelCall;
    int32_t chain = 0;
    int32_t instruction = 0;
    // Kernel call: the operator ("aten::add.out"). Delegate call: the backend's id. Operator of a
    // delegate: the identifier that the delegate logged. Empty for other kinds.
    std::string_view name = {};
    // Kernel call: the kernel library ("portable", "optimized"). Operator of a delegate: the kernel
    // that ran ("Convolution (NHWC, F32) IGEMM").
    std::string_view implementation = {};
    Times times;
  };
  struct MethodCalls {
    std::string_view name;
    uint64_t load_ns = 0;  // time to load the method, before its first call
    // Times of all executions, including failed executions. Excludes the time to copy inputs and
    // outputs.
    Times times;
    uint64_t first_ns = 0;  // time of the first execution
    // Ordered by chain and instruction: the order of execution in a program without branches. The
    // operators of a delegate follow its call in the order in which they ran. The time of the call
    // includes the times of its operators.
    std::span<const Row> rows;
  };

  CallProfile();
  ~CallProfile() override;
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

  // The methods in the order of their first calls. Returns MemoryAllocationFailed if memory runs
  // out, or if memory ran out after the last reset(), so that the profile is incomplete.
  Result<std::span<const MethodCalls>> methods();
  // The content of methods() as JSON (docs/formats/call_profile.md).
  Result<std::string_view> json();
  // Discards all calls, but keeps the load times of methods.
  void reset();

  void begin_method(std::string_view name) override;
  void begin_block(const char* name) override;
  void record(const TraceRecord& record) override;
  bool wants_results() const override { return false; }

 private:
  struct State;

  std::unique_ptr<State> state_;  // null before the first method begins
  bool has_lost_ = false;         // rows were dropped because there was no memory
};

}  // namespace vitrine
