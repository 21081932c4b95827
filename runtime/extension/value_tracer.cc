#include "vitrine/value_tracer.h"

#include "vitrine/backend.h"

namespace vitrine {

void ValueTracer::record_traced_results(const TraceRecord& step, std::span<EValue* const> arguments,
                                        const Delegate* delegate) {
  TracedValue traced{.chain_index = step.chain_index, .instruction_id = step.instruction_id};
  if (step.kind == TraceRecord::Kind::kKernelCall && !arguments.empty()) {
    // The last argument of a kernel call is the operator's result.
    traced.value = arguments.back();
    record_value(traced);
  } else if (step.kind == TraceRecord::Kind::kDelegateCall) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!delegate->is_output(i)) continue;
      traced.value = arguments[i];
      record_value(traced);
    }
  }
}

void ValueTracer::record_traced_outputs(std::span<EValue* const> outputs) {
  for (const EValue* output : outputs) record_value({.value = output, .is_method_output = true});
}

}  // namespace vitrine
