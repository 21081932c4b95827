#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeEinsum, ComputesSumsOfProducts) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData b = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto einsum = [](const char* equation, std::vector<TensorData> inputs,
                         std::vector<SymInt> sizes) {
    return run(inputs, [&](ModelBuilder& build, const std::vector<Node*>& nodes) {
      const Argument list = Argument::list(ArgumentList(nodes.begin(), nodes.end()));
      return build.call_as("aten.einsum.default", {equation, list}, {},
                           contiguous_spec(ScalarType::kFloat, sizes));
    })[0];
  };
  expect_near(einsum("ij,jk->ik", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij,jk", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij->ji", {a}, {3, 2}), {1, 4, 2, 5, 3, 6});
  expect_near(einsum("ij->", {a}, {}), {21});
  expect_near(einsum("...j->...", {a}, {2}), {6, 15});
  // einsum sums over a dim that only the first operand has, and over the dims of an ellipsis if the
  // result lacks the ellipsis.
  expect_near(einsum("ij,k->k", {a, floats({2}, {1, 10})}, {2}), {21, 210});
  expect_near(einsum("...ik,...j->ij",
                     {floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}), floats({2}, {1, 10})}, {2, 2}),
              {6, 60, 15, 150});
  expect_near(einsum("ij,ij->i", {a, a}, {2}), {14, 77});
  expect_near(einsum("ii->i", {floats({2, 2}, {1, 2, 3, 4})}, {2}), {1, 4});
  expect_near(einsum("ii", {floats({2, 2}, {1, 2, 3, 4})}, {}), {5});
  expect_near(
      einsum("iji,j->i",
             {floats({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), floats({3}, {1, 2, 3})},
             {2}),
      {16, 58});
  expect_near(einsum("i,j->ij", {floats({2}, {2, 3}), floats({2}, {5, 7})}, {2, 2}),
              {10, 14, 15, 21});
  expect_near(einsum("ij,jk,kl->il", {a, b, a}, {2, 3}), {134, 184, 234, 305, 418, 531});
}

}  // namespace
}  // namespace vitrine::aot
