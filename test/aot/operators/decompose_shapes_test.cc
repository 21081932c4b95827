#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeShapes, SupportsRollTileRepeatAndTriangularMasks) {
  const std::vector<TensorData> x = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  expect_near(run(x, one("aten.roll.default", {std::vector<int64_t>{4}}))[0], {3, 4, 5, 6, 1, 2});
  expect_near(
      run(x, one("aten.roll.default", {std::vector<int64_t>{-1}, std::vector<int64_t>{1}}))[0],
      {2, 3, 1, 5, 6, 4});
  expect_near(run(x, one("aten.tile.default", {std::vector<int64_t>{2}}))[0],
              {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_near(run(x, one("aten.repeat_interleave.self_int", {2}))[0],
              {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expect_near(run(x, one("aten.repeat_interleave.self_int", {2, 0}))[0],
              {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_near(run(x, one("aten.triu.default", {1}))[0], {0, 2, 3, 0, 0, 6});
  expect_near(run(x, one("aten.tril.default", {-1}))[0], {0, 0, 0, 4, 0, 0});
}

TEST(DecomposeShapes, NegativeStartOfNarrowCountsFromTheEnd) {
  const std::vector<TensorData> x = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  expect_near(run(x, one("aten.narrow.default", {1, -2, 2}))[0], {2, 3, 5, 6});
  expect_near(run(x, one("aten.narrow.default", {1, -3, 2}))[0], {1, 2, 4, 5});
  expect_near(run(x, one("aten.narrow.default", {0, -1, 1}))[0], {4, 5, 6});
  expect_near(run(x, one("aten.narrow.default", {0, 1, 1}))[0], {4, 5, 6});
  EXPECT_TRUE(values_of(run(x, one("aten.narrow.default", {0, 0, 0}))[0]).empty());
}

TEST(DecomposeShapes, CreatesMeshGridsAndBroadcastsTensors) {
  const TensorData x = floats({3}, {1, 2, 3});
  const TensorData y = floats({2}, {10, 20});
  const auto list = [](const std::vector<Node*>& in) {
    return ArgumentList{Argument::list(ArgumentList(in.begin(), in.end()))};
  };
  const auto list_and_indexing = [](const std::vector<Node*>& in) {
    return ArgumentList{Argument::list(ArgumentList(in.begin(), in.end())), "xy"};
  };
  const Value::Items rows = Value::Items(2, contiguous_spec(ScalarType::kFloat, {3, 2}));
  const Value::Items columns = Value::Items(2, contiguous_spec(ScalarType::kFloat, {2, 3}));
  const auto grid = [&](const char* target, const Arguments& arguments, const Value::Items& results,
                        size_t item) {
    return lowered_item(target, {x, y}, arguments, results, item);
  };
  expect_near(grid("aten.meshgrid.default", list, rows, 0), {1, 1, 2, 2, 3, 3});
  expect_near(grid("aten.meshgrid.default", list, rows, 1), {10, 20, 10, 20, 10, 20});
  expect_near(grid("aten.meshgrid.indexing", list_and_indexing, columns, 0), {1, 2, 3, 1, 2, 3});
  expect_near(grid("aten.meshgrid.indexing", list_and_indexing, columns, 1),
              {10, 10, 10, 20, 20, 20});

  const TensorData column = floats({2, 1}, {10, 20});
  const auto broadcast = [&](size_t item) {
    return lowered_item("aten.broadcast_tensors.default", {x, column}, list, columns, item);
  };
  expect_near(broadcast(0), {1, 2, 3, 1, 2, 3});
  expect_near(broadcast(1), {10, 10, 10, 20, 20, 20});
}

}  // namespace
}  // namespace vitrine::aot
