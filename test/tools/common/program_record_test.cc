// Tests that the record of another program is refused. Uses all pairs of a program and a record in
// the corpora.
#include "tools/common/program_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/support/corpus.h"
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
    if (root.empty()) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const fs::path folder = entry.path().parent_path();
      if (entry.path().filename() != "etrecord.bin" || !fs::exists(folder / "model.pte")) continue;
      all.push_back({fs::relative(folder, root), load(folder / "model.pte"),
                     etrecord::read_etrecord(entry.path())});
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
  size_t count = 0;
  for (const Recorded& recorded : recorded_programs()) {
    EXPECT_EQ(tools::contradiction(*recorded.program, recorded.record), "") << recorded.name;
    ++count;
  }
  EXPECT_GE(count, 40u);
}

// The folders compat and config have other versions and variants of the same models. The models of
// each of the following pairs have the same ops, handles and instructions. They differ only in
// sizes that are dynamic in one of the two models.
const std::set<std::pair<std::string, std::string>> kTwins = {
    {"linear_relu", "dynamic_batch_xnnpack"},         {"mlp_qb4w", "linear_8da4w_g32"},
    {"bundled_linear_relu", "dynamic_batch_xnnpack"}, {"dynamic_batch_portable", "scan_rnn"},
    {"dynamic_batch_portable", "map_linear"},         {"map_linear", "scan_rnn"},
};

TEST(ProgramRecord, EveryCorpusProgramRefusesRecordsOfOtherGraphs) {
  VITRINE_NEEDS_CORPUS();
  std::vector<Recorded> all = recorded_programs();
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
  try {
    tools::record_for_program(*program, sample("linear_relu/etrecord.bin"), warnings);
    ADD_FAILURE() << "the record was accepted";
  } catch (const tools::ToolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not the record of this program: method forward: "));
    EXPECT_THAT(error.what(), HasSubstr("use the record that was written with this program"));
  }
}

}  // namespace
}  // namespace vitrine::test
