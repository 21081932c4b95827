// Where the time of a module's calls goes: sums by method, instruction and delegate operator.
//
//   CallProfile profile;
//   auto module = Module::load("model.pte", {.tracer = &profile});
//   ...                                      // call it, as often as you like
//   auto methods = profile.methods();
//   if (!methods.ok()) return fail(methods.error().message());
//   for (const CallProfile::Row& row : methods->front().rows) {
//     std::printf("%8.1f us  %.*s\n", row.times.mean_ns() / 1000, int(row.name.size()),
//                 row.name.data());
//   }
//
// While it is attached, each instruction and operator reads a clock. Memory grows with the
// program's instructions, not with its calls. A profile serves one Module, and outlives it. Names
// are not copied: what methods() gives is valid until the next call of the profile or the Module,
// and json() needs the Module, too. Not thread-safe. Those who use Method call begin_method()
// themselves.
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
  // Sums over calls, in nanoseconds.
  struct Times {
    uint64_t calls = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;

    double mean_ns() const {
      return calls == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(calls);
    }
  };
  // A step of a method. An instruction in a loop is called more often than its method.
  struct Row {
    // kKernelCall, kDelegateCall, kDelegateOperator, kMove, kJumpFalse or kFree.
    TraceRecord::Kind kind = TraceRecord::Kind::kKernelCall;
    int32_t chain = 0;
    int32_t instruction = 0;
    // "aten::add.out"; the delegate's backend; an operator's identifier, as the delegate logged it.
    // Empty for other kinds.
    std::string_view name = {};
    // Of kernels their library ("portable", "optimized"), of operators the kernel that ran
    // ("Convolution (NHWC, F32) IGEMM").
    std::string_view implementation = {};
    Times times;
  };
  struct MethodCalls {
    std::string_view name;
    uint64_t load_ns = 0;  // loading it, before its first call
    // Of executions, without copying inputs and outputs. Those that failed count too.
    Times times;
    uint64_t first_ns = 0;  // the first of these
    // By chain and instruction: the order in which a program runs that does not branch. The
    // operators of a delegate call follow it in the order of their run; their time is part of its.
    std::span<const Row> rows;
  };

  CallProfile();
  ~CallProfile() override;
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

  // In the order of their first calls. MemoryAllocationFailed, also if there was no memory for a
  // row since the last reset.
  Result<std::span<const MethodCalls>> methods();
  // The same as JSON (docs/formats/call_profile.md).
  Result<std::string_view> json();
  // Forgets the calls, not how long methods took to load.
  void reset();

  void begin_method(std::string_view name) override;
  void begin_block(const char* name) override;
  void record(const TraceRecord& record) override;

 private:
  struct State;

  std::unique_ptr<State> state_;  // null until the first method begins
  bool has_lost_ = false;
};

}  // namespace vitrine
