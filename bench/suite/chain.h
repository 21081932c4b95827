// A loaded program of kernel calls only, for what a step of the executor costs.
#pragma once

#include <memory>

#include "flatbuffers/flatbuffers.h"
#include "host/tool_error.h"
#include "vitrine/array.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/method.h"

namespace vitrine::bench {

// `steps` additions of one-element tensors by the portable kernel. Throws ToolErrors.
class Chain {
 public:
  explicit Chain(int steps, EventTracer* tracer = nullptr);
  Method& method() { return *method_; }
  void load();  // anew
  void set_input(size_t index);
  // What the steps do, without an executor.
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
