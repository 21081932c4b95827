// A tracer that also gets the results of instructions, value by value.
//
// Separate from EventTracer, so that programs that record only times do not carry it.
#pragma once

#include "vitrine/event_tracer.h"

namespace vitrine {

class ValueTracer : public EventTracer {
 public:
  // Called at each step; record_value() is called only where this returns true.
  virtual bool wants_values() const = 0;
  // The value is valid during the call only: the next instruction may reuse its memory.
  virtual void record_value(const TracedValue& value) = 0;

  // Records the last argument of a kernel call (a list if there are several results), and every
  // argument of a delegate call that may be an output (Delegate::is_output()).
  bool record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                      const Delegate* delegate) final {
    if (!wants_values()) return false;
    give_results(step, arguments, delegate);
    return true;
  }
  void record_outputs(std::span<EValue* const> outputs) final {
    if (wants_values()) give_outputs(outputs);
  }

 private:
  // Not virtual: this class is compiled without RTTI, but code with RTTI may derive from it.
  void give_results(const TraceRecord& step, std::span<EValue* const> arguments,
                    const Delegate* delegate);
  void give_outputs(std::span<EValue* const> outputs);
};

}  // namespace vitrine
