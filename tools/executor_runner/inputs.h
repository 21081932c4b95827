// The inputs of a run: from a test set or files if given, otherwise random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/trace_buffer.h"
#include "host/session.h"
#include "tools/executor_runner/options.h"
#include "vitrine/array.h"
#include "vitrine/method.h"

namespace vitrine::tools {

class InputSet {
 public:
  // `specs` belong to the method's tensor inputs, in order; there may be fewer. Throws ToolError.
  InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed);
  // The same values for another method, whose inputs have the same dtypes and take the same shapes;
  // dim orders may differ. Throws ToolError.
  InputSet(const Method& method, const InputSet& same);

  // Takes all inputs from a test set; `place` names it in errors. Throws ToolError.
  InputSet(const Method& method, const bundled::TestSet& set, const std::string& place);

  // Call it before each execution, since the method may reuse its inputs' memory.
  void apply(Method& method);

  // "f32[1,3,224,224]", one per input.
  std::vector<std::string> descriptions() const;

 private:
  std::vector<Array> arrays_;        // empty where an input is not a tensor
  std::vector<std::string> others_;  // the kind of the others
  std::vector<EValue> constants_;    // the value for it; None if not given
};

// Takes inputs from --inputs, or from a bundled program's test set (whose number `trace` records),
// or at random. Throws ToolError.
InputSet make_inputs(const Session& session, const Method& method, const RunnerOptions& options,
                     TraceBuffer& trace);

// The elements of a bundled tensor, in row-major order whatever its dim order.
std::vector<std::byte> row_major_bytes(const bundled::BundledTensor& tensor);

}  // namespace vitrine::tools
