// ValueTracer is an EventTracer that also receives the results of instructions and of the operators
// inside delegates.
//
// ValueTracer is a separate class, so that executables that record only times do not link its code.
#pragma once

#include "vitrine/event_tracer.h"

namespace vitrine {

class ValueTracer : public EventTracer {
 public:
  // True if record_value() should be called. The runtime asks at the start of each chain of
  // instructions. If the answer is false, no results of this chain are recorded. Otherwise, the
  // runtime asks again after each instruction. The runtime also asks before it records the outputs
  // of the method or the operators of a delegate.
  virtual bool wants_values() const = 0;
  // `value` is valid only during the call: the next instruction or operator may reuse its memory.
  virtual void record_value(const TracedValue& value) = 0;

  bool wants_results() const final { return wants_values(); }
  // Calls record_value() for the results of a step. A kernel call has its results in the last
  // argument, as a list if there are several results. A delegate call has its results in the
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
  // Not virtual: a virtual function in a .cc file would tie the type information of ValueTracer to
  // that file, which is compiled without RTTI. Classes compiled with RTTI could then not derive
  // from ValueTracer.
  void record_traced_results(const TraceRecord& step, std::span<EValue* const> arguments,
                             const Delegate* delegate);
  void record_traced_outputs(std::span<EValue* const> outputs);
};

}  // namespace vitrine
