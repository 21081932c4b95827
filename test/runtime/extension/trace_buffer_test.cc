#include "runtime/extension/trace_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

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

TEST(TraceBuffer, RecordsTheOperatorsOfADelegate) {
  const TracedOperator operators[] = {{"first kernel", 12, 7}, {"second kernel", 13, -1}};
  const uint64_t ends[] = {20, 35};
  const TracedOperators all{operators, ends, 10, 1, 2};
  TraceBuffer trace(5, 4);
  trace.record_operators(all);
  trace.record_operators(all);
  trace.record_operators(all);
  ASSERT_EQ(trace.blocks().size(), 1u);
  const auto records = trace.records(trace.blocks()[0]);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(trace.dropped(), 1u);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].start_ns, i % 2 == 0 ? 10u : 20u);
    EXPECT_EQ(records[i].end_ns, ends[i % 2]);
    EXPECT_EQ(records[i].delegate_debug_id, operators[i % 2].debug_id);
    EXPECT_EQ(records[i].name, i % 2 == 0 ? nullptr : operators[1].name);
    EXPECT_EQ(records[i].metadata, operators[i % 2].name);
    EXPECT_EQ(records[i].chain_index, 1);
    EXPECT_EQ(records[i].instruction_id, 2);
  }
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
