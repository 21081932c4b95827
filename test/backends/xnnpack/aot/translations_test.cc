// Compares results with formulas, for operators that have neither weights nor windows.
#include "backends/xnnpack/aot/translations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using Formula = std::function<double(double)>;

// Expects that a call with x and the arguments `rest` computes the formula for each element of x.
void expect_formula(const char* target, const ArgumentList& rest, const Formula& formula,
                    const ArgumentMap& kwargs = {}) {
  SCOPED_TRACE(target);
  const std::vector<float> numbers = ramp(17, 0.4f);
  TestProgram t;
  const Ints sizes = {static_cast<int64_t>(numbers.size())};
  ArgumentList args = {t.input("x", sizes)};
  args.insert(args.end(), rest.begin(), rest.end());
  t.output({t.call(target, args, sizes, ScalarType::kFloat, kwargs)});
  std::vector<float> expected;
  for (const float x : numbers) expected.push_back(static_cast<float>(formula(x)));
  expect_near(run(*lowered(t), {numbers})[0], expected, 1e-4f);
}

TEST(Translations, ClampBoundsAreOptional) {
  expect_formula("aten.clamp.default", {-0.5, 1.5},
                 [](double x) { return std::clamp(x, -0.5, 1.5); });
  expect_formula("aten.clamp.default", {-0.5}, [](double x) { return std::max(x, -0.5); });
  expect_formula("aten.clamp.default", {Argument(), 1.5},
                 [](double x) { return std::min(x, 1.5); });
  expect_formula("aten.hardtanh.default", {}, [](double x) { return std::clamp(x, -1.0, 1.0); });
  expect_formula("aten.relu.default", {}, [](double x) { return std::max(x, 0.0); });
}

TEST(Translations, GeluIsExactUnlessAnApproximationIsRequested) {
  expect_formula("aten.gelu.default", {},
                 [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); });
  expect_formula("aten.gelu.default", {},
                 [](double x) {
                   const double inner =
                       std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
                   return x / 2 * (1 + std::tanh(inner));
                 },
                 {{"approximate", "tanh"}});
}

TEST(Translations, LeakyReluSlopeIsOptional) {
  expect_formula("aten.leaky_relu.default", {}, [](double x) { return x < 0 ? 0.01 * x : x; });
  expect_formula("aten.leaky_relu.default", {0.25}, [](double x) { return x < 0 ? x / 4 : x; });
}

TEST(Translations, DataMovementsAcceptNegativeDimsAndOffsets) {
  const std::vector<float> x = {0, 1, 2, 3, 4, 5};
  const auto moved = [&](const char* target, const ArgumentList& rest, const Ints& sizes) {
    TestProgram t;
    ArgumentList args = {t.input("x", {2, 3})};
    args.insert(args.end(), rest.begin(), rest.end());
    t.output({t.call(target, args, sizes)});
    return run(*lowered(t), {x})[0];
  };
  using Numbers = std::vector<float>;
  EXPECT_EQ(moved("aten.permute_copy.default", {Ints{-1, 0}}, {3, 2}), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(moved("aten.slice_copy.Tensor", {-1, -2, 3}, {2, 2}), (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(moved("aten.view_copy.default", {Ints{3, -1}}, {3, 2}), x);
  // The padding amounts begin with the last dim: one column before the matrix, then one row after
  // it.
  EXPECT_EQ(moved("aten.constant_pad_nd.default", {Ints{1, 0, 0, 1}, 9.0}, {3, 4}),
            (Numbers{9, 0, 1, 2, 9, 3, 4, 5, 9, 9, 9, 9}));
}

TEST(Translations, CatAcceptsANegativeDim) {
  TestProgram t;
  Node* a = t.input("a", {2, 1});
  Node* b = t.input("b", {2, 2});
  t.output({t.call("aten.cat.default", {Argument::list({a, b}), -1}, {2, 3})});
  EXPECT_EQ(run(*lowered(t), {{0, 3}, {1, 2, 4, 5}})[0], (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace vitrine::aot::test
