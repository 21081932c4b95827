#include "aot/emit/shared_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "schema/program_generated.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
namespace fbs = schema::program;

Methods reader_and_writer(int64_t size_in_reader) {
  const auto zeros = [](int64_t size) {
    return make_tensor_data(ScalarType::kFloat, {size},
                            std::vector<std::byte>(static_cast<size_t>(size) * sizeof(float)));
  };
  test::ProgramBuilder writer;
  Node* count = writer.buffer("count", zeros(5));
  Node* state = writer.buffer("state", zeros(3));
  writer.mutates(count, writer.call("aten.neg.default", {count}));
  writer.mutates(state, writer.call("aten.neg.default", {state}));
  test::ProgramBuilder reader;
  Node* read = reader.call("aten.neg.default", {reader.buffer("state", zeros(size_in_reader))});
  Methods methods;
  methods.emplace("write", std::move(writer.finish()));
  methods.emplace("read", std::move(reader.finish({read})));
  return methods;
}

// Returns the offset in memory 2 of each tensor that is planned there.
std::vector<uint32_t> shared_offsets(const fbs::ExecutionPlan& plan) {
  std::vector<uint32_t> offsets;
  for (const auto* value : *plan.values()) {
    const auto* tensor = value->val_as_Tensor();
    if (tensor == nullptr || tensor->allocation_info() == nullptr) continue;
    if (tensor->allocation_info()->memory_id() != 2) continue;
    EXPECT_EQ(tensor->data_buffer_idx(), 0U);
    offsets.push_back(tensor->allocation_info()->memory_offset_low());
  }
  return offsets;
}

TEST(SharedBuffers, HaveTheSameOffsetInAllMethods) {
  Methods methods = reader_and_writer(3);
  mark_shared_buffers(methods);
  // mark_shared_buffers() added a mutation of the buffer to the method "read". Without a mutation,
  // the buffer would be a constant in this method.
  ASSERT_EQ(methods.at("read").signature.outputs.size(), 2U);
  EXPECT_EQ(methods.at("read").signature.outputs[0].target, "of.state");
  for (auto& [name, program] : methods) to_executable(program);
  EmitOptions options;
  options.memory_planning.share_mutable_buffers = true;
  const std::vector<std::byte> pte = emit(methods, options).pte;
  const auto* plans = fbs::GetProgram(pte.data())->execution_plan();
  // The method "read" comes before "write", so `state` is at 0. `count` follows at 16 and occupies
  // 20 bytes, rounded up to 32.
  const auto* reader = plans->Get(0);
  const auto* writer = plans->Get(1);
  EXPECT_THAT(shared_offsets(*reader), ElementsAre(0));
  EXPECT_THAT(shared_offsets(*writer), ElementsAre(16, 0));
  for (const auto* plan : {reader, writer}) {
    ASSERT_EQ(plan->non_const_buffer_sizes()->size(), 3U);
    EXPECT_EQ(plan->non_const_buffer_sizes()->Get(2), 16 + 32);
  }
  EXPECT_EQ(reader->outputs()->size(), 1U);
}

TEST(SharedBuffers, BuffersAreNotSharedByDefault) {
  Methods methods = reader_and_writer(3);
  for (auto& [name, program] : methods) to_executable(program);
  const std::vector<std::byte> pte = emit(methods).pte;
  for (const auto* plan : *fbs::GetProgram(pte.data())->execution_plan()) {
    EXPECT_TRUE(shared_offsets(*plan).empty());
    EXPECT_EQ(plan->non_const_buffer_sizes()->size(), 2U);
  }
}

TEST(SharedBuffers, RejectsDifferentShapes) {
  Methods methods = reader_and_writer(4);
  mark_shared_buffers(methods);
  EXPECT_ERROR(AotError, share_buffers(methods, 16),
               "methods read and write share the buffer of.state, but it is f32[4] in the first "
               "and f32[3]");
}

TEST(SharedBuffers, RejectsDifferentInitialValues) {
  Methods methods = reader_and_writer(3);
  std::vector<std::byte> bytes(12);
  bytes[5] = std::byte{1};
  methods.at("read").state_dict.at("of.state") =
      make_tensor_data(ScalarType::kFloat, {3}, std::move(bytes));
  mark_shared_buffers(methods);
  EXPECT_ERROR(AotError, share_buffers(methods, 16),
               "methods read and write share the buffer of.state, but its initial values differ");
}

}  // namespace
}  // namespace vitrine::aot
