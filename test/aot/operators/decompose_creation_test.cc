#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeCreation, CreatesSequencesIdentitiesAndIndices) {
  const std::vector<TensorData> x = {floats({3}, {0, 0, 0})};
  const auto created = [&](const char* target, ArgumentList args) {
    return run(x, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      return build.call("aten.add.Tensor", {in[0], build.call(target, args)});
    })[0];
  };
  expect_near(created("aten.linspace.default", {-1, 1, 3}), {-1, 0, 1});
  expect_near(created("aten.linspace.default", {2.0, 3.0, 1}), {2, 2, 2});
  expect_near(created("aten.eye.m", {2, 3}), {1, 0, 0, 0, 1, 0});
  const auto indices = [&](const char* target, ArgumentList args, int64_t count) {
    const std::vector<TensorData> zero = {integers({1}, {0})};
    return run(zero, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      Node* all = build.call_as(target, args, {}, contiguous_spec(ScalarType::kLong, {2, count}));
      return build.call("aten.add.Tensor", {in[0], all});
    })[0];
  };
  expect_near(indices("aten.tril_indices.default", {3, 2}, 5), {0, 1, 1, 2, 2, 0, 0, 1, 0, 1});
  expect_near(indices("aten.tril_indices.default", {3, 3, -1}, 3), {1, 2, 2, 0, 0, 1});
  expect_near(indices("aten.triu_indices.default", {3, 3, 1}, 3), {0, 0, 1, 1, 2, 2});
  expect_near(indices("aten.triu_indices.default", {3, 2, 0}, 3), {0, 0, 1, 0, 1, 1});
  expect_near(run(x,
                  [&](ModelBuilder& build, const std::vector<Node*>& in) {
                    Node* powers = build.call_as("aten.logspace.default", {0, 2, 3}, {},
                                                 contiguous_spec(ScalarType::kFloat, {3}));
                    return build.call("aten.add.Tensor", {in[0], powers});
                  })[0],
              {1, 10, 100});
  expect_near(run({integers({2}, {2, 0})}, one("aten.one_hot.default", {3}))[0],
              {0, 0, 1, 1, 0, 0});
}

}  // namespace
}  // namespace vitrine::aot
