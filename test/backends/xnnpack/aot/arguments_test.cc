#include "backends/xnnpack/aot/arguments.h"

#include <gmock/gmock.h>

#include "aot/graph/aot_error.h"
#include "test/backends/xnnpack/aot/test_program.h"
#include "test/support/expect_error.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Arguments, FindsOperandsByNameAndIndex) {
  TestProgram t;
  Node* x = t.input("x", {2, 4});
  Node* w = t.input("w", {3, 4});
  const Node& call = *t.call("aten.linear.default", {x, w}, {2, 3});
  EXPECT_TRUE(xnnpack::calls_op(call, "linear.default"));
  EXPECT_FALSE(xnnpack::calls_op(*x, "linear.default"));
  EXPECT_EQ(xnnpack::operand(call, "weight"), w);
  EXPECT_EQ(xnnpack::operand(call, 1), w);
  EXPECT_EQ(xnnpack::operand(call, "bias"), nullptr);
  EXPECT_EQ(&xnnpack::required(call, "input"), x);
  EXPECT_ERROR(AotError, xnnpack::required(call, "bias"), "bias is not a tensor");
  EXPECT_ERROR(AotError, xnnpack::required(call, 2), "argument 2 is not a tensor");
}

TEST(Arguments, PoolingStridesDefaultToTheKernelSize) {
  TestProgram t;
  Node* x = t.input("x", {1, 1, 8, 8});
  const std::vector<int64_t> kernel = {2, 3};
  const auto strides = [&](const ArgumentList& rest) {
    ArgumentList args = {x, kernel};
    args.insert(args.end(), rest.begin(), rest.end());
    return xnnpack::pooling_strides(*t.call("aten.max_pool2d.default", args, {1, 1, 4, 4}), kernel);
  };
  EXPECT_THAT(strides({}), ElementsAre(2, 3));
  EXPECT_THAT(strides({std::vector<int64_t>{}}), ElementsAre(2, 3));
  EXPECT_THAT(strides({std::vector<int64_t>{1}}), ElementsAre(1, 1));
  EXPECT_THAT(strides({std::vector<int64_t>{4, 5}}), ElementsAre(4, 5));
}

TEST(Arguments, WrapsNegativeDimsAndRejectsDimsOutOfRange) {
  TestProgram t;
  const Node& call = *t.call("aten.abs.default", {t.input("x", {2, 3, 4})}, {2, 3, 4});
  EXPECT_EQ(xnnpack::wrapped_dim(call, 0, 3), 0u);
  EXPECT_EQ(xnnpack::wrapped_dim(call, -1, 3), 2u);
  EXPECT_EQ(xnnpack::wrapped_dim(call, -3, 3), 0u);
  for (const int64_t dim : {3, -4}) {
    EXPECT_ERROR(AotError, xnnpack::wrapped_dim(call, dim, 3), "aten_abs_default");
  }
}

TEST(Arguments, DataIsStaticUnlessTheProgramWritesIt) {
  TestProgram t;
  Node* x = t.input("x", {2});
  Node* fixed = t.parameter("fixed", {2}, {1, 2});
  Node* written = t.parameter("written", {2}, {3, 4});
  Node* sum = t.call("aten.add.Tensor", {written, x}, {2});
  t.output({sum});
  for (InputSpec& input : t.program.signature.inputs) {
    if (input.name != written->name()) continue;
    t.program.state_dict[input.target] = *t.program.data_of(input);
    input.kind = InputSpec::Kind::kBuffer;
    t.program.signature.outputs[0].kind = OutputSpec::Kind::kBufferMutation;
    t.program.signature.outputs[0].target = input.target;
  }
  const xnnpack::Parameters parameters(t.program);
  EXPECT_NE(xnnpack::static_data(t.program, fixed), nullptr);
  EXPECT_TRUE(parameters.has(fixed));
  for (const Node* node : {x, written, sum, static_cast<Node*>(nullptr)}) {
    EXPECT_EQ(xnnpack::static_data(t.program, node), nullptr);
    EXPECT_FALSE(parameters.has(node));
  }
}

}  // namespace
}  // namespace vitrine::aot::test
