#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/blob_text.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(BatchNorm, AloneIsADepthwiseConvolution) {
  for (const Ints& sizes : {Ints{2, 3}, Ints{2, 3, 4}, Ints{2, 3, 2, 2}}) {
    TestProgram t;
    Node* x = t.input("x", sizes);
    const std::vector<float> factors = {1, -2, 3};
    t.output({batch_norm(t, x, factors)});
    const size_t inner = sizes.size() == 2 ? 1 : 4;
    std::vector<float> expected = ramp(6 * inner);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = normalised(expected[i], factors[i / inner % 3]);
    }
    const auto module = lowered(t);
    expect_near(run(*module, {ramp(6 * inner)})[0], expected);
    EXPECT_THAT(handles_of(*module, 1), ElementsAre(1));
  }
}

}  // namespace
}  // namespace vitrine::aot::test
