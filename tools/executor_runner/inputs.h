// Makes the inputs of a run from a test set, from files, or from random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/sample_files.h"
#include "tools/common/session.h"
#include "tools/executor_runner/options.h"
#include "vitrine/array.h"
#include "vitrine/method.h"

namespace vitrine::tools {

class InputSet {
 public:
  // Reads `specs` for the method's tensor inputs, in order. Inputs without a spec get random
  // values. Throws ToolError.
  InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed);
  // Copies the values of `other`, which may be for another method. The inputs of `method` must have
  // the same dtypes and accept the same shapes, but may have other dim orders. Throws ToolError.
  InputSet(const Method& method, const InputSet& other);

  // Reads a file for each tensor input, or the arrays of a .npz file. Throws ToolError.
  InputSet(const Method& method, const SampleFiles& sample, const SampleQuery& query);

  // Takes the given values unchanged, one for each input. All inputs must be tensors.
  InputSet(std::vector<Array> values, std::string source);

  // Takes all inputs from a test set. Throws ToolError, whose text begins with `label`.
  InputSet(const Method& method, const bundled::TestSet& set, const std::string& label);

  // Sets the inputs of the method. Must be called before each execution, because the method may
  // reuse the inputs' memory.
  void apply(Method& method);

  // The origin of the inputs' values: "random (seed 0)", "2 files", "1 file, 1 random (seed 0)" or
  // the name of a test set. Empty if the method has no tensor inputs.
  const std::string& source() const { return source_; }
  // The type of each input, such as "f32[1,3,224,224]".
  std::vector<std::string> descriptions() const;
  // The values of the inputs, indexed by input. The array of an input that is not a tensor is
  // empty.
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  std::vector<Array> arrays_;
  std::vector<std::string> kinds_;
  std::vector<EValue> constants_;  // None if the input has no value
  std::string source_;
};

SessionOptions session_options(const RunnerOptions& options);

// Makes the inputs from --inputs, else from the test set of a bundled program, else from random
// numbers. Stores the index of the test set in `trace`. Throws ToolError.
InputSet make_inputs(const Session& session, const Method& method, const RunnerOptions& options,
                     TraceBuffer& trace);

// Returns the elements of a bundled tensor in row-major order.
std::vector<std::byte> row_major_bytes(const bundled::BundledTensor& tensor);

}  // namespace vitrine::tools
