#include "formats/etdump/etdump_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/extensions.h"
#include "schema/etdump_generated.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;
using etdump::EtDump;
using etdump::ProfileEvent;

EtDump round_trip(const TraceBuffer& trace) {
  const std::vector<uint8_t> bytes = test::require(write_etdump(trace));
  return etdump::parse_etdump(std::as_bytes(std::span(bytes)));
}

std::vector<std::string> names(const etdump::Block& block) {
  std::vector<std::string> names;
  for (const ProfileEvent& event : block.profile_events) names.emplace_back(event.name);
  return names;
}

TraceRecord kernel(const char* name, int32_t instruction, uint64_t start, uint64_t end) {
  return {.start_ns = start,
          .end_ns = end,
          .name = name,
          .chain_index = 0,
          .instruction_id = instruction,
          .kind = Kind::kKernelCall};
}

TraceRecord delegate_operator(const char* name, int32_t id, const char* metadata) {
  return {.start_ns = 1,
          .end_ns = 2,
          .name = name,
          .metadata = metadata,
          .metadata_size = static_cast<uint32_t>(std::strlen(metadata)),
          .chain_index = 0,
          .instruction_id = 3,
          .delegate_debug_id = id,
          .kind = Kind::kDelegateOperator};
}

TEST(EtDumpWriter, WritesSizePrefixAndIdentifier) {
  TraceBuffer trace(4, 4);
  trace.record(kernel("aten::add.out", 0, 1, 2));
  const std::vector<uint8_t> bytes = test::require(write_etdump(trace));
  uint32_t prefix = 0;
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  EXPECT_EQ(prefix + 4, bytes.size());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()) + 8, 4), "ED00");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  EXPECT_TRUE(schema::etdump::VerifySizePrefixedETDumpBuffer(verifier));
}

TEST(EtDumpWriter, WritesAKernelCallAsTwoEventsWithTheSameTimes) {
  TraceBuffer trace(4, 4);
  EXPECT_TRUE(round_trip(trace).blocks.empty());
  trace.begin_block("Execute");
  trace.record(kernel("aten::add.out", 7, 100, 250));
  const EtDump dump = round_trip(trace);
  ASSERT_EQ(dump.blocks.size(), 1u);
  EXPECT_EQ(dump.blocks[0].name, "Execute");
  EXPECT_EQ(dump.blocks[0].bundled_input_index, -1);
  ASSERT_THAT(names(dump.blocks[0]), testing::ElementsAre("native_call_add.out", "OPERATOR_CALL"));
  for (const ProfileEvent& event : dump.blocks[0].profile_events) {
    EXPECT_EQ(event.start, 100u);
    EXPECT_EQ(event.end, 250u);
    EXPECT_EQ(event.chain_index, 0);
    EXPECT_EQ(event.instruction_id, 7);
    EXPECT_FALSE(event.is_delegate_event());
  }
  EXPECT_EQ(dump.blocks[0].profile_events[0].metadata, "");
  EXPECT_EQ(dump.blocks[0].profile_events[1].metadata, "aten::add.out");
}

TEST(EtDumpWriter, WritesKernelLibraryNamesAndOneEventPerPrimOp) {
  TraceBuffer trace(4, 4);
  TraceRecord record = kernel("aten::add.out", 0, 1, 2);
  record.metadata = "portable, and text beyond metadata_size";
  record.metadata_size = 8;
  trace.record(record);
  for (const char* name :
       {"executorch_prim::add.Scalar", "aten::sym_size.int", "aten::_local_scalar_dense"}) {
    trace.record(kernel(name, 0, 1, 2));
  }
  const EtDump dump = round_trip(trace);
  EXPECT_EQ(dump.blocks[0].profile_events[1].metadata, "aten::add.out portable");
  EXPECT_THAT(names(dump.blocks[0]),
              testing::ElementsAre("native_call_add.out", "OPERATOR_CALL", "OPERATOR_CALL",
                                   "OPERATOR_CALL", "OPERATOR_CALL"));
}

TEST(EtDumpWriter, OmitsNamesOfDelegateCallsAndWritesOneIdentifierPerOperator) {
  TraceBuffer trace(8, 4);
  trace.record(delegate_operator(nullptr, 12, "Add (ND)"));
  trace.record(delegate_operator("fused #1", -1, ""));
  trace.record({.start_ns = 0,
                .end_ns = 9,
                .name = "XnnpackBackend",
                .chain_index = 0,
                .instruction_id = 3,
                .kind = Kind::kDelegateCall});
  const std::vector<uint8_t> bytes = test::require(write_etdump(trace));
  const auto* dump = schema::etdump::GetSizePrefixedETDump(bytes.data());
  ASSERT_EQ(dump->run_data()->size(), 1u);
  const auto& events = *dump->run_data()->Get(0)->events();
  ASSERT_EQ(events.size(), 3u);

  const auto& by_int = *events.Get(0)->profile_event();
  EXPECT_EQ(by_int.name(), nullptr);
  EXPECT_EQ(by_int.delegate_debug_id_int(), 12);
  EXPECT_EQ(by_int.delegate_debug_id_str(), nullptr);
  EXPECT_EQ(by_int.delegate_debug_metadata()->size(), 8u);
  EXPECT_EQ(by_int.instruction_id(), 3);

  const auto& by_name = *events.Get(1)->profile_event();
  EXPECT_EQ(by_name.name(), nullptr);
  EXPECT_EQ(by_name.delegate_debug_id_int(), -1);
  EXPECT_EQ(by_name.delegate_debug_id_str()->str(), "fused #1");
  ASSERT_NE(by_name.delegate_debug_metadata(), nullptr) << "always written";
  EXPECT_EQ(by_name.delegate_debug_metadata()->size(), 0u);

  const auto& call = *events.Get(2)->profile_event();
  EXPECT_EQ(call.name()->str(), "DELEGATE_CALL");
  EXPECT_EQ(call.delegate_debug_id_int(), -1);
  EXPECT_EQ(call.delegate_debug_id_str(), nullptr);
}

TEST(EtDumpWriter, WritesControlInstructionsAndMethodScopes) {
  TraceBuffer trace(4, 4);
  trace.record({.start_ns = 5, .end_ns = 6, .name = "Method::execute", .kind = Kind::kScope});
  for (const Kind kind : {Kind::kMove, Kind::kJumpFalse, Kind::kFree}) {
    trace.record({.chain_index = 0, .instruction_id = 5, .kind = kind});
  }
  const EtDump dump = round_trip(trace);
  EXPECT_THAT(names(dump.blocks[0]),
              testing::ElementsAre("Method::execute", "MOVE_CALL", "JF_CALL", "FREE_CALL"));
  const ProfileEvent& event = dump.blocks[0].profile_events[0];
  EXPECT_EQ(event.name, "Method::execute");
  EXPECT_EQ(event.chain_index, -1);
  EXPECT_EQ(event.instruction_id, 0);
  EXPECT_FALSE(event.is_in_instruction());
}

TEST(EtDumpWriter, WritesCountsOfDroppedRecordsAndBlocks) {
  TraceBuffer trace(1, 1);
  trace.begin_block("Execute");
  for (int i = 0; i < 4; ++i) trace.record(kernel("aten::add.out", i, 1, 2));
  trace.begin_block("Execute");
  trace.record(kernel("aten::add.out", 0, 1, 2));
  const EtDump dump = round_trip(trace);
  ASSERT_EQ(dump.blocks.size(), 2u);
  const ProfileEvent& lost = dump.blocks[0].profile_events.back();
  EXPECT_EQ(lost.name, etdump::kDroppedRecords);
  EXPECT_EQ(lost.metadata, "3");
  EXPECT_FALSE(lost.is_in_instruction());
  EXPECT_EQ(dump.blocks[1].name, etdump::kDroppedBlock);
  ASSERT_THAT(names(dump.blocks[1]),
              testing::ElementsAre(etdump::kDroppedBlocks, etdump::kDroppedRecords));
  EXPECT_EQ(dump.blocks[1].profile_events[0].metadata, "1");
  EXPECT_EQ(dump.blocks[1].profile_events[1].metadata, "1");
}

TEST(EtDumpWriter, StoresEqualStringsOnlyOnce) {
  TraceBuffer trace(4096, 64);
  const std::string plan(1000, 'x');
  for (int i = 0; i < 1000; ++i) trace.record(delegate_operator("id", -1, plan.c_str()));
  EXPECT_LT(write_etdump(trace)->size(), 1000u * 100u);
}

}  // namespace
}  // namespace vitrine
