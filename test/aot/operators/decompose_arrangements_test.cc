#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeArrangements, ReadsAndWritesDiagonals) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(lowered("aten.diag.default", {floats({2}, {1, 2})}, ArgumentList{1}, {3, 3}),
              {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_near(lowered("aten.diag.default", {floats({2}, {1, 2})}, ArgumentList{-1}, {3, 3}),
              {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_near(lowered("aten.diag.default", {x}, ArgumentList{1}, {2}), {2, 6});
  expect_near(
      lowered("aten.diag_embed.default", {floats({2, 2}, {1, 2, 3, 4})}, ArgumentList{}, {2, 2, 2}),
      {1, 0, 0, 2, 3, 0, 0, 4});
  // In this call, the last dim of the result is the row index of the matrices, and the first dim is
  // the column index.
  expect_near(lowered("aten.diag_embed.default", {floats({1, 2}, {1, 2})}, ArgumentList{1, 2, 0},
                      {3, 1, 3}),
              {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_near(
      lowered("aten.diagonal_scatter.default", {x, floats({2}, {8, 9})}, ArgumentList{1}, {2, 3}),
      {1, 8, 3, 4, 5, 9});
  expect_near(
      lowered("aten.diagonal_scatter.default", {x, floats({1}, {8})}, ArgumentList{-1}, {2, 3}),
      {1, 2, 3, 8, 5, 6});
  expect_near(lowered("aten.diagonal_scatter.default", {x, floats({2}, {8, 9})},
                      ArgumentList{0, 1, 0}, {2, 3}),
              {8, 2, 3, 4, 9, 6});
  expect_near(lowered("aten.trace.default", {x}, ArgumentList{}, {}), {6});
  expect_near(lowered("aten.block_diag.default", {x, floats({1, 2}, {7, 8})},
                      [](const Nodes& in) {
                        return ArgumentList{Argument::list({in[0], in[1]})};
                      },
                      {3, 5}),
              {1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 7, 8});
}

TEST(DecomposeArrangements, SupportsSplitRotateAndStackOperators) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto piece = [](int64_t size) { return contiguous_spec(ScalarType::kFloat, {2, size}); };
  const auto sections = [](const Nodes& in) { return ArgumentList{in[0], 2, 1}; };
  const Value::Items two = {piece(2), piece(1)};
  expect_near(lowered_item("aten.tensor_split.sections", {x}, sections, two, 0), {1, 2, 4, 5});
  expect_near(lowered_item("aten.tensor_split.sections", {x}, sections, two, 1), {3, 6});
  const auto indices = [](const Nodes& in) {
    return ArgumentList{in[0], std::vector<int64_t>{1, -1}};
  };
  const Value::Items three = {piece(1), piece(1), piece(1)};
  expect_near(lowered_item("aten.hsplit.array", {x}, indices, three, 1), {2, 5});
  const auto rotated = [&](int64_t quarter_turns, std::vector<SymInt> sizes) {
    return lowered("aten.rot90.default", {x}, {quarter_turns, std::vector<int64_t>{0, 1}}, sizes);
  };
  expect_near(rotated(1, {3, 2}), {3, 6, 2, 5, 1, 4});
  expect_near(rotated(-2, {2, 3}), {6, 5, 4, 3, 2, 1});
  expect_near(rotated(3, {3, 2}), {4, 1, 5, 2, 6, 3});
  expect_near(lowered("aten.fliplr.default", {x}, ArgumentList{}, {2, 3}), {3, 2, 1, 6, 5, 4});
  const TensorData a = floats({2}, {1, 2});
  const TensorData b = floats({3}, {7, 8, 9});
  const auto both = [](const Nodes& in) { return ArgumentList{Argument::list({in[0], in[1]})}; };
  expect_near(lowered("aten.cartesian_prod.default", {a, b}, both, {6, 2}),
              {1, 7, 1, 8, 1, 9, 2, 7, 2, 8, 2, 9});
  expect_near(lowered("aten.column_stack.default", {a, floats({2, 2}, {3, 4, 5, 6})}, both, {2, 3}),
              {1, 3, 4, 2, 5, 6});
  expect_near(lowered("aten.squeeze.default", {floats({1, 2, 1}, {1, 2})}, ArgumentList{}, {2}),
              {1, 2});
}

}  // namespace
}  // namespace vitrine::aot
