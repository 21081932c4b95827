// How kernels' arguments are read from their declarations.
#include "aot/emit/operator_schema.h"

#include <gtest/gtest.h>

#include "aot/passes/out_variants.h"

namespace vitrine::aot {
namespace {

const OperatorSchema& schema(std::string_view kernel) {
  const OperatorSchema* found = find_operator_schema(kernel);
  EXPECT_NE(found, nullptr) << kernel;
  static const OperatorSchema kNone;
  return found == nullptr ? kNone : *found;
}

TEST(OperatorSchemaTest, KeepsTheOrderOfArguments) {
  const OperatorSchema& add = schema("aten::add.out");
  ASSERT_EQ(add.arguments.size(), 4U);
  EXPECT_EQ(add.arguments[2].name, "alpha");
  EXPECT_EQ(add.arguments[2].type, ArgumentType::kScalar);
  EXPECT_TRUE(add.arguments[2].is_keyword);
  EXPECT_EQ(add.arguments[2].default_value, Argument(1));
  ASSERT_EQ(add.outs().size(), 1U);
  EXPECT_EQ(add.outs()[0]->name, "out");
  EXPECT_FALSE(add.is_in_place());
}

// "int[2] padding=0" is [0, 0], "int[2] stride=[]" is empty.
TEST(OperatorSchemaTest, ANumberIsTheDefaultOfEachItem) {
  const OperatorSchema& pool = schema("aten::max_pool2d_with_indices.out");
  EXPECT_EQ(pool.arguments[2].default_value, Argument::list({}));
  EXPECT_EQ(pool.arguments[3].default_value, Argument::list({0, 0}));
  EXPECT_EQ(pool.arguments[4].default_value, Argument::list({1, 1}));
  EXPECT_EQ(pool.outs().size(), 2U);
}

TEST(OperatorSchemaTest, TellsOptionalItemsFromOptionalLists) {
  EXPECT_EQ(schema("aten::index.Tensor_out").arguments[1].type, ArgumentType::kOptionalTensors);
  EXPECT_FALSE(schema("aten::index.Tensor_out").arguments[1].is_optional);
  const OperatorArgument& dim = schema("aten::mean.out").arguments[1];
  EXPECT_EQ(dim.type, ArgumentType::kInts);
  EXPECT_TRUE(dim.is_optional);
}

TEST(OperatorSchemaTest, ListsAreResultsToo) {
  const OperatorSchema& split = schema("aten::split_copy.Tensor_out");
  ASSERT_EQ(split.outs().size(), 1U);
  EXPECT_EQ(split.outs()[0]->type, ArgumentType::kTensors);
}

TEST(OperatorSchemaTest, WritesInPlaceHaveNoOuts) {
  EXPECT_TRUE(schema("aten::copy_").is_in_place());
  EXPECT_FALSE(schema("aten::_local_scalar_dense").is_in_place());
}

TEST(OperatorSchemaTest, UnknownKernelsHaveNone) {
  EXPECT_EQ(find_operator_schema("aten::no_such.out"), nullptr);
}

}  // namespace
}  // namespace vitrine::aot
