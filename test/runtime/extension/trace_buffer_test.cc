#include "runtime/extension/trace_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace vitrine {
namespace {

TraceRecord at(uint64_t start) { return {.start_ns = start, .end_ns = start + 1}; }

TEST(TraceBuffer, KeepsTheRecordsOfEachBlockInOrder) {
  TraceBuffer trace(8, 4);
  trace.begin_block("Default");
  trace.record(at(1));
  trace.begin_block("Execute");
  trace.record(at(2));
  trace.record(at(3));
  ASSERT_EQ(trace.blocks().size(), 2u);
  EXPECT_STREQ(trace.blocks()[0].name, "Default");
  ASSERT_EQ(trace.records(trace.blocks()[0]).size(), 1u);
  EXPECT_EQ(trace.records(trace.blocks()[0])[0].start_ns, 1u);
  EXPECT_STREQ(trace.blocks()[1].name, "Execute");
  ASSERT_EQ(trace.records(trace.blocks()[1]).size(), 2u);
  EXPECT_EQ(trace.records(trace.blocks()[1])[0].start_ns, 2u);
  EXPECT_EQ(trace.records(trace.blocks()[1])[1].start_ns, 3u);
  EXPECT_EQ(trace.dropped(), 0u);
}

TEST(TraceBuffer, OpensTheDefaultBlockForARecordOutsideOfBlocks) {
  TraceBuffer trace(8, 4);
  trace.record(at(1));
  ASSERT_EQ(trace.blocks().size(), 1u);
  EXPECT_STREQ(trace.blocks()[0].name, "Default");
  EXPECT_EQ(trace.blocks()[0].count, 1u);
}

TEST(TraceBuffer, CountsRecordsThatDoNotFitInEachBlock) {
  TraceBuffer trace(3, 4);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.record(at(2));
  trace.begin_block("Execute");
  trace.record(at(3));
  trace.record(at(4));
  trace.begin_block("Execute");
  trace.record(at(5));
  trace.record(at(6));
  ASSERT_EQ(trace.blocks().size(), 3u);
  EXPECT_EQ(trace.blocks()[0].dropped, 0u);
  EXPECT_EQ(trace.blocks()[1].count, 1u);
  EXPECT_EQ(trace.blocks()[1].dropped, 1u);
  EXPECT_EQ(trace.blocks()[2].count, 0u);
  EXPECT_EQ(trace.blocks()[2].dropped, 2u);
  EXPECT_EQ(trace.dropped(), 3u);
  EXPECT_EQ(trace.records(trace.blocks()[1])[0].start_ns, 3u);
}

TEST(TraceBuffer, CountsBlocksThatDoNotFitAndTheRecordsInThem) {
  TraceBuffer trace(8, 1);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.begin_block("Execute");
  trace.record(at(2));
  trace.begin_block("Execute");
  ASSERT_EQ(trace.blocks().size(), 1u);
  EXPECT_EQ(trace.blocks()[0].count, 1u)
      << "records of a dropped block must not be added to the last block";
  EXPECT_EQ(trace.blocks()[0].dropped, 0u);
  EXPECT_EQ(trace.dropped(), 1u);
  EXPECT_EQ(trace.dropped_blocks(), 2u);
}

TEST(TraceBuffer, ClearDiscardsRecordsAndKeepsCapacity) {
  TraceBuffer trace(1, 1);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.record(at(2));
  trace.begin_block("Execute");
  trace.clear();
  EXPECT_TRUE(trace.blocks().empty());
  EXPECT_EQ(trace.dropped(), 0u);
  EXPECT_EQ(trace.dropped_blocks(), 0u);
  trace.record(at(3));
  ASSERT_EQ(trace.blocks().size(), 1u);
  EXPECT_STREQ(trace.blocks()[0].name, "Default");
  EXPECT_EQ(trace.records(trace.blocks()[0])[0].start_ns, 3u);
}

TEST(TraceBuffer, CountsRecordsEvenIfCapacityIsZero) {
  TraceBuffer trace(0, 0);
  trace.begin_block("Execute");
  trace.record(at(1));
  EXPECT_TRUE(trace.blocks().empty());
  EXPECT_EQ(trace.dropped(), 1u);
  EXPECT_EQ(trace.dropped_blocks(), 1u);
}

}  // namespace
}  // namespace vitrine
