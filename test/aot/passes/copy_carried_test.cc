#include <gtest/gtest.h>

#include "test/aot/optimize/run_loop.h"

namespace vitrine::aot {
namespace {

// The loop carries (a, b) -> (b, a + x) and returns a in each step.
TEST(CopyCarried, CarriedValuesCanMoveToAnotherPosition) {
  Body body;
  Node* a = body.input({1});
  Node* b = body.input({1});
  Node* x = body.input({1});
  Node* sum = body.call("aten.add.Tensor", {a, x}, {1});
  const TensorData xs = floats({3, 1}, {1, 10, 100});
  const auto found = run_loop("scan", {floats({1}, {1000}), floats({1}, {2000}), xs}, {2, 1, 0},
                              body.finish({b, sum, a}), {{1}, {1}, {3, 1}});
  // (1000, 2000) -> (2000, 1001) -> (1001, 2010) -> (2010, 1101)
  EXPECT_EQ(found, (std::vector<Values>{{2010}, {1101}, {1000, 2000, 1001}}));
}

// The loop swaps its carried values a and b an odd number of times.
TEST(CopyCarried, CarriedValuesCanSwapPositions) {
  Body body;
  Node* a = body.input({1});
  Node* b = body.input({1});
  Node* x = body.input({1});
  Node* row = body.call("aten.add.Tensor", {a, x}, {1});
  const TensorData xs = floats({3, 1}, {1, 2, 3});
  const auto found = run_loop("scan", {floats({1}, {10}), floats({1}, {20}), xs}, {2, 1, 0},
                              body.finish({b, a, row}), {{1}, {1}, {3, 1}});
  EXPECT_EQ(found, (std::vector<Values>{{20}, {10}, {11, 22, 13}}));
}

}  // namespace
}  // namespace vitrine::aot
