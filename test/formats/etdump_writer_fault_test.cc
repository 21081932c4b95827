// If memory runs out while a trace is written, the writer throws and leaks nothing.
#include <gtest/gtest.h>

#include <new>

#include "formats/etdump/etdump_writer.h"
#include "test/support/allocation_counter.h"
#include "vitrine/evalue.h"

namespace vitrine {
namespace {

TEST(EtDumpWriterFaultTest, ThrowsWhenAnyAllocationFails) {
  constexpr int32_t kRecords = 100;
  ValueBuffer values(1024, kRecords);
  TraceBuffer trace(2 * kRecords, 2, &values);
  trace.begin_block("Execute");
  const EValue number(2.5);
  for (int32_t i = 0; i < kRecords; ++i) {
    trace.record({.name = "aten::add.out",
                  .metadata = "portable",
                  .metadata_size = 8,
                  .chain_index = 0,
                  .instruction_id = i,
                  .kind = TraceRecord::Kind::kKernelCall});
    trace.record({.name = "a name, not a number",
                  .metadata = "metadata",
                  .metadata_size = 8,
                  .kind = TraceRecord::Kind::kDelegateOperator});
    trace.record_value({.value = &number, .instruction_id = i});
  }
  ASSERT_EQ(trace.dropped(), 0u);
  const int before = test::object_count();
  int thrown = 0;
  for (bool fails = true; fails;) {
    test::fail_allocation(thrown + 1);
    try {
      EXPECT_TRUE(write_etdump(trace).ok());
      fails = test::allocation_has_failed();
      EXPECT_FALSE(fails) << "no exception although an allocation failed";
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
    test::fail_allocation(0);
    ASSERT_EQ(test::object_count(), before) << thrown;
  }
  EXPECT_GT(thrown, 20);
}

}  // namespace
}  // namespace vitrine
