// map and scan against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "aot/graph/aot_error.h"
#include "test/aot/evaluation/looped.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Of each row x: relu(x) * y.
std::unique_ptr<Graph> rows_times(Body body) {
  Node* x = body.input({2});
  Node* y = body.input({2});
  Node* positive = body.call("aten.relu.default", {x}, {2});
  return body.finish({body.call("aten.mul.Tensor", {positive, y}, {2})});
}

TEST(Loop, MapsRows) {
  const TensorData x = floats({3, 2}, {1, -2, 3, 4, -5, 6});
  const TensorData y = floats({2}, {10, 100});
  const auto found = looped("map_impl", {x, y}, {1, 1}, rows_times({}), {{3, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{10, 0, 30, 400, 0, 600}}));
}

// One run over one slice alone.
TEST(Loop, OfOneRow) {
  const auto found = looped("map_impl", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {1, 1},
                            rows_times({}), {{1, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{3, 8}}));
}

// Sums so far.
TEST(Loop, CarriesFromRowToRow) {
  Body body;
  Node* sum = body.input({2});
  Node* x = body.input({2});
  Node* next = body.call("aten.add.Tensor", {sum, x}, {2});
  const auto found = looped("scan", {floats({2}, {100, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                            {1, 1, 0}, body.finish({next, next}), {{2}, {3, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{109, 12}, {101, 2, 104, 6, 109, 12}}));
}

TEST(Loop, RefusesWhatDoesNotFit) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData y = floats({2}, {1, 2});
  const auto error = [&](const std::vector<TensorData>& inputs, const std::vector<size_t>& groups,
                         const std::vector<std::vector<SymInt>>& results) {
    return [=] { looped("map_impl", inputs, groups, rows_times({}), results); };
  };
  EXPECT_THAT(error({x}, {1, 0}, {{3, 2}}), ThrowsMessage<AotError>(HasSubstr("takes 2 inputs")));
  EXPECT_THAT(error({x, y}, {1, 1}, {{3, 2}, {3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("it has 2 results, its body 1")));
  EXPECT_THAT(error({x, y}, {0, 2}, {{3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("runs over nothing")));
  EXPECT_THAT(error({x, y}, {1, 1}, {{3, 4}}), ThrowsMessage<AotError>(HasSubstr("does not fit")));
  EXPECT_THAT(error({y, y}, {1, 1}, {{2, 2}}), ThrowsMessage<AotError>(HasSubstr("does not fit")));
  EXPECT_THAT(error({x, floats({2, 2}, {1, 2, 3, 4})}, {2, 0}, {{3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("several lengths")));
}

}  // namespace
}  // namespace vitrine::aot
