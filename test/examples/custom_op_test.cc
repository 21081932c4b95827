// Runs the example of a custom operator as a user would, and checks what its documentation page
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "custom_op/my_ops.h"
#include "kernels/portable/portable_kernels.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "test/support/temporary_file.h"
#include "test/support/tensor_factory.h"
#include "vitrine.h"
#include "vitrine/extension.h"
#include "vitrine/kernel.h"
#include "vitrine/method.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// leaky_hardsigmoid(x, 0.5) * x for three numbers.
test::AlignedBytes program(const std::string& op = "my_ops::leaky_hardsigmoid") {
  test::ProgramBuilder builder;
  test::MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 128};
  const int x = forward.tensor({.sizes = {3}, .planned = test::Planned{1, 0}});
  const int y = forward.tensor({.sizes = {3}, .planned = test::Planned{1, 32}});
  const int z = forward.tensor({.sizes = {3}, .planned = test::Planned{1, 64}});
  forward.inputs = {x};
  forward.outputs = {z};
  forward.kernel_call(forward.op(op, "out"), {x, forward.real(0.5), y, y});
  forward.kernel_call(forward.op("aten::mul", "out"), {x, y, z, z});
  return builder.build();
}

struct Output {
  int exit_code;
  std::string text;
};
Output run_example(const std::string& arguments) {
  const test::ScratchFolder scratch;
  const std::string file = (scratch / "out").string();
  const int status = std::system(
      (VITRINE_EMULATOR " " VITRINE_CUSTOM_OP " " + arguments + " >" + file + " 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::read_text(file)};
}

TEST(CustomOp, RunsWithPortableKernels) {
  const test::TemporaryFile model(program());
  const Output output = run_example(std::string(model.path()) + " 3 -5 7");
  EXPECT_EQ(output.text, "3 5 21\n");
  EXPECT_EQ(output.exit_code, 0);
}

TEST(CustomOp, ErrorNamesMisspelledOperator) {
  const test::TemporaryFile model(program("my_ops::leaky_hardsigmoyd"));
  const Output output = run_example(std::string(model.path()) + " 3 -5 7");
  EXPECT_THAT(output.text, HasSubstr("OperatorMissing: forward: this build lacks the operators "
                                     "my_ops::leaky_hardsigmoyd.out: "));
  EXPECT_EQ(output.exit_code, 1);
}

TEST(CustomOp, ErrorReportsExpectedNumberOfValues) {
  const test::TemporaryFile model(program());
  EXPECT_THAT(run_example(std::string(model.path()) + " 3").text,
              HasSubstr("the input needs 3 numbers, got 1"));
}

// Once a shared library is loaded, existing modules can call its operators.
TEST(LoadLibrary, AddsOperatorsToModules) {
  const test::TemporaryFile model(program());
  auto before = test::require(Module::load(model.path()));
  EXPECT_EQ(before.load_method("forward").code(), ErrorCode::kOperatorMissing);

  const auto library = test::require(load_library(VITRINE_MY_OPS));
  EXPECT_STREQ(library->name, "my_ops");
  EXPECT_EQ(library->kernels.kernels.size(), 2u);
  auto module = test::require(Module::load(model.path()));
  const auto input = test::require(Array::copy_of<float>({{3, -5, 7}}, {3}));
  const auto outputs = test::require(module.forward({input}));
  EXPECT_THAT(*outputs.at(0).array()->data<float>(), ElementsAre(3, 5, 21));
}

TEST(LoadLibrary, RejectsFilesThatAreNotExtensions) {
  const test::TemporaryFile model(program());
  EXPECT_EQ(load_library(model.path()).error().code(), ErrorCode::kAccessFailed);
  EXPECT_EQ(load_library("absent.so").error().code(), ErrorCode::kAccessFailed);
  const auto other = load_library("/lib/x86_64-linux-gnu/libm.so.6");
  if (other.error().code() == ErrorCode::kAccessFailed) GTEST_SKIP() << "needs a system library";
  EXPECT_THAT(other, test::FailsWith(ErrorCode::kNotSupported,
                                     HasSubstr("does not export vitrine_extension()")));
}

TEST(LoadLibrary, CApiReportsErrors) {
  vitrine_error* error = vitrine_load_library(nullptr);
  EXPECT_STREQ(vitrine_error_message(error), "path is NULL");
  vitrine_error_free(error);
  error = vitrine_load_library("absent.so");
  EXPECT_THAT(vitrine_error_message(error), HasSubstr("absent.so"));
  vitrine_error_free(error);
}

Error call(const char* name, std::vector<EValue*> arguments) {
  KernelRegistry kernels;
  EXPECT_TRUE(kernels.add("my_ops", my_ops::kernels()).ok());
  const Kernel* kernel = kernels.find(name).kernel;
  arguments.push_back(arguments.back());
  if (kernel == nullptr || arguments.size() != kernel->num_arguments) {
    return Error::make(ErrorCode::kInternal, "not a kernel with %zu arguments", arguments.size());
  }
  HeapArena temp;
  KernelContext context(&temp);
  kernel->function(context, arguments.data());
  return context.take_error();
}

TEST(CustomOp, AcceptsF16) {
  test::TensorFactory factory;
  EValue self(&factory.make<Half>({2, 1}, {Half(0.0f), Half(6.0f)}));
  Tensor& out = factory.make(ScalarType::kHalf, {2, 1});
  EValue slope(2.0);
  EValue result(&out);
  const Error error = call("my_ops::leaky_hardsigmoid.out", {&self, &slope, &result});
  EXPECT_TRUE(error.ok()) << error.message();
  EXPECT_EQ(static_cast<float>(out.data<Half>()[0]), 0.5f);
  EXPECT_EQ(static_cast<float>(out.data<Half>()[1]), 7.0f);
}

TEST(CustomOp, SubtractsTheMedianOfEachRow) {
  test::TensorFactory factory;
  EValue self(&factory.make<float>({2, 4}, {4, 1, 3, 2, 7, 7, 0, 9}));
  Tensor& out = factory.make(ScalarType::kFloat, {2, 4});
  EValue result(&out);
  const Error error = call("my_ops::subtract_median.out", {&self, &result});
  EXPECT_TRUE(error.ok()) << error.message();
  EXPECT_THAT(test::values_of<float>(out), ElementsAre(2, -1, 1, 0, 0, 0, -7, 2));
}

TEST(CustomOp, RejectsUnsupportedDtypesAndShapes) {
  test::TensorFactory factory;
  EValue floats(&factory.make(ScalarType::kFloat, {2}));
  EValue doubles(&factory.make(ScalarType::kDouble, {2}));
  EValue number(&factory.make(ScalarType::kFloat, {}));
  EValue other(&factory.make(ScalarType::kFloat, {3}));
  EXPECT_THAT(call("my_ops::subtract_median.out", {&doubles, &floats}).message(),
              HasSubstr("self is f64, expected f32 in row-major order"));
  EXPECT_THAT(call("my_ops::subtract_median.out", {&number, &number}).message(),
              HasSubstr("self must have at least one dimension"));
  EXPECT_THAT(call("my_ops::subtract_median.out", {&floats, &other}).message(),
              HasSubstr("f32[3] cannot become [2]"));
}

void negate(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!context.resize(out, self.sizes())) return;
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data<float>()[i] = -self.data<float>()[i];
  }
}
VITRINE_KERNEL(relu, "aten::relu.out", negate);
constexpr const Kernel* kTakeOver[] = {&kernel_relu};

TEST(CustomOp, EarlierTablesOverrideLaterOnes) {
  KernelRegistry kernels;
  ASSERT_TRUE(kernels.add("mine", kTakeOver).ok());
  ASSERT_TRUE(kernels.add("portable", portable::kernels()).ok());
  EXPECT_EQ(kernels.find("aten::relu.out").kernel, &kernel_relu);
  EXPECT_STREQ(kernels.find("aten::relu.out").table, "mine");
  EXPECT_STREQ(kernels.find("aten::abs.out").table, "portable");
}

}  // namespace
}  // namespace vitrine
