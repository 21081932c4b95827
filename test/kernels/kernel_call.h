// Calls kernels by name through their boxed functions, like the executor.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "kernels/llm/llm_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "runtime/extension/derived_data.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "vitrine/evalue.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {

inline constexpr auto kBad = ErrorCode::kInvalidArgument;
inline constexpr auto kDynamic = ShapeDynamism::kDynamicBound;

// Use succeeds() as in EXPECT_TRUE(succeeds(call.run(...))), which prints the error if the call
// fails.
inline testing::AssertionResult succeeds(const Error& error) {
  if (error.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_name(error.code()) << ": " << error.message();
}
inline testing::AssertionResult fails(const Error& error, ErrorCode code, std::string_view text) {
  if (error.code() == code &&
      std::string_view(error.message()).find(text) != std::string_view::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << error_code_name(error.code()) << ": " << error.message();
}

class KernelCall : public TensorFactory {
 public:
  static EValue none() { return EValue(); }

  // Runs a kernel. The arguments are in schema order and include `out`, but not the returned value.
  template <class... Args>
  Error run(std::string_view name, Args&&... args) {
    std::vector<EValue> values{value_of(args)...};
    return run_values(name, values);
  }
  // Runs a kernel whose last argument is a new output of this dtype and shape. Expects success and
  // returns the output.
  template <class... Args>
  Tensor& output_of(ScalarType dtype, const std::vector<int32_t>& sizes, std::string_view name,
                    Args&&... args) {
    Tensor& out = make(dtype, sizes);
    EXPECT_TRUE(succeeds(run(name, args..., out))) << name;
    return out;
  }

  // Lets kernels use three threads.
  void use_threads() {
    threads_ = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
    pool = threads_.get();
  }

  EValue result;               // result of an operator without `out`
  size_t temporary_bytes = 0;  // maximum temporary memory of the last call
  // The registry that contains the kernels. If null, a registry without the optimized kernels is
  // used.
  const KernelRegistry* registry = nullptr;
  ThreadPool* pool = nullptr;
  DerivedData* derived = nullptr;  // keeps what kernels derive from constants

 private:
  static EValue value_of(Tensor& tensor) { return EValue(&tensor); }
  static EValue value_of(const EValue& value) { return value; }
  static EValue value_of(int value) { return EValue(int64_t{value}); }
  static EValue value_of(int64_t value) { return EValue(value); }
  static EValue value_of(double value) { return EValue(value); }
  static EValue value_of(bool value) { return EValue(value); }
  static EValue value_of(ScalarType value) { return EValue(static_cast<int64_t>(value)); }
  static EValue value_of(const char* value) { return EValue(std::string_view(value)); }

  Error run_values(std::string_view name, std::vector<EValue>& values) {
    static const KernelRegistry* const kPlain = [] {
      auto* made = new KernelRegistry;
      EXPECT_TRUE(made->add("portable", portable::kernels()).ok());
      EXPECT_TRUE(made->add("quantized", quantized::kernels()).ok());
      EXPECT_TRUE(made->add("llm", llm::kernels()).ok());
      return made;
    }();
    const Kernel* kernel = (registry != nullptr ? *registry : *kPlain).find(name).kernel;
    if (kernel == nullptr) {
      return Error::make(ErrorCode::kOperatorMissing, "no kernel %.*s",
                         static_cast<int>(name.size()), name.data());
    }
    std::vector<EValue*> arguments;
    for (EValue& value : values) arguments.push_back(&value);
    arguments.push_back(&result);
    EXPECT_EQ(arguments.size(), kernel->num_arguments) << name;
    if (arguments.size() != kernel->num_arguments) {
      return Error::make(ErrorCode::kInvalidProgram, "wrong number of arguments");
    }
    HeapArena temp;
    KernelContext context(&temp, pool);
    context.set_derived_data(derived);
    kernel->function(context, arguments.data());
    temporary_bytes = temp.max_reserved();
    return context.take_error();
  }

  std::unique_ptr<ThreadPool> threads_;
};

// Returns 0, 1, 2, ...
inline std::vector<float> count_up(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace vitrine::test
