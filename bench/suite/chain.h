// A program of kernel calls, to measure the time of an executor step.
#pragma once

#include <memory>

#include "flatbuffers/flatbuffers.h"
#include "tools/common/tool_error.h"
#include "vitrine/array.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/method.h"

namespace vitrine::bench {

// Adds one-element tensors `steps` times with the portable kernel. All functions throw ToolError.
class Chain {
 public:
  explicit Chain(int steps, EventTracer* tracer = nullptr);
  Method& method() { return *method_; }
  void load();  // loads the method again
  void set_input(size_t index);
  // Calls the kernel of aten::add.out `times` times, without the executor.
  void call_kernel(int times);

 private:
  flatbuffers::DetachedBuffer bytes_;
  DataBuffer aligned_;
  KernelRegistry kernels_;
  MethodOptions options_;
  Array sum_ = tools::check(Array::zeros(ScalarType::kFloat, {1}));
  Array one_ = tools::check(Array::zeros(ScalarType::kFloat, {1}));
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Method> method_;
};

}  // namespace vitrine::bench
