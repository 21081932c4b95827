#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeImages, PadsByReflectionReplicationAndWrapping) {
  const std::vector<TensorData> x = {floats({1, 4}, {1, 2, 3, 4})};
  const auto padded = [&](const char* mode) {
    return run(x, one("aten.pad.default", {std::vector<int64_t>{2, 3}, mode}))[0];
  };
  expect_near(padded("reflect"), {3, 2, 1, 2, 3, 4, 3, 2, 1});
  expect_near(padded("replicate"), {1, 1, 1, 2, 3, 4, 4, 4, 4});
  expect_near(padded("circular"), {3, 4, 1, 2, 3, 4, 1, 2, 3});
  // Elements cut off at the front do not wrap around to the end.
  expect_near(run(x, one("aten.pad.default", {std::vector<int64_t>{-1, 2}, "circular"}))[0],
              {2, 3, 4, 2, 3});
}

}  // namespace
}  // namespace vitrine::aot
