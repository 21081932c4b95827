// Tests tables that choose between Vitrine's and XNNPACK's kernels.
#include "backends/xnnpack/runtime/execution/kernel_choices.h"

#include <gmock/gmock.h>

#include <fstream>

#include "kernels/optimized/simd/gemm.h"
#include "test/backends/xnnpack/own_kernels_fixture.h"
#include "test/support/scratch_folder.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;
using xnnpack::KernelChoices;

bool is_kernel(std::string_view name) { return name == "Softmax" || name == "Sine"; }

Result<KernelChoices> parse(const std::string& rows) {
  return KernelChoices::parse("vitrine choices 1, vectors of 32\n" + rows, "t", is_kernel, 32);
}

TEST(KernelChoices, UseTheNearestMeasuredSizes) {
  const auto table = parse(
      "# a comment\n"
      "50 64 64 4096 Softmax\n"
      "120 1024 1024 4096 Softmax\n"
      "\n"
      "96 1 1 1 Sine\n");
  ASSERT_TRUE(table.ok()) << table.error().message();
  EXPECT_EQ(table->is_faster("Softmax", {32, 32, 1 << 20}), true);
  EXPECT_EQ(table->is_faster("Softmax", {250, 250, 4096}), true);   // 64 * 3.9, 1024 / 4.1
  EXPECT_EQ(table->is_faster("Softmax", {260, 260, 4096}), false);  // 64 * 4.1, 1024 / 3.9
  EXPECT_EQ(table->is_faster("Softmax", {0, 0, 0}), true);
  EXPECT_EQ(table->is_faster("Sine", {1, 1, 1}), false);  // a gain below 5 %
  EXPECT_EQ(table->is_faster("Cosine", {1, 1, 1}), std::nullopt);
}

TEST(KernelChoices, AsteriskMatchesAllKernels) {
  const auto table = parse("1 1 1 1 *");
  ASSERT_TRUE(table.ok()) << table.error().message();
  EXPECT_EQ(table->is_faster("Softmax", {7, 7, 7}), true);
  EXPECT_TRUE(table->has("Cosine"));
}

TEST(KernelChoices, ErrorNamesTheInvalidLine) {
  const auto error_of = [](std::string_view text) {
    return std::string(KernelChoices::parse(text, "t", is_kernel, 32).error().message());
  };
  EXPECT_THAT(error_of(""), HasSubstr("t:1: expected a table of choices"));
  EXPECT_THAT(error_of("vitrine choices 1, vectors of x"),
              HasSubstr("t:1: expected a width in bytes"));
  EXPECT_THAT(error_of("vitrine choices 1, vectors of 64"),
              HasSubstr("t:1: measured with vectors of 64 bytes, but this processor has 32"));
  for (const std::string line : {"0 1 1 1 Sine", "50 1 1 Sine", "-1 1 1 1 Sine", "50 1 1 1",
                                 "50 1 1 1 ", "99999999999999999999 1 1 1 Sine", "50,1,1,1,Sine"}) {
    EXPECT_THAT(parse("50 1 1 1 Sine\n" + line).error().message(),
                HasSubstr("t:3: expected a percentage"))
        << line;
  }
  EXPECT_THAT(parse("50 1 1 1 Tangent").error().message(),
              HasSubstr("t:2: this build has no kernel \"Tangent\""));
  EXPECT_THAT(parse("50 1 1 1 " + std::string(1000, 'x')).error().message(),
              HasSubstr("t:2: this build has no kernel"));
}

// kernel_of() runs a softmax of one row of 64 elements, with a table of choices that contains
// `rows`. It returns "Vitrine" or "XNNPACK" for the kernel that ran, or the error if loading fails.
class DelegateKernelChoices : public OwnKernelsFixture {
 protected:
  std::string kernel_of(const std::string& rows) {
    const auto bytes = static_cast<size_t>(optimized::simd::gemm_shape().lanes) * sizeof(float);
    const std::string path = scratch_ / "choices.txt";
    std::ofstream(path) << "vitrine choices 1, vectors of " << bytes << "\n" << rows;
    set_option("choices", std::string_view(path));
    PayloadBuilder b;
    const Shape shape{1, 64};
    b.unary(Tag::XNNSoftmax, b.input(shape), b.output(shape));
    RecordingTracer recorded;
    tracer = &recorded;
    auto loaded = init(b.build());
    if (!loaded.ok()) return loaded.error().message();
    delegate = std::move(*loaded);
    const std::vector<float> in(64, 1);
    run({&factory.make<float>(sizes_of(shape), in), &factory.make(ScalarType::kFloat, {1, 64})});
    tracer = nullptr;
    return recorded.has_run("Vitrine Softmax") ? "Vitrine" : "XNNPACK";
  }

 private:
  ScratchFolder scratch_;
};
INSTANTIATE_TEST_SUITE_P(One, DelegateKernelChoices, testing::Values(true));

TEST_P(DelegateKernelChoices, FollowTheChoicesFile) {
  if (!xnnpack::OwnKernels::are_built()) GTEST_SKIP() << "this build has only XNNPACK's kernels";
  EXPECT_EQ(kernel_of("90 64 64 64 Vitrine Softmax (NC, F32)"), "Vitrine");
  EXPECT_EQ(kernel_of("110 64 64 64 Vitrine Softmax (NC, F32)"), "XNNPACK");
  EXPECT_EQ(kernel_of("110 64 64 64 Vitrine Sine (NC, F32)"), "Vitrine");  // the built-in rule
  EXPECT_THAT(kernel_of("90 64 64 64 Vitrine SiLU (NC, F32)"),
              HasSubstr("choices.txt:2: this build has no kernel"));
}

}  // namespace
}  // namespace vitrine::test
