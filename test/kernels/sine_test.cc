// Tests the optimized sin and cos against the C library's in double precision.

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
#if defined(__arm__)
constexpr int kSmallestExponent = -126;  // 32-bit NEON treats subnormal numbers as zero
#else
constexpr int kSmallestExponent = -149;
#endif

struct Function {
  const char* name;
  double (*exact)(double);
};

class Sine : public testing::TestWithParam<Function> {
 protected:
  static std::vector<float> run(const std::vector<float>& angles) {
    KernelCall call;
    call.registry = &optimized_kernels();
    EXPECT_STREQ(call.registry->find(GetParam().name).table, "optimized");
    const auto count = static_cast<int32_t>(angles.size());
    Tensor& self = call.make<float>({count}, angles);
    Tensor& out = call.output_of(ScalarType::kFloat, {count}, GetParam().name, self);
    return {out.data<float>(), out.data<float>() + count};
  }

  // Expects results within two units in the last place of the exact values.
  static void expect_accurate(const std::vector<float>& angles) {
    const std::vector<float> results = run(angles);
    for (size_t i = 0; i < angles.size(); ++i) {
      const double exact = GetParam().exact(static_cast<double>(angles[i]));
      int exponent = 0;
      std::frexp(exact, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
      if (!(std::abs(static_cast<double>(results[i]) - exact) <= 2 * unit)) {
        FAIL() << "for angle " << angles[i] << ": expected " << exact << ", found " << results[i];
      }
    }
  }
};

TEST_P(Sine, IsAccurateForEveryExponent) {
  std::vector<float> angles;
  for (int exponent = kSmallestExponent; exponent < 128; ++exponent) {
    for (int i = 0; i < 500; ++i) {
      const auto angle = static_cast<float>(std::ldexp(1 + i / 500.0, exponent));
      angles.push_back(i % 2 == 0 ? angle : -angle);
    }
  }
  expect_accurate(angles);
}

TEST_P(Sine, IsAccurateForSmallAngles) {
  std::vector<float> angles;
  for (int i = -100'000; i <= 100'000; ++i) angles.push_back(static_cast<float>(i) * 1e-3F);
  expect_accurate(angles);
}

// Near many of these angles, results are close to zero or change their sign. Some angles are above
// the largest angle that the vector code handles.
TEST_P(Sine, IsAccurateNearMultiplesOfQuarterPi) {
  std::vector<float> angles;
  for (int quarter = 1; quarter < 100'000; ++quarter) {
    const auto angle = static_cast<float>(quarter * (std::numbers::pi / 4));
    angles.insert(angles.end(), {std::nextafter(angle, 0.0F), angle, -angle});
  }
  for (const float bound : {400.0F, 131072.0F}) {
    angles.insert(angles.end(), {std::nextafter(bound, 0.0F), bound, -std::nextafter(bound, kInf)});
  }
  expect_accurate(angles);
}

TEST_P(Sine, ReturnsNanForNonFiniteInputs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> results = run({kInf, -kInf, nan, -nan, 1.0F});
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(results[i])) << i;
  EXPECT_NEAR(results[4], GetParam().exact(1), 1e-7);
}

TEST_P(Sine, KeepsSignOfZero) {
  const std::vector<float> results = run({0.0F, -0.0F});
  for (size_t i = 0; i < 2; ++i) {
    const double exact = GetParam().exact(i == 0 ? 0.0 : -0.0);
    EXPECT_EQ(static_cast<double>(results[i]), exact);
    EXPECT_EQ(std::signbit(results[i]), std::signbit(exact));
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Sine,
                         testing::Values(Function{"aten::sin.out", std::sin},
                                         Function{"aten::cos.out", std::cos}),
                         [](const auto& tested) {
                           return std::string(tested.param.name).substr(6, 3);
                         });

}  // namespace
}  // namespace vitrine::test
