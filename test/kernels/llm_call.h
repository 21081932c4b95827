// Defines a fixture that calls llama:: operators.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {

// Runs each test with the reference kernels (false) and with the optimized kernels (true).
class Llm : public testing::TestWithParam<bool> {
 protected:
  Llm() {
    if (GetParam()) call.registry = &optimized_kernels();
  }

  Error run(const char* name, auto&&... arguments) {
    return call.run(std::string("llama::") + name, arguments...);
  }
  Error attend(Tensor& q, Tensor& k, Tensor& v, int64_t start, const EValue& mask, bool causal,
               const EValue& scale, Tensor& out) {
    return run("custom_sdpa.out", q, k, v, start, mask, 0.0, causal, scale, out);
  }
  Tensor& random_tensor(const Sizes& sizes, double range = 2) {
    Tensor& tensor = call.make(ScalarType::kFloat, sizes);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      tensor.mutable_data<float>()[i] = static_cast<float>(random_.real(-range, range));
    }
    return tensor;
  }

  KernelCall call;
  Random random_{7};
};

inline std::string kernels_name(const testing::TestParamInfo<bool>& tested) {
  return tested.param ? "Optimized" : "Portable";
}

inline double at(const Tensor& t, int64_t b, int64_t i, int64_t h, int64_t d) {
  return static_cast<double>(
      t.data<float>()[((b * t.size(1) + i) * t.size(2) + h) * t.size(3) + d]);
}

}  // namespace vitrine::test
