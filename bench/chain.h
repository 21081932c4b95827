// A loaded program of kernel calls only, for what a step of the executor costs.
#pragma once

#include <memory>

#include "flatbuffers/flatbuffers.h"
#include "host/host_tensor.h"
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

 private:
  flatbuffers::DetachedBuffer bytes_;
  DataBuffer aligned_;
  KernelRegistry kernels_;
  MethodOptions options_;
  tools::HostTensor one_{ScalarType::kFloat, std::array<int32_t, 1>{1}, std::array<uint8_t, 1>{0}};
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Method> method_;
};

}  // namespace vitrine::bench
