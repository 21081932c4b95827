#include "formats/etrecord/record_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/record_builder.h"
#include "test/support/results.h"

namespace vitrine::etrecord {
namespace {

using test::make_archive;
using test::Members;
using testing::AllOf;
using testing::HasSubstr;

ProgramMembers program(const std::string& name) {
  return {name + " program", name + " weights", name + " constants", ""};
}

RecordMembers sample_members() {
  RecordMembers members;
  members.edge_programs = {{"forward", program("edge")}, {"encode", program("other edge")}};
  members.exported_program = program("aten");
  members.other_programs = {{"edge_after_transform/forward", program("transformed")}};
  members.debug_handle_map = "{}";
  members.delegate_map = "{}";
  members.num_outputs_map = "{}";
  members.export_graph_id = "140";
  members.reference_outputs = std::string("a\0b", 3);
  members.representative_inputs = "in";
  return members;
}

template <class Act>
std::string error_of(Act act) {
  return test::thrown<FormatError>(act);
}

TEST(RecordMembers, PreservesAllMembersWhenWrittenAndRead) {
  EXPECT_EQ(parse_record_members(write_etrecord(sample_members())), sample_members());
  RecordMembers minimal;
  minimal.edge_programs["forward"] = {.program = "{}"};
  minimal.debug_handle_map = "{}";
  EXPECT_EQ(parse_record_members(write_etrecord(minimal)), minimal);
}

// ExecuTorch's archives are uncompressed too.
TEST(RecordMembers, WritesMembersUncompressedAndIsDeterministic) {
  const std::vector<std::byte> bytes = write_etrecord(sample_members());
  EXPECT_EQ(bytes, write_etrecord(sample_members()));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_THAT(text, HasSubstr("other edge program"));
  EXPECT_THAT(text, HasSubstr("PK\x03\x04"));
}

TEST(RecordMembers, ReadsTheLayoutWithOneEdgeProgram) {
  const Members members = {{"ETRECORD_V0", ""},
                           {"edge_dialect_exported_program", "{}"},
                           {"edge_dialect_exported_program_state_dict", "w"},
                           {"edge_dialect_exported_program_constants", ""},
                           {"edge_dialect_exported_program_example_inputs", ""},
                           {"debug_handle_map", "{}"}};
  const RecordMembers read = parse_record_members(make_archive(members));
  EXPECT_EQ(read.edge_programs.at("forward").state_dict, "w");
  EXPECT_FALSE(read.delegate_map.has_value());
}

TEST(RecordMembers, ReportsMissingMembers) {
  const Members all = {{"ETRECORD_V0", ""},
                       {"edge_dialect_exported_program/forward", "{}"},
                       {"edge_dialect_exported_program/forward_state_dict", ""},
                       {"edge_dialect_exported_program/forward_constants", ""},
                       {"edge_dialect_exported_program/forward_example_inputs", ""},
                       {"debug_handle_map", "{}"}};
  for (size_t i = 0; i < all.size(); ++i) {
    Members members = all;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(error_of([&] { parse_record_members(make_archive(members), "x.etrecord"); }),
                AllOf(HasSubstr("x.etrecord"), HasSubstr(all[i].first.substr(0, 29))))
        << all[i].first;
  }
}

TEST(RecordMembers, RejectsProgramNamesThatReadersMisinterpret) {
  const auto error_with = [](const std::string& name) {
    RecordMembers members = sample_members();
    members.other_programs = {{name, program("x")}};
    return error_of([&] { write_etrecord(members); });
  };
  EXPECT_EQ(error_with("mine/forward"), "");
  for (const char* reserved :
       {"my_debug_handle_map/forward", "et_dialect_graph_module/x", "exported_program/forward"}) {
    EXPECT_THAT(error_with(reserved), HasSubstr("reserved"));
  }
  EXPECT_THAT(error_with("mine"), HasSubstr("name/method"));
  EXPECT_THAT(error_with("mine/the_constants"), HasSubstr("suffix that is reserved"));
  EXPECT_THAT(error_of([] { write_etrecord({}); }), HasSubstr("without an edge program"));
}

// If members of an archive could share a range of bytes, a few kilobytes could expand to any size.
TEST(RecordMembers, RejectsOverlappingMembers) {
  const std::string content(1000, 'x');
  std::vector<std::byte> bytes =
      make_archive({{"ETRECORD_V0", ""}, {"debug_handle_map", content}, {"delegate_map", "abcd"}});
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Changes the sizes of the last member. They are at the offsets 20 and 24 of its directory entry.
  const size_t entry = text.rfind("PK\x01\x02");
  for (const size_t at : {entry + 20, entry + 24}) {
    bytes[at] = std::byte{0xe8};
    bytes[at + 1] = std::byte{0x03};
  }
  EXPECT_THAT(error_of([&] { parse_etrecord(bytes, "x.etrecord"); }),
              AllOf(HasSubstr("x.etrecord"), HasSubstr("overlap")));
}

TEST(RecordMembersCorpus, RewritesExecuTorchRecordsWithoutLoss) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t records = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("etrecord") || entry.path().extension() != ".bin") continue;
    SCOPED_TRACE(entry.path().string());
    const RecordMembers members = read_record_members(entry.path());
    const std::vector<std::byte> rewritten = write_etrecord(members);
    EXPECT_EQ(parse_record_members(rewritten), members);
    ++records;
    if (std::filesystem::file_size(entry.path()) > (4u << 20)) continue;
    const EtRecord before = read_etrecord(entry.path());
    const EtRecord after = parse_etrecord(rewritten);
    ASSERT_EQ(before.methods.size(), after.methods.size());
    for (const auto& [method, record] : before.methods) {
      EXPECT_EQ(record.graph.nodes.size(), after.methods.at(method).graph.nodes.size());
      EXPECT_EQ(record.handles_of_instruction, after.methods.at(method).handles_of_instruction);
    }
  }
  EXPECT_GE(records, 80u);
}

TEST(RecordMembersCorpus, WritesTheSameMapsAsExecuTorch) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    const auto file = entry.path() / "etrecord.bin";
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(file.string());
    const EtRecord record = read_etrecord(file);
    EXPECT_EQ(nlohmann::json::parse(debug_handle_map_json(record.methods)),
              test::read_json(entry.path() / "debug_handle_map.json"));
    EXPECT_EQ(nlohmann::json::parse(delegate_map_json(record.methods)),
              test::read_json(entry.path() / "delegate_map.json"));
    EXPECT_EQ(nlohmann::json::parse(num_outputs_map_json(record.methods)),
              test::read_json(entry.path() / "instruction_id_to_num_outs_map.json"));
    ++compared;
  }
  EXPECT_GE(compared, 20u);
}

}  // namespace
}  // namespace vitrine::etrecord
