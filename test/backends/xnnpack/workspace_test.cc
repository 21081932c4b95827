// Tests the memory of intermediate values.
#include <gmock/gmock.h>

#include <cpuinfo.h>

#include <cmath>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::FloatNear;
using testing::Pointwise;

class SoftmaxMemoryTest : public DelegateTest {
 protected:
  // Loads a delegate that computes -softmax(abs(x)). The input and the result of the softmax are
  // intermediate values.
  void load_rows(uint32_t rows, uint32_t width) {
    PayloadBuilder b;
    const uint32_t x = b.input({rows, width}), y = b.output({rows, width});
    const uint32_t scores = b.internal({rows, width}), weights = b.internal({rows, width});
    b.unary(Tag::XNNAbs, x, scores);
    b.unary(Tag::XNNSoftmax, scores, weights);
    b.unary(Tag::XNNNegate, weights, y);
    load(b);
  }

  // Returns the number of tensors of 1000 rows and `width` columns that fit into the workspace.
  size_t places(uint32_t width) {
    constexpr uint32_t kRows = 1000;
    load_rows(kRows, width);
    const std::vector<int32_t> sizes = {kRows, static_cast<int32_t>(width)};
    Tensor& in = factory.make(ScalarType::kFloat, sizes);
    // The input gets slack. Otherwise, the delegate would also need memory for a copy of the input.
    std::vector<std::byte> zeros(in.nbytes() + kReadableSlack);
    in.set_data(zeros.data(), /*has_slack=*/true);
    run({&in, &factory.make(ScalarType::kFloat, sizes)});
    return memory_bytes(DelegateMemory::Kind::kWorkspace) / in.nbytes();
  }
};

TEST_F(SoftmaxMemoryTest, OutputGetsSeparateMemoryIfRowsEndInAPartialVector) {
  if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  ASSERT_TRUE(cpuinfo_initialize());
  const size_t apart = cpuinfo_has_x86_avx512f() ? 2 : 1;
  for (const uint32_t width : {10, 15, 17, 197, 255}) EXPECT_EQ(places(width), apart) << width;
  for (const uint32_t width : {16, 48, 240, 256, 257, 400}) EXPECT_EQ(places(width), 1) << width;
}

TEST_F(SoftmaxMemoryTest, MatchesTheFormulaForEachRowLength) {
  for (uint32_t width = 1; width <= 40; ++width) {
    SCOPED_TRACE(width);
    constexpr uint32_t kRows = 5;
    load_rows(kRows, width);
    std::vector<float> in, expected;
    for (uint32_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (uint32_t i = 0; i < width; ++i) {
        in.push_back(-0.25f * static_cast<float>((row + i) % 7));
        sum += std::exp(-static_cast<double>(in.back()));
      }
      for (uint32_t i = 0; i < width; ++i) {
        expected.push_back(static_cast<float>(-std::exp(-in[row * width + i]) / sum));
      }
    }
    const std::vector<int32_t> sizes = {kRows, static_cast<int32_t>(width)};
    Tensor& out = factory.make(ScalarType::kFloat, sizes);
    run({&factory.make(sizes, in), &out});
    EXPECT_THAT(values_of<float>(out), Pointwise(FloatNear(1e-6f), expected));
  }
}

}  // namespace
}  // namespace vitrine::test
