// Tests operators on a tensor and a Scalar that the tensor's dtype cannot represent exactly.

#include <cstring>
#include <string>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

// PyTorch converts the Scalar to a tensor of the common dtype before it compares or divides.
TEST(ScalarOperand, RoundsScalarsLikeTensorElements) {
  KernelCall call;
  const auto check = [&](const std::string& name, ScalarType dtype, ScalarType result,
                         double number) {
    SCOPED_TRACE(name + " " + scalar_type_name(dtype) + " " + std::to_string(number));
    Tensor& self = call.make(dtype, {3});
    Tensor& other = call.make(dtype, {1});
    Tensor& with_tensor = call.make(result, {3});
    Tensor& with_scalar = call.make(result, {3});
    ASSERT_TRUE(succeeds(call.run("aten::full.out", call.ints({1}), number, other)));
    ASSERT_TRUE(succeeds(call.run("aten::full.out", call.ints({3}), number, self)));
    self.unchecked_mutable_data<uint16_t>()[1] -= 1;
    self.unchecked_mutable_data<uint16_t>()[2] += 1;
    ASSERT_TRUE(succeeds(call.run("aten::" + name + ".Tensor_out", self, other, with_tensor)));
    ASSERT_TRUE(succeeds(call.run("aten::" + name + ".Scalar_out", self, number, with_scalar)));
    EXPECT_EQ(std::memcmp(with_tensor.raw_data(), with_scalar.raw_data(), with_tensor.nbytes()), 0);
  };
  for (const KernelRegistry* registry :
       {static_cast<const KernelRegistry*>(nullptr), &optimized_kernels()}) {
    call.registry = registry;
    for (const ScalarType dtype : {ScalarType::kHalf, ScalarType::kBFloat16}) {
      for (const double number : {0.1, 0.3, 0.7, 2049.0}) {
        for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
          check(name, dtype, ScalarType::kBool, number);
        }
        for (const char* name : {"fmod", "remainder"}) check(name, dtype, dtype, number);
      }
    }
  }
}

// If a tensor is f16 and the Scalar is beyond 65504 (the largest f16), the optimized kernel must
// return the same error as the portable kernel.
TEST(ScalarOperand, OptimizedKernelsRejectTheSameScalarsAsPortableKernels) {
  const auto check = [&](const std::string& name, const auto&... arguments) {
    KernelCall plain;
    KernelCall fast;
    fast.registry = &optimized_kernels();
    const auto run = [&](KernelCall& call) {
      const bool returns_bool = name.find("eq.") != std::string::npos;
      return call.run(name, call.make<Half>({1}, {Half(1.0F)}), arguments...,
                      call.make(returns_bool ? ScalarType::kBool : ScalarType::kHalf, {1}));
    };
    const Error expected = run(plain);
    const Error error = run(fast);
    EXPECT_EQ(error.code(), expected.code()) << name << ": " << expected.message();
    EXPECT_STREQ(error.message(), expected.message()) << name;
  };
  constexpr double kLarge = 70000;
  check("aten::clamp.out", kLarge, KernelCall::none());
  check("aten::clamp.out", KernelCall::none(), kLarge);
  check("aten::hardtanh.out", -kLarge, 1.0);
  check("aten::leaky_relu.out", kLarge);
  check("aten::pow.Tensor_Scalar_out", kLarge);
  check("aten::elu.out", kLarge, 1.0, 1.0);
  check("aten::elu.out", 1.0, kLarge, 1.0);
  check("aten::elu.out", 1.0, 1.0, kLarge);
  check("aten::eq.Scalar_out", kLarge);
  for (const char* name :
       {"aten::add.Scalar_out", "aten::sub.Scalar_out", "aten::rsub.Scalar_out"}) {
    check(name, kLarge, 1.0);
    check(name, 1.0, kLarge);
  }
  for (const char* name : {"aten::mul.Scalar_out", "aten::div.Scalar_out"}) check(name, kLarge);
  KernelCall call;
  for (const char* name : {"aten::add.out", "aten::sub.out"}) {
    check(name, EValue(&call.make<Half>({1}, {Half(1.0F)})), kLarge);
  }
}

}  // namespace
}  // namespace vitrine::test
