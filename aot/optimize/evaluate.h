// Runs an edge program on the host, with the portable kernels.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/graph/exported_program.h"
#include "vitrine/kernel_registry.h"

namespace vitrine {
class EventTracer;
class Method;
class Tensor;
}  // namespace vitrine

namespace vitrine::aot {

// A program in memory that can run many times. Buffers keep their values between runs.
class HostMethod {
 public:
  // Loads a program that to_executable() has processed, without delegates. Kernels in `preferred`
  // replace portable kernels. Throws AotError if loading fails.
  explicit HostMethod(ExportedProgram executable, KernelTable preferred = {});
  ~HostMethod();
  HostMethod(const HostMethod&) = delete;
  HostMethod& operator=(const HostMethod&) = delete;

  const MethodDebugInfo& debug_info() const;
  // Runs the program once. `inputs` has one tensor, with any strides, for each user input that is a
  // tensor. `tracer` may be null. Throws AotError if the run fails.
  void run(std::span<const TensorData> inputs, EventTracer* tracer = nullptr);
  // Returns the user outputs of the last run that are tensors, in row-major order. The tensors own
  // their bytes.
  std::vector<TensorData> outputs() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

TensorData copy_of(const Tensor& tensor);

// Executes `program`, an edge program without delegates, once. `inputs` has one tensor, with any
// strides, for each user input that is a tensor. Returns the user outputs like
// HostMethod::outputs(). Does not change the program or its buffers. Throws AotError if lowering or
// execution fails.
std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs = {});

}  // namespace vitrine::aot
