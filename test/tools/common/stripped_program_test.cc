// Tests programs from which the ETRecord was removed. The bytes, indices and alignments of all
// other parts must not change.
#include "tools/common/stripped_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/program/program_access.h"
#include "test/support/damaged_bytes.h"
#include "test/support/program_builder.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

constexpr char kRecord[] = "vitrine.etrecord";
constexpr char kDigest[] = "vitrine.record_digest";

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const Program> load(const AlignedBytes& file) {
  return tools::check(Program::load(tools::check(view_buffer(file))));
}

// A program with a constant, a payload in a segment, and the named data.
ProgramBuilder builder_with(const std::vector<std::pair<std::string, std::string>>& named) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 64};
  forward.outputs = {
      forward.tensor({.sizes = {3}, .data = builder.constant(bytes_of("0123456789ab"))})};
  forward.delegate({.id = "Backend",
                    .location = schema::program::DataLocation::SEGMENT,
                    .payload = bytes_of("a payload")});
  for (const auto& [key, value] : named) builder.named_data(key, bytes_of(value));
  return builder;
}

AlignedBytes stripped(const AlignedBytes& file) {
  AlignedBytes result;
  const auto record = tools::strip_record(*load(file), file, [&](auto piece) {
    result.insert(result.end(), piece.begin(), piece.end());
  });
  EXPECT_TRUE(record.has_value());
  return result;
}

std::string named(const Program& program, const char* key) {
  return text_of(tools::check(program.named_data().get(key)).bytes());
}

TEST(StrippedProgram, KeepsEverythingButTheRecord) {
  const std::string record(5000, 'r');
  for (const uint32_t header_length : {24u, 32u}) {
    for (const uint64_t alignment : {uint64_t{16}, uint64_t{128}, uint64_t{4096}}) {
      ProgramBuilder builder = builder_with({{"first", "one"},
                                             {kRecord, record},
                                             {kDigest, "fnv1a64:0123456789abcdef"},
                                             {"last", std::string(300, 'z')}});
      builder.header_length = header_length;
      builder.segment_alignment = alignment;
      const AlignedBytes before = builder.build();
      const AlignedBytes after = stripped(before);
      EXPECT_LE(after.size(), before.size() - record.size() + alignment);
      const auto old = load(before);
      const auto made = load(after);
      EXPECT_EQ(made->named_data().size(), 3u);
      EXPECT_FALSE(made->named_data().get(kRecord).ok());
      EXPECT_EQ(named(*made, "first"), "one");
      EXPECT_EQ(named(*made, kDigest), "fnv1a64:0123456789abcdef");
      EXPECT_EQ(named(*made, "last"), std::string(300, 'z'));
      const auto& segments = *ProgramAccess::root(*made).segments();
      ASSERT_EQ(segments.size(), ProgramAccess::root(*old).segments()->size());
      size_t emptied = 0;
      for (uint32_t i = 0; i < segments.size(); ++i) {
        const auto was = tools::check(ProgramAccess::segment(*old, i));
        const auto is = tools::check(ProgramAccess::segment(*made, i));
        if (text_of(was.bytes()) == record) {
          ++emptied;
          EXPECT_EQ(is.size(), 0u);
          continue;
        }
        EXPECT_EQ(text_of(is.bytes()), text_of(was.bytes())) << i;
        EXPECT_EQ((is.data() - after.data()) % static_cast<std::ptrdiff_t>(alignment), 0) << i;
      }
      EXPECT_EQ(emptied, 1u);
    }
  }
}

TEST(StrippedProgram, ReturnsTheRecord) {
  const AlignedBytes file = builder_with({{kRecord, "the record"}}).build();
  const auto record = tools::strip_record(*load(file), file, [](auto) {});
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(text_of(*record), "the record");
}

TEST(StrippedProgram, ProgramWithoutRecordHasNothingToRemove) {
  for (const AlignedBytes& file :
       {builder_with({{"first", "one"}}).build(), builder_with({}).build()}) {
    bool is_called = false;
    EXPECT_FALSE(tools::strip_record(*load(file), file, [&](auto) { is_called = true; }));
    EXPECT_FALSE(is_called);
  }
}

TEST(StrippedProgram, RefusesARecordThatSharesBytesWithOtherData) {
  const auto error_of = [](const AlignedBytes& file) -> std::string {
    size_t pieces = 0;
    try {
      tools::strip_record(*load(file), file, [&](auto) { ++pieces; });
      return "";
    } catch (const tools::ToolError& error) {
      EXPECT_EQ(pieces, 0u);
      return error.what();
    }
  };
  ProgramBuilder builder = builder_with({{kRecord, std::string(400, 'r')}, {"last", "two"}});
  EXPECT_EQ(error_of(builder.build()), "");
  builder.constant_segment_index = 2;  // the segment of the record
  builder.constant_offsets = {0, 0};
  EXPECT_THAT(error_of(builder.build()), HasSubstr("its segment also holds constants"));
  builder = builder_with({{kRecord, std::string(400, 'r')}, {"last", "two"}});
  builder.named_data_segment_index = 2;
  EXPECT_THAT(error_of(builder.build()), HasSubstr("its segment also holds other named data"));
  // The last segment overlaps the end of the record.
  builder = builder_with({{kRecord, std::string(400, 'r')}, {"last", "two"}});
  builder.segments = {{{0, 12}, {128, 9}, {256, 400}, {600, 3}}};
  EXPECT_THAT(error_of(builder.build()), HasSubstr("segment 3 overlaps another"));
}

TEST(StrippedProgram, DamagedFilesGiveAnErrorOrALoadableProgram) {
  const AlignedBytes whole =
      builder_with({{"first", "one"}, {kRecord, std::string(400, 'r')}, {"last", "two"}}).build();
  size_t loaded = 0;
  for_each_random_damage(whole, 3000, [&](const AlignedBytes& file, const Damage& damage) {
    auto program = Program::load(tools::check(view_buffer(file)));
    if (!program.ok()) return;
    AlignedBytes after;
    try {
      const auto record = tools::strip_record(**program, file, [&](auto piece) {
        after.insert(after.end(), piece.begin(), piece.end());
      });
      if (!record) return;
    } catch (const tools::ToolError&) {
      return;
    }
    const auto reloaded = Program::load(tools::check(view_buffer(after)));
    EXPECT_TRUE(reloaded.ok()) << damage << ": " << reloaded.error().message();
    ++loaded;
  });
  EXPECT_GT(loaded, 100u);
}

}  // namespace
}  // namespace vitrine::test
