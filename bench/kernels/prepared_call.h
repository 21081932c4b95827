// A kernel and its arguments, for repeated calls.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/util/convert.h"
#include "test/support/tensor_factory.h"
#include "vitrine/evalue.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/thread_pool.h"

namespace vitrine::bench {

// Makes arguments, which live as long as the object.
class PreparedCall : public test::TensorFactory {
 public:
  // A Float tensor of small numbers of both signs.
  Tensor& floats(std::vector<int32_t> sizes, std::vector<uint8_t> dim_order = {}) {
    Tensor& tensor = make(ScalarType::kFloat, std::move(sizes), std::move(dim_order),
                          ShapeDynamism::kDynamicBound);
    auto* const data = tensor.mutable_data<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      data[i] = static_cast<float>(i * 7919 % 1000) / 250.0F - 1.9F;
    }
    return tensor;
  }
  // The same in Float, Half or BFloat16.
  Tensor& floating(ScalarType dtype, const std::vector<int32_t>& sizes) {
    Tensor& numbers = floats(sizes);
    Tensor& tensor = make(dtype, sizes, {}, ShapeDynamism::kDynamicBound);
    convert_run(ScalarType::kFloat, dtype)(numbers.raw_data(), 1, tensor.mutable_raw_data(), 1,
                                           tensor.numel());
    return tensor;
  }
  Tensor& filled(ScalarType dtype, std::vector<int32_t> sizes, int64_t modulus) {
    Tensor& tensor = make(dtype, std::move(sizes), {}, ShapeDynamism::kDynamicBound);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const int64_t value = i * 7919 % modulus;
      if (dtype == ScalarType::kLong) tensor.mutable_data<int64_t>()[i] = value;
      if (tensor.element_size() == 1) {
        tensor.unchecked_mutable_data<uint8_t>()[i] = static_cast<uint8_t>(value);
      }
    }
    return tensor;
  }

  void set_arguments(std::vector<EValue> values) {
    values_ = std::move(values);
    values_.emplace_back();  // the trailing return value
    arguments_.clear();
    for (EValue& value : values_) arguments_.push_back(&value);
  }

  // Calls `kernel` with the arguments; ends the process if it fails.
  void run(const Kernel& kernel, ThreadPool* pool) {
    KernelContext context(&temp_, pool);
    kernel.function(context, arguments_.data());
    temp_.reset();
    const Error error = context.take_error();
    if (error.ok()) return;
    std::fprintf(stderr, "%s: %s\n", kernel.name, error.message());
    std::abort();
  }

 private:
  HeapArena temp_;
  std::vector<EValue> values_;
  std::vector<EValue*> arguments_;
};

}  // namespace vitrine::bench
