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

// A program in memory that can run many times. It keeps the values of buffers between runs.
class HostMethod {
 public:
  // Loads a program that to_executable() has processed and that does not contain delegates. Kernels
  // in `preferred` replace portable kernels. Throws AotError if the program cannot be loaded.
  explicit HostMethod(ExportedProgram executable, KernelTable preferred = {});
  ~HostMethod();
  HostMethod(const HostMethod&) = delete;
  HostMethod& operator=(const HostMethod&) = delete;

  const MethodDebugInfo& debug_info() const;
  // Runs the program once. `inputs` contains one tensor for each user input that is a tensor. These
  // tensors may have any strides. `tracer` may be null. Throws AotError if the run fails.
  void run(std::span<const TensorData> inputs, EventTracer* tracer = nullptr);
  // Returns the user outputs of the last run, in row-major order. Omits outputs that are not
  // tensors. The tensors own their bytes.
  std::vector<TensorData> outputs() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Returns a copy of the elements in row-major order.
TensorData copy_of(const Tensor& tensor);

// Executes `program` once and returns the user outputs that are tensors, in row-major order. The
// returned tensors own their bytes. `program` must be in the edge dialect, without delegates.
// `inputs` contains one tensor for each user input that is a tensor. These tensors may have any
// strides. Buffers start with the values that they have in the program. The program does not
// change. Throws AotError if lowering or execution fails.
std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs = {});

}  // namespace vitrine::aot
