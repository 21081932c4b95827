// Tests that a program refuses the record of another program, for all pairs in the corpora.
#include "tools/common/program_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "tools/common/stripped_program.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::shared_ptr<const Program> load(const fs::path& file) {
  return tools::check(Program::load(tools::check(map_file(file.c_str()))));
}

struct Recorded {
  std::string name;
  std::shared_ptr<const Program> program;
  etrecord::EtRecord record;
};

std::vector<Recorded> recorded_programs() {
  std::vector<Recorded> all;
  for (const fs::path& root : {corpus_dir(), corpus_llm_dir()}) {
    for (const fs::path& record : files_below(root, "etrecord.bin")) {
      const fs::path folder = record.parent_path();
      if (!fs::exists(folder / "model.pte")) continue;
      all.push_back({fs::relative(folder, root), load(folder / "model.pte"),
                     etrecord::read_etrecord(record)});
    }
  }
  return all;
}

// All facts in a record that can be checked against a program. Two records with equal facts
// describe the same graph.
using Facts =
    std::map<std::string, std::tuple<std::map<int32_t, std::vector<etrecord::DebugHandle>>,
                                     std::vector<std::tuple<etrecord::DebugHandle, std::string,
                                                            std::vector<std::vector<int64_t>>>>>>;
Facts facts_of(const etrecord::EtRecord& record) {
  Facts facts;
  for (const auto& [name, method] : record.methods) {
    auto& [handles, nodes] = facts[name];
    handles = method.handles_of_instruction;
    for (const etrecord::EdgeNode& node : method.graph.nodes) {
      std::vector<std::vector<int64_t>> sizes;
      for (const size_t result : node.results) sizes.push_back(method.graph.values[result].sizes);
      nodes.emplace_back(node.debug_handle, node.target, sizes);
    }
  }
  return facts;
}

TEST(ProgramRecord, EveryCorpusProgramAcceptsItsOwnRecord) {
  VITRINE_NEEDS_CORPUS();
  const std::vector<Recorded> all = recorded_programs();
  EXPECT_GE(all.size(), 40u);
  for (const Recorded& recorded : all) {
    EXPECT_EQ(tools::contradiction(*recorded.program, recorded.record), "") << recorded.name;
  }
}

// Each pair names a program and another model. The program accepts the record of the other model,
// because both models have the same ops, debug handles and instructions. They differ only in sizes
// that are dynamic in one model.
const std::set<std::pair<std::string, std::string>> kTwins = {
    {"linear_relu", "dynamic_batch_xnnpack"},         {"mlp_qb4w", "linear_8da4w_g32"},
    {"bundled_linear_relu", "dynamic_batch_xnnpack"}, {"dynamic_batch_portable", "scan_rnn"},
    {"dynamic_batch_portable", "map_linear"},         {"map_linear", "scan_rnn"},
};

TEST(ProgramRecord, EveryCorpusProgramRefusesRecordsOfOtherGraphs) {
  VITRINE_NEEDS_CORPUS();
  std::vector<Recorded> all = recorded_programs();
  // Subfolders such as compat and config have other versions and variants of the same models.
  std::erase_if(all, [](const Recorded& each) { return each.name.find('/') != std::string::npos; });
  std::vector<Facts> facts;
  for (const Recorded& recorded : all) facts.push_back(facts_of(recorded.record));
  size_t refused = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < all.size(); ++k) {
      if (facts[i] == facts[k] || kTwins.contains({all[i].name, all[k].name})) continue;
      const bool is_refused = !tools::contradiction(*all[i].program, all[k].record).empty();
      EXPECT_TRUE(is_refused) << all[i].name << " accepts the record of " << all[k].name;
      refused += is_refused ? 1 : 0;
    }
  }
  EXPECT_GE(refused, 1000u);
}

TEST(ProgramRecord, RefusesTheRecordOfAnotherModelAndGivesTheReason) {
  const auto program = load(sample("digits_xnnpack/model.pte"));
  std::vector<std::string> warnings;
  EXPECT_TRUE(tools::record_for_program(*program, sample("digits_xnnpack/etrecord.bin"), warnings));
  EXPECT_THAT(warnings, testing::IsEmpty());
  const std::string error = thrown<tools::ToolError>(
      [&] { tools::record_for_program(*program, sample("linear_relu/etrecord.bin"), warnings); });
  EXPECT_THAT(error, HasSubstr("is not the record of this program: method forward: "));
  EXPECT_THAT(error, HasSubstr("use the record that was written with this program"));
}

// Tests programs from which the ETRecord was removed. The bytes, indices and alignments of all
// other parts must not change.

constexpr char kRecord[] = "vitrine.etrecord";
constexpr char kDigest[] = "vitrine.record_digest";

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const Program> load(const AlignedBytes& file) {
  return tools::check(Program::load(tools::check(view_buffer(file))));
}

// Builds a program with a constant, a payload in a segment, and the entries of `named` as named
// data.
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
  const auto error_of = [](const AlignedBytes& file) {
    size_t pieces = 0;
    const std::string error = thrown<tools::ToolError>(
        [&] { tools::strip_record(*load(file), file, [&](auto) { ++pieces; }); });
    EXPECT_TRUE(error.empty() || pieces == 0);
    return error;
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
