#include "vitrine/method_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "vitrine/program.h"

namespace vitrine {
namespace {

using test::AlignedBytes;
using test::MethodSpec;
using test::Planned;
using test::ProgramBuilder;
using testing::ElementsAre;
using testing::Pair;
using Tag = EValue::Tag;

class MethodMetaTest : public testing::Test {
 protected:
  MethodMetaTest() {
    const uint32_t constant = builder_.constant(test::Bytes(24));
    MethodSpec& forward = builder_.method("forward");
    forward.buffer_sizes = {0, 96, 32};
    const int planned =
        forward.tensor({.dtype = ScalarType::kHalf,
                        .sizes = {1, 2, 3, 4},
                        .dim_order = {0, 2, 3, 1},
                        .planned = Planned{1, 0},
                        .dynamism = schema::program::TensorShapeDynamism::DYNAMIC_BOUND});
    const int given = forward.tensor({.sizes = {2, 3}});
    const int weights = forward.tensor({.sizes = {2, 3}, .data = constant});
    const int external = forward.tensor({.sizes = {2}, .external = "key"});
    const int three = forward.integer(3);
    forward.inputs = {planned,
                      given,
                      three,
                      forward.none(),
                      forward.boolean(true),
                      forward.real(1),
                      forward.string("s")};
    forward.outputs = {weights,
                       external,
                       forward.int_list({three}),
                       forward.double_list({1}),
                       forward.bool_list({1}),
                       forward.tensor_list({planned}),
                       forward.optional_tensor_list({-1})};
    forward.op("aten::add", "out");
    forward.op("aten::sym_size", "");
    forward.delegate({.id = "XnnpackBackend"});
    forward.free(planned);
    forward.chains.emplace_back();
    forward.free(planned);
    file_ = builder_.build();
  }

  ProgramBuilder builder_;
  AlignedBytes file_;
};

TEST_F(MethodMetaTest, DescribesInputsAndOutputs) {
  const auto program = test::require(Program::load(*view_buffer(file_)));
  const MethodMeta meta = *program->method_meta("forward");
  ASSERT_EQ(meta.num_inputs(), 7u);
  const std::vector<Tag> inputs{Tag::kTensor, Tag::kTensor, Tag::kInt,   Tag::kNone,
                                Tag::kBool,   Tag::kDouble, Tag::kString};
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(meta.input_tag(i), inputs[i]) << i;
  ASSERT_EQ(meta.num_outputs(), 7u);
  const std::vector<Tag> outputs{
      Tag::kTensor,   Tag::kTensor,     Tag::kListInt,           Tag::kListDouble,
      Tag::kListBool, Tag::kListTensor, Tag::kListOptionalTensor};
  for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(meta.output_tag(i), outputs[i]) << i;

  const TensorInfo info = meta.input_tensor(0);
  EXPECT_EQ(info.dtype, ScalarType::kHalf);
  EXPECT_THAT(info.sizes, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(info.dim_order, ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(info.dynamism, ShapeDynamism::kDynamicBound);
  EXPECT_EQ(info.nbytes, 48u);
  EXPECT_TRUE(info.is_memory_planned);
  EXPECT_FALSE(meta.input_tensor(1).is_memory_planned);
  EXPECT_EQ(meta.input_tensor(1).dynamism, ShapeDynamism::kStatic);
  EXPECT_TRUE(meta.output_tensor(0).is_memory_planned)
      << "a constant needs no memory from the caller";
  EXPECT_TRUE(meta.output_tensor(1).is_memory_planned)
      << "an external constant needs no memory from the caller";
}

TEST_F(MethodMetaTest, DescribesBuffersOperatorsAndDelegates) {
  const auto program = test::require(Program::load(*view_buffer(file_)));
  const MethodMeta meta = *program->method_meta("forward");
  ASSERT_EQ(meta.num_planned_buffers(), 2u);
  EXPECT_EQ(meta.planned_buffer_size(0), 96u);
  EXPECT_EQ(meta.planned_buffer_size(1), 32u);
  ASSERT_EQ(meta.num_operators(), 2u);
  EXPECT_THAT(meta.operator_name(0), Pair("aten::add", "out"));
  EXPECT_THAT(meta.operator_name(1), Pair("aten::sym_size", ""));
  ASSERT_EQ(meta.num_delegates(), 1u);
  EXPECT_EQ(meta.delegate_id(0), "XnnpackBackend");
  EXPECT_EQ(meta.num_instructions(), 2u);
}

TEST_F(MethodMetaTest, ReturnsEmptyDescriptionsForIndicesOutOfRange) {
  const auto program = test::require(Program::load(*view_buffer(file_)));
  const MethodMeta meta = *program->method_meta("forward");
  for (const size_t past : {size_t{7}, SIZE_MAX}) {
    EXPECT_EQ(meta.input_tag(past), Tag::kNone);
    EXPECT_EQ(meta.output_tag(past), Tag::kNone);
    EXPECT_EQ(meta.input_tensor(past).nbytes, 0u);
    EXPECT_EQ(meta.output_tensor(past).nbytes, 0u);
  }
  for (const size_t past : {size_t{2}, SIZE_MAX}) {
    EXPECT_EQ(meta.planned_buffer_size(past), 0u);
    EXPECT_THAT(meta.operator_name(past), Pair("", ""));
    EXPECT_EQ(meta.delegate_id(past - 1), "");
  }
}

TEST(MethodMeta, ConstantMethodsHaveNoBuffersOrOperators) {
  ProgramBuilder builder;
  MethodSpec& spec = builder.method("get_version");
  spec.outputs = {spec.integer(3)};
  const AlignedBytes file = builder.build();
  const auto program = test::require(Program::load(*view_buffer(file)));
  const MethodMeta meta = *program->method_meta("get_version");
  EXPECT_EQ(meta.num_inputs(), 0u);
  EXPECT_EQ(meta.num_planned_buffers(), 0u);
  EXPECT_EQ(meta.num_instructions(), 0u);
}

}  // namespace
}  // namespace vitrine
