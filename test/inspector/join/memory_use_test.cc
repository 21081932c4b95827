#include "inspector/join/memory_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::inspector {
namespace {

using testing::ElementsAre;

PlannedTensor tensor(uint64_t offset, uint64_t bytes, int32_t first, int32_t last) {
  PlannedTensor tensor;
  tensor.buffer = 1;
  tensor.offset = offset;
  tensor.bytes = bytes;
  tensor.first = first;
  tensor.last = last;
  return tensor;
}

TEST(MemoryUse, AddsUpLiveTensors) {
  MemoryPlan plan{.buffers = {300}, .num_instructions = 4, .tensors = {}};
  plan.tensors = {tensor(0, 100, -1, 1), tensor(100, 50, 0, 2), tensor(150, 120, 1, 1),
                  tensor(0, 30, 2, 4)};
  const MemoryUse use = memory_over_time(plan);
  EXPECT_THAT(use.live_bytes, ElementsAre(150, 270, 80, 30));
  EXPECT_EQ(use.peak_instruction, 1);
  EXPECT_EQ(use.peak_bytes, 270u);
  EXPECT_THAT(use.peak_tensors, ElementsAre(2, 0, 1)) << "largest first";
}

TEST(MemoryUse, CountsAViewAndTheViewedTensorOnce) {
  MemoryPlan plan{.buffers = {100}, .num_instructions = 3, .tensors = {}};
  plan.tensors = {tensor(0, 100, 0, 1), tensor(0, 40, 1, 2)};
  EXPECT_THAT(memory_over_time(plan).live_bytes, ElementsAre(100, 100, 100));
}

TEST(MemoryUse, AcceptsAnEmptyPlan) {
  EXPECT_EQ(memory_over_time({}).peak_bytes, 0u);
  EXPECT_TRUE(memory_over_time({}).live_bytes.empty());
}

}  // namespace
}  // namespace vitrine::inspector
