// ValueTracer is an EventTracer that also receives the results of instructions and of the operators
// inside delegates.
//
// It is a separate class, so that executables that record only times do not link its code.
#pragma once

#include "vitrine/event_tracer.h"

namespace vitrine {

class ValueTracer : public EventTracer {
 public:
  // Returns true if record_value() should be called. If this returns false at the start of a chain
  // of instructions, the results of these instructions are not recorded. Otherwise, it is called
  // again after each instruction. It is also called before the outputs of the method or the
  // operators of a delegate are recorded.
  virtual bool wants_values() const = 0;
  // Receives a value, which is valid during the call only: the next instruction or operator may
  // reuse its memory.
  virtual void record_value(const TracedValue& value) = 0;

  bool wants_results() const final { return wants_values(); }
  // Calls record_value() for the results of a step. A kernel call has its results in the last
  // argument, which is a list if there are several results. A delegate call has its results in the
  // arguments that may be outputs (Delegate::is_output()).
  bool record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                      const Delegate* delegate) final {
    if (!wants_values()) return false;
    record_traced_results(step, arguments, delegate);
    return true;
  }
  void record_outputs(std::span<EValue* const> outputs) final {
    if (wants_values()) record_traced_outputs(outputs);
  }
  ValueTracer* value_tracer() final { return wants_values() ? this : nullptr; }

 private:
  // These functions are not virtual, so that classes compiled with RTTI can derive from this class,
  // which is compiled without RTTI.
  void record_traced_results(const TraceRecord& step, std::span<EValue* const> arguments,
                             const Delegate* delegate);
  void record_traced_outputs(std::span<EValue* const> outputs);
};

}  // namespace vitrine
