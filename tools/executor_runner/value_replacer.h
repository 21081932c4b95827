// Replaces results of a reference's ops with another program's values
// (inspector/compare/numerics.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "formats/etdump/etdump_reader.h"
#include "inspector/compare/numerics.h"
#include "vitrine/event_tracer.h"
#include "vitrine/tensor.h"

namespace vitrine::tools {

// Stores each original result before overwriting it.
class ValueReplacer final : public EventTracer {
 public:
  using Values = std::map<inspector::ReferenceResult, const etdump::DebugTensor*>;
  explicit ValueReplacer(Values values) : values_(std::move(values)) {}

  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
  bool record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                      const Delegate* delegate) override;

  inspector::RecomputedResults take_results() { return std::move(results_); }

 private:
  void take(int32_t instruction, size_t index, Tensor& tensor);

  Values values_;
  inspector::RecomputedResults results_;
};

}  // namespace vitrine::tools
