// Tests a build whose kernels are selected for one program. Runs that program and other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class SelectiveBuild : public testing::Test {
 protected:
  SelectiveBuild() {
    EXPECT_TRUE(kernels_.add("portable", portable::kernels()).ok());
    EXPECT_TRUE(kernels_.add("quantized", quantized::kernels()).ok());
  }

  Result<std::unique_ptr<Method>> load(std::unique_ptr<DataSource> source) {
    VITRINE_ASSIGN_OR_RETURN(const auto program, Program::load(std::move(source)));
    return Method::load(program, "forward", {.kernels = &kernels_});
  }
  Result<std::unique_ptr<Method>> load_sample(const char* name) {
    const std::filesystem::path path = test::samples_dir() / name / "model.pte";
    return load(*map_file(path.c_str()));
  }
  // Loads a program that calls relu on a tensor of each dtype. Returns the error message, or "" if
  // the program loads.
  std::string relu_load_error(ScalarType dtype, ScalarType other) {
    test::ProgramBuilder builder;
    test::MethodSpec& forward = builder.method("forward");
    forward.buffer_sizes = {0, 64};
    const int x = forward.tensor({.dtype = dtype, .sizes = {2}, .planned = test::Planned{1, 0}});
    const int y = forward.tensor({.dtype = dtype, .sizes = {2}, .planned = test::Planned{1, 32}});
    const int z = forward.tensor({.dtype = other, .sizes = {2}, .planned = test::Planned{1, 48}});
    forward.inputs = {x};
    forward.outputs = {y};
    const int relu = forward.op("aten::relu", "out");
    forward.kernel_call(relu, {x, y, y});
    forward.kernel_call(relu, {z, z, z});
    file_ = builder.build();
    auto method = load(*view_buffer(file_));
    return method.ok() ? "" : method.error().message();
  }

  KernelRegistry kernels_;
  test::AlignedBytes file_;
};

TEST_F(SelectiveBuild, ContainsOnlyKernelsThatTheProgramNeeds) {
  EXPECT_THAT(portable::kernels().kernels, SizeIs(7));
  EXPECT_THAT(quantized::kernels().kernels, SizeIs(0));
  EXPECT_EQ(portable::kernels().dtypes,
            1u << static_cast<int>(ScalarType::kFloat) | 1u << static_cast<int>(ScalarType::kLong));
}

TEST_F(SelectiveBuild, RunsTheProgramItWasBuiltFor) {
  auto loaded = load_sample("digits_portable");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  Method& method = **loaded;
  const std::filesystem::path sample = test::samples_dir() / "digits_portable";
  for (const std::string call : {"", "_c1", "_c2", "_c3"}) {
    std::vector<float> values = test::read_floats(sample / ("input_0" + call + ".bin"));
    const std::vector<float> expected = test::read_floats(sample / ("expected_0" + call + ".bin"));
    ASSERT_THAT(values, SizeIs(64));
    ASSERT_THAT(expected, SizeIs(10));
    test::TensorFactory factory;
    Tensor& input = factory.make(ScalarType::kFloat, {1, 1, 8, 8});
    std::memcpy(input.mutable_raw_data(), values.data(), input.nbytes());
    ASSERT_TRUE(method.set_input(0, EValue(&input)).ok());
    const Error error = method.execute();
    ASSERT_TRUE(error.ok()) << error.message();
    const Tensor& output = method.output(0).unchecked_tensor();
    ASSERT_EQ(output.numel(), 10);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(output.data<float>()[i], expected[i], 1e-4 + 1e-4 * std::fabs(expected[i]));
    }
  }
}

TEST_F(SelectiveBuild, ReportsEveryMissingOperator) {
  const auto method = load_sample("add_mul");
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(method.error().code(), ErrorCode::kOperatorMissing);
  EXPECT_THAT(method.error().message(),
              HasSubstr("lacks the operators aten::add.out, aten::mul.out"));
  EXPECT_THAT(method.error().message(), Not(HasSubstr("dtype")));
}

TEST_F(SelectiveBuild, ReportsMissingDtypes) {
  EXPECT_EQ(relu_load_error(ScalarType::kFloat, ScalarType::kFloat), "");
  EXPECT_EQ(relu_load_error(ScalarType::kDouble, ScalarType::kDouble),
            "forward: dtype f64 is not in this build: add it to VITRINE_SELECT_OPS");
  EXPECT_EQ(relu_load_error(ScalarType::kDouble, ScalarType::kHalf),
            "forward: dtype f16, f64 is not in this build: add it to VITRINE_SELECT_OPS");
  EXPECT_EQ(relu_load_error(ScalarType::kFloat, ScalarType::kHalf),
            "forward: dtype f16 is not in this build: add it to VITRINE_SELECT_OPS");
}

// A program can need a dtype that none of its tensors has. Loading cannot detect this, so each
// kernel also checks the dtype when it is called.
TEST_F(SelectiveBuild, KernelsRejectUnselectedDtypes) {
  HeapArena temp;
  KernelContext context(&temp);
  test::TensorFactory factory;
  EValue self(&factory.make(ScalarType::kInt, {2}));
  EValue out(&factory.make(ScalarType::kInt, {2}));
  EValue* arguments[] = {&self, &out, &out};
  kernels_.find("aten::relu.out").kernel->function(context, arguments);
  ASSERT_TRUE(context.failed());
  EXPECT_STREQ(context.take_error().message(),
               "dtype i32 is not in this build: add it to VITRINE_SELECT_OPS");
}

}  // namespace
}  // namespace vitrine
