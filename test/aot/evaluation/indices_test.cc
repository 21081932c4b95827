// What reads and writes by index, and what puts elements in other places.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

using Nodes = std::vector<Node*>;

TEST(DecomposedIndices, WritesAlongADim) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData index = integers({2}, {2, 0});
  const TensorData twice = integers({2}, {1, 1});
  const TensorData source = floats({2, 2}, {10, 20, 30, 40});
  const auto by_columns = [](const Nodes& in) { return ArgumentList{in[0], 1, in[1], in[2]}; };
  expect_near(lowered("aten.index_add.default", {x, index, source}, by_columns, {2, 3}),
              {21, 2, 13, 44, 5, 36});
  expect_near(
      lowered("aten.index_add.default", {x, twice, source}, by_columns, {2, 3}, {{"alpha", 2}}),
      {1, 62, 3, 4, 145, 6});
  expect_near(lowered("aten.index_copy.default", {x, index, source}, by_columns, {2, 3}),
              {20, 2, 10, 40, 5, 30});
  const auto filled = [](const Nodes& in) { return ArgumentList{in[0], -2, in[1], 7.0}; };
  expect_near(lowered("aten.index_fill.int_Scalar", {x, integers({1}, {1})}, filled, {2, 3}),
              {1, 2, 3, 7, 7, 7});
}

TEST(DecomposedIndices, ReadsAndWritesOfElementsInARow) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(
      lowered("aten.take.default", {x, integers({2, 2}, {5, 0, -1, 3})}, ArgumentList{}, {2, 2}),
      {6, 1, 6, 4});
  expect_near(lowered("aten.put.default", {x, integers({2}, {4, 4}), floats({2}, {1, 2})},
                      ArgumentList{true}, {2, 3}),
              {1, 2, 3, 4, 8, 6});
  expect_near(lowered("aten.take_along_dim.default", {x, integers({2, 1}, {2, 0})}, ArgumentList{1},
                      {2, 1}),
              {3, 4});
  // One row of the index for all.
  expect_near(lowered("aten.take_along_dim.default", {x, integers({1, 2}, {2, 0})}, ArgumentList{1},
                      {2, 2}),
              {3, 1, 6, 4});
}

TEST(DecomposedIndices, ScattersWithReduction) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData index = integers({4, 2}, {0, 0, 2, 0, 0, 2, 2, 2});
  const Values values = {7, -1, 2, 8, -3, 4, 9, 1};
  const std::vector<int64_t> rows = {0, 0, 2, 0, 0, 2, 2, 2};
  for (const std::string reduce : {"sum", "mean", "prod", "amax", "amin"}) {
    for (const bool includes : {true, false}) {
      SCOPED_TRACE(reduce + (includes ? " with" : " without"));
      Values expected = {1, 2, 3, 4, 5, 6};
      for (size_t at = 0; at < 6; ++at) {
        Values found;
        if (includes) found.push_back(expected[at]);
        for (size_t i = 0; i < values.size(); ++i) {
          if (rows[i] == static_cast<int64_t>(at / 2) && i % 2 == at % 2)
            found.push_back(values[i]);
        }
        if (found.empty()) continue;
        double sum = 0;
        double product = 1;
        for (const double each : found) {
          sum += each;
          product *= each;
        }
        expected[at] = reduce == "sum"    ? sum
                       : reduce == "mean" ? sum / static_cast<double>(found.size())
                       : reduce == "prod" ? product
                       : reduce == "amax" ? *std::ranges::max_element(found)
                                          : *std::ranges::min_element(found);
      }
      expect_near(lowered("aten.scatter_reduce.two", {x, index, floats({4, 2}, values)},
                          [&](const Nodes& in) {
                            return ArgumentList{in[0], 0, in[1], in[2], reduce};
                          },
                          {3, 2}, {{"include_self", includes}}),
                  expected);
    }
  }
  const auto number = [&](const char* word) {
    return lowered("aten.scatter.value_reduce", {x, index},
                   [&](const Nodes& in) {
                     return ArgumentList{in[0], 0, in[1], 2};
                   },
                   {3, 2}, {{"reduce", word}});
  };
  expect_near(number("add"), {5, 6, 3, 4, 9, 10});
  expect_near(number("multiply"), {4, 8, 3, 4, 20, 24});
}

TEST(DecomposedIndices, PlacesAmongOthers) {
  const TensorData bounds = floats({4}, {1, 3, 3, 7});
  const TensorData x = floats({2, 3}, {0, 1, 3, 5, 7, 9});
  const auto places = [&](bool right) {
    return lowered("aten.bucketize.Tensor", {x, bounds}, ArgumentList{}, {2, 3}, {{"right", right}},
                   ScalarType::kLong);
  };
  expect_near(places(false), {0, 0, 1, 3, 3, 4});
  expect_near(places(true), {0, 1, 3, 3, 4, 4});
  expect_near(lowered("aten.searchsorted.Tensor",
                      {floats({2, 2}, {1, 2, 10, 20}), floats({2, 3}, {0, 2, 3, 10, 15, 30})},
                      ArgumentList{}, {2, 3}, {{"side", "right"}}, ScalarType::kLong),
              {0, 2, 2, 1, 1, 2});
  const TensorData numbers = integers({2, 2}, {1, 2, 3, 4});
  expect_near(lowered("aten.isin.Tensor_Tensor", {numbers, integers({3}, {4, 1, 9})},
                      ArgumentList{}, {2, 2}, {}, ScalarType::kBool),
              {1, 0, 0, 1});
  expect_near(lowered("aten.isin.Tensor_Scalar", {numbers}, ArgumentList{2}, {2, 2},
                      {{"invert", true}}, ScalarType::kBool),
              {1, 0, 1, 1});
}

TEST(DecomposedIndices, BagsOfRows) {
  const TensorData table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData indices = integers({5}, {0, 2, 1, 1, 0});
  const TensorData offsets = integers({3}, {0, 2, 2});  // the second bag is empty
  const Value::Items results = {
      contiguous_spec(ScalarType::kFloat, {3, 2}), contiguous_spec(ScalarType::kLong, {5}),
      contiguous_spec(ScalarType::kLong, {3}), contiguous_spec(ScalarType::kLong, {3})};
  const auto bags = [&](int mode, const Argument& padding) {
    return lowered_item(
        "aten.embedding_bag.padding_idx", {table, indices, offsets},
        [&](const Nodes& in) {
          return ArgumentList{in[0], in[1], in[2], false, mode, false, Argument(), false, padding};
        },
        results, 0);
  };
  expect_near(bags(0, Argument()), {6, 8, 0, 0, 7, 10});
  expect_near(bags(1, Argument()), {3, 4, 0, 0, 7.0 / 3, 10.0 / 3});
  expect_near(bags(1, Argument(1)), {3, 4, 0, 0, 1, 2});
}

TEST(DecomposedIndices, Diagonals) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(lowered("aten.diag.default", {floats({2}, {1, 2})}, ArgumentList{1}, {3, 3}),
              {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_near(lowered("aten.diag.default", {floats({2}, {1, 2})}, ArgumentList{-1}, {3, 3}),
              {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_near(lowered("aten.diag.default", {x}, ArgumentList{1}, {2}), {2, 6});
  expect_near(
      lowered("aten.diag_embed.default", {floats({2, 2}, {1, 2, 3, 4})}, ArgumentList{}, {2, 2, 2}),
      {1, 0, 0, 2, 3, 0, 0, 4});
  // The rows are the last dim, the columns the first.
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

TEST(DecomposedIndices, PiecesTurnsAndStacks) {
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
  const auto turned = [&](int64_t turns, std::vector<SymInt> sizes) {
    return lowered("aten.rot90.default", {x}, {turns, std::vector<int64_t>{0, 1}}, sizes);
  };
  expect_near(turned(1, {3, 2}), {3, 6, 2, 5, 1, 4});
  expect_near(turned(-2, {2, 3}), {6, 5, 4, 3, 2, 1});
  expect_near(turned(3, {3, 2}), {4, 1, 5, 2, 6, 3});
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

TEST(DecomposedIndices, RefusalsNameTheLine) {
  try {
    lowered("aten.no_such_operator.default", {floats({2}, {1, 2})}, ArgumentList{}, {2});
    FAIL() << "was taken";
  } catch (const AotError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("node no_such_operator (aten.no_such_operator.default), "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("lowered_call.cc:"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace vitrine::aot
