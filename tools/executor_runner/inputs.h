// Makes a run's inputs from a test set, files, or random numbers.
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
  // Reads `specs` for the tensor inputs, in order. Other inputs get random values. Throws
  // ToolError.
  InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed);
  // Copies the values of `other`, which may belong to another method. The inputs of `method` must
  // have the same dtypes and accept the same shapes, but may have other dim orders. Throws
  // ToolError.
  InputSet(const Method& method, const InputSet& other);

  // Reads a file for each tensor input, or the arrays of a .npz file. Throws ToolError.
  InputSet(const Method& method, const SampleFiles& sample, const SampleQuery& query);

  // `values` has one tensor for each input.
  InputSet(std::vector<Array> values, std::string source);

  // Takes all inputs from a test set. Throws a ToolError that begins with `label`.
  InputSet(const Method& method, const bundled::TestSet& set, const std::string& label);

  // Sets the method's inputs. Must be called before each execution, because the method may reuse
  // the inputs' memory.
  void apply(Method& method);

  // The origin of the values: "random (seed 0)", "2 files", "1 file, 1 random (seed 0)" or the name
  // of a test set. Empty if the method has no tensor inputs.
  const std::string& source() const { return source_; }
  // The type of each input, such as "f32[1,3,224,224]".
  std::vector<std::string> descriptions() const;
  // The values, indexed by input. The array of an input that is not a tensor is empty.
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  std::vector<Array> arrays_;
  std::vector<std::string> kinds_;
  std::vector<EValue> constants_;  // None if the input has no value
  std::string source_;
};

SessionOptions session_options(const RunnerOptions& options);

// Makes the inputs from --inputs, else from a bundled program's test set, else from random numbers.
// Stores the index of the test set in `trace`. Throws ToolError.
InputSet make_inputs(const Session& session, const Method& method, const RunnerOptions& options,
                     TraceBuffer& trace);

std::vector<std::byte> row_major_bytes(const bundled::BundledTensor& tensor);

}  // namespace vitrine::tools
