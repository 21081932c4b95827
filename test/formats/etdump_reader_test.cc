#include "formats/etdump/etdump_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "schema/etdump_generated.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/results.h"

namespace vitrine::etdump {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;

std::span<const std::byte> bytes_of(const fb::FlatBufferBuilder& builder) {
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

// Finishes an ETDump that repeats one block `count` times. The ETDump has no size prefix.
void finish(fb::FlatBufferBuilder& builder, fb::Offset<wire::RunData> block, size_t count = 1) {
  builder.Finish(wire::CreateETDump(builder, 0, builder.CreateVector(std::vector(count, block))),
                 wire::ETDumpIdentifier());
}

// Builds one block with two profile events, an allocation event and a debug event.
void build_sample(fb::FlatBufferBuilder& builder) {
  const auto name = builder.CreateString("Execute");
  const auto call = builder.CreateString("DELEGATE_CALL");
  const auto id = builder.CreateString("conv #1");
  const auto metadata = builder.CreateVector(std::vector<uint8_t>{'a', 0, 'b'});
  const auto pool = wire::CreateAllocator(builder, builder.CreateString("planned"));
  std::vector<fb::Offset<wire::Event>> events;
  events.push_back(wire::CreateEvent(
      builder, wire::CreateProfileEvent(builder, 0, 0, 4, -1, id, metadata, 10, 30)));
  events.push_back(
      wire::CreateEvent(builder, wire::CreateProfileEvent(builder, call, 0, 4, -1, 0, 0, 5, 40)));
  events.push_back(wire::CreateEvent(builder, 0, wire::CreateAllocationEvent(builder, 1, 4096)));
  const auto output = wire::CreateBool(builder, true);
  const auto value = wire::CreateValue(builder, wire::ValueType::Int, 0, 0,
                                       wire::CreateInt(builder, 5), 0, 0, 0, output);
  events.push_back(
      wire::CreateEvent(builder, 0, 0, wire::CreateDebugEvent(builder, 0, 4, value, 9)));
  const auto allocators = builder.CreateVector(std::vector{pool});
  const auto block =
      wire::CreateRunData(builder, name, 2, allocators, builder.CreateVector(events));
  const auto root = wire::CreateETDump(builder, 0, builder.CreateVector(std::vector{block}));
  builder.FinishSizePrefixed(root, wire::ETDumpIdentifier());
}

TEST(EtDumpReader, ReadsEveryKindOfEvent) {
  fb::FlatBufferBuilder builder;
  build_sample(builder);
  const EtDump dump = parse_etdump(bytes_of(builder));
  ASSERT_EQ(dump.blocks.size(), 1u);
  const Block& block = dump.blocks[0];
  EXPECT_EQ(block.name, "Execute");
  EXPECT_EQ(block.bundled_input_index, 2);
  ASSERT_EQ(block.profile_events.size(), 2u);
  EXPECT_EQ(block.profile_events[0].name, "");
  EXPECT_EQ(block.profile_events[0].delegate_debug_name, "conv #1");
  EXPECT_EQ(block.profile_events[0].metadata, std::string_view("a\0b", 3));
  EXPECT_EQ(block.profile_events[0].instruction_id, 4);
  EXPECT_EQ(block.profile_events[0].start, 10u);
  EXPECT_EQ(block.profile_events[0].end, 30u);
  EXPECT_TRUE(block.profile_events[0].is_delegate_event());
  EXPECT_EQ(block.profile_events[1].name, "DELEGATE_CALL");
  EXPECT_FALSE(block.profile_events[1].is_delegate_event());
  ASSERT_EQ(block.allocation_events.size(), 1u);
  EXPECT_EQ(block.allocation_events[0].allocator, "planned");
  EXPECT_EQ(block.allocation_events[0].size, 4096u);
  ASSERT_EQ(block.debug_events.size(), 1u);
  EXPECT_EQ(block.debug_events[0].delegate_debug_id, 9);
  EXPECT_TRUE(block.debug_events[0].is_output);
}

TEST(EtDumpReader, DumpOutlivesTheParsedBytes) {
  EtDump dump;
  {
    fb::FlatBufferBuilder builder;
    finish(builder, wire::CreateRunData(builder, builder.CreateString("Default")));
    dump = parse_etdump(bytes_of(builder));
  }
  ASSERT_EQ(dump.blocks.size(), 1u);
  EXPECT_EQ(dump.blocks[0].name, "Default");
  {
    fb::FlatBufferBuilder builder;
    build_sample(builder);
    dump = parse_etdump(bytes_of(builder));
  }
  EXPECT_EQ(dump.blocks.at(0).profile_events.at(1).name, "DELEGATE_CALL");
}

std::string error_of(std::span<const std::byte> bytes) {
  return test::thrown<EtDumpError>([&] { parse_etdump(bytes, "x.etdp"); });
}

TEST(EtDumpReader, RejectsBytesThatAreNotAnETDump) {
  EXPECT_THAT(error_of(std::as_bytes(std::span("this is some text"))),
              testing::AllOf(testing::HasSubstr("x.etdp"), testing::HasSubstr("not an ETDump")));
  EXPECT_THAT(error_of({}), testing::HasSubstr("not an ETDump"));
  EXPECT_THROW(read_etdump("/no/such/file.etdp"), EtDumpError);
}

TEST(EtDumpReader, RejectsInvalidVersionsAllocatorsAndEvents) {
  fb::FlatBufferBuilder newer;
  newer.Finish(wire::CreateETDump(newer, 7), wire::ETDumpIdentifier());
  EXPECT_THAT(error_of(bytes_of(newer)), testing::HasSubstr("version: is 7"));
  fb::FlatBufferBuilder builder;
  const auto events = builder.CreateVector(std::vector{wire::CreateEvent(builder)});
  finish(builder, wire::CreateRunData(builder, 0, -1, 0, events));
  EXPECT_THAT(error_of(bytes_of(builder)), testing::HasSubstr("run_data[0].events[0]"));
  for (const int32_t id : {0, 1, -5}) {
    builder.Clear();
    const auto allocations = builder.CreateVector(
        std::vector{wire::CreateEvent(builder, 0, wire::CreateAllocationEvent(builder, id, 1))});
    finish(builder, wire::CreateRunData(builder, 0, -1, 0, allocations));
    EXPECT_THAT(error_of(bytes_of(builder)), testing::HasSubstr("allocator_id"));
  }
}

// A file of a few hundred bytes must not expand to gigabytes of events.
TEST(EtDumpReader, RejectsBlocksThatShareEvents) {
  fb::FlatBufferBuilder builder;
  const auto event = wire::CreateEvent(builder, wire::CreateProfileEvent(builder));
  const auto events = builder.CreateVector(std::vector(1000, event));
  finish(builder, wire::CreateRunData(builder, 0, -1, 0, events), 1000);
  EXPECT_THAT(error_of(bytes_of(builder)), testing::HasSubstr("does not verify"));
}

TEST(EtDumpReader, RejectsEveryTruncationAndSurvivesFlippedBytes) {
  fb::FlatBufferBuilder builder;
  build_sample(builder);
  const std::vector bytes(bytes_of(builder).begin(), bytes_of(builder).end());
  test::for_each_truncation(
      bytes, [](const auto& cut, const auto& damage) { EXPECT_NE(error_of(cut), "") << damage; });
  size_t rejected = 0;
  test::for_each_changed_byte(bytes, [&](const auto& damaged, const auto&) {
    rejected += error_of(damaged).empty() ? 0 : 1;
  });
  EXPECT_GT(rejected, bytes.size() / 4) << "offsets and lengths are a large part of the file";
}

// A row of the table that ExecuTorch's Inspector prints for a trace.
struct TsvRow {
  std::string block, name;
  size_t runs;
  bool operator==(const TsvRow&) const = default;
};

void PrintTo(const TsvRow& row, std::ostream* out) {
  *out << row.block << " " << row.name << " x" << row.runs;
}

std::vector<TsvRow> read_tsv(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<TsvRow> rows;
  std::string line;
  std::getline(stream, line);  // header
  while (std::getline(stream, line)) {
    std::vector<std::string> cells;
    std::istringstream split(line);
    for (std::string cell; std::getline(split, cell, '\t');) cells.push_back(cell);
    const auto commas = std::count(cells.at(2).begin(), cells.at(2).end(), ',');
    rows.push_back({cells[0], cells[1], static_cast<size_t>(commas) + 1});
  }
  return rows;
}

// Returns the path of the table for a trace: "inspector_b.tsv" for "etdump_b.etdp".
std::filesystem::path tsv_of(const std::filesystem::path& etdump) {
  std::string name = etdump.stem().string();
  name.replace(0, std::string("etdump").size(), "inspector");
  return etdump.parent_path() / (name + ".tsv");
}

// Returns the table for `dump` as the Inspector would print it: runs with the same events share
// their rows.
std::vector<TsvRow> merged(const EtDump& dump) {
  std::vector<std::vector<TsvRow>> blocks;
  for (const Block& block : dump.blocks) {
    std::vector<TsvRow> rows;
    for (const ProfileEvent& event : block.profile_events) {
      EXPECT_LE(event.start, event.end);
      const std::string_view name =
          event.is_delegate_event() ? event.delegate_debug_name : event.name;
      rows.push_back({std::string(block.name), std::string(name), 1});
    }
    const auto same = std::find_if(blocks.begin(), blocks.end(), [&](const auto& other) {
      return std::equal(
          other.begin(), other.end(), rows.begin(), rows.end(),
          [](const TsvRow& a, const TsvRow& b) { return a.block == b.block && a.name == b.name; });
    });
    if (same == blocks.end()) {
      blocks.push_back(rows);
    } else {
      for (TsvRow& row : *same) ++row.runs;
    }
  }
  std::vector<TsvRow> all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

TEST(EtDumpReader, MatchesTheInspectorOnExecuTorchDumps) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".etdp") continue;
    SCOPED_TRACE(entry.path().string());
    const EtDump dump = read_etdump(entry.path());
    ASSERT_FALSE(dump.blocks.empty());
    if (!std::filesystem::exists(tsv_of(entry.path()))) continue;
    EXPECT_EQ(merged(dump), read_tsv(tsv_of(entry.path())));
    ++compared;
  }
  EXPECT_GE(compared, 30u);
}

}  // namespace
}  // namespace vitrine::etdump
