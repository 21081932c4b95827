#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/blob_text.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

TEST(Convolutions, OverOneDim) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 4});
  const std::vector<float> weight = {1, 0, -1, 2, 1, 0};
  Node* call = convolution(t, x, t.parameter("w", {1, 2, 3}, weight), t.parameter("b", {1}, {0.5f}),
                           {1, 1, 4}, 1);
  t.output({call});
  const std::vector<float> in = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> expected;
  for (int at = 0; at < 4; ++at) {
    float sum = 0.5f;
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < 3; ++k) {
        const int from = at + k - 1;
        if (from >= 0 && from < 4) {
          sum += in[static_cast<size_t>(c * 4 + from)] * weight[static_cast<size_t>(c * 3 + k)];
        }
      }
    }
    expected.push_back(sum);
  }
  expect_near(run(*lowered(t), {in})[0], expected);
}

}  // namespace
}  // namespace vitrine::aot::test
