#include "aot/operators/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/graph.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A Call refers to its lists of arguments, so these must outlive it.
const ArgumentList kNoArguments;
const ArgumentMap kNoKeywords;

class CallTest : public testing::Test {
 protected:
  CallTest() {
    x_ = graph_.placeholder("x");
    x_->meta.value = contiguous_spec(ScalarType::kFloat, {2, 3});
  }

  Graph graph_;
  Node* x_ = nullptr;
};

TEST_F(CallTest, FindsArgumentsByPositionAndName) {
  const ArgumentList args = {x_, Argument::list({1}), true};
  const ArgumentMap kwargs = {{"dtype", ScalarType::kDouble}};
  const Call mean(Target::of("aten.mean.dim"), args, kwargs);
  EXPECT_EQ(&mean.node("self"), x_);
  EXPECT_EQ(&mean.self(), x_->tensor());
  EXPECT_THAT(mean.integers("dim"), ElementsAre(1));
  EXPECT_TRUE(mean.boolean("keepdim"));
  EXPECT_EQ(mean.dtype("dtype", ScalarType::kFloat), ScalarType::kDouble);
  const ArgumentMap named = {{"dim", Argument::list({0})}, {"self", x_}};
  const Call by_name(Target::of("aten.mean.dim"), kNoArguments, named);
  EXPECT_EQ(&by_name.node("self"), x_);
  EXPECT_THAT(by_name.integers("dim"), ElementsAre(0));
}

TEST_F(CallTest, MissingArgumentsHaveTheDefaultOfTheSignature) {
  const ArgumentList args = {x_, 2};
  const Call pool(Target::of("aten.max_pool2d.default"), args, kNoKeywords);
  EXPECT_THAT(pool.integers("kernel_size", 2), ElementsAre(2, 2)) << "one number for all";
  EXPECT_THAT(pool.integers("stride"), IsEmpty());
  EXPECT_THAT(pool.integers("padding", 2), ElementsAre(0, 0));
  EXPECT_FALSE(pool.boolean("ceil_mode"));
  const ArgumentList only = {x_};
  EXPECT_EQ(Call(Target::of("aten.leaky_relu.default"), only, {}).real("negative_slope"), 0.01);
  EXPECT_EQ(Call(Target::of("aten.contiguous.default"), only, {}).value("memory_format"),
            Argument(MemoryFormat::kContiguous));
}

TEST_F(CallTest, NoneArgumentCountsAsMissing) {
  const ArgumentList args = {x_, Argument(), Argument()};
  const Call slice(Target::of("aten.slice.Tensor"), args, kNoKeywords);
  EXPECT_EQ(slice.find("dim"), nullptr);
  EXPECT_EQ(slice.integer("dim"), 0);
  EXPECT_EQ(slice.integer("start", 7), 7) << "the signature's default is None";
}

TEST_F(CallTest, ReturnsDefaultsForArgumentsThatTheOperatorLacks) {
  const ArgumentList args = {x_};
  const Call sum(Target::of("aten.sum.default"), args, kNoKeywords);
  EXPECT_THAT(sum.integers("dim"), IsEmpty());
  EXPECT_FALSE(sum.boolean("keepdim", false));
}

TEST_F(CallTest, InPlaceOperatorsHaveTheArgumentsOfTheFunctionalForm) {
  const ArgumentList args = {x_, x_, 3};
  const Call add(Target::of("aten.add_.Tensor"), args, kNoKeywords);
  EXPECT_EQ(&add.node("other"), x_);
  EXPECT_EQ(add.integer("alpha"), 3);
}

TEST_F(CallTest, FindsOnlyKeywordArgumentsOfUnknownOperators) {
  const ArgumentList args = {x_};
  const ArgumentMap kwargs = {{"scale", 2}};
  const Call custom(Target::of("mylib.op.default"), args, kwargs);
  EXPECT_EQ(custom.find("x"), nullptr);
  EXPECT_EQ(custom.integer("scale"), 2);
  EXPECT_EQ(&custom.self(), x_->tensor()) << "self() finds by position";
}

TEST_F(CallTest, ErrorsNameOperatorAndArgument) {
  const ArgumentList args = {2, Argument::list({1, 2, 3}), "yes"};
  const Call pool(Target::of("aten.avg_pool2d.default"), args, kNoKeywords);
  EXPECT_ERROR(AotError, pool.self(), "aten.avg_pool2d.default: the first");
  EXPECT_ERROR(AotError, pool.node("self"), "self is not a tensor");
  EXPECT_ERROR(AotError, pool.integers("kernel_size", 2), "kernel_size has 3 items, expected 2");
  EXPECT_ERROR(AotError, pool.integers("stride"), "stride contains an item that is not a size");
  EXPECT_ERROR(AotError, pool.integer("divisor_override"), "divisor_override is missing");
}

}  // namespace
}  // namespace vitrine::aot
