// Tests executor_runner --compare: compares MobileNetV2 with and without delegates, and a model
// with a changed weight, and checks exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/comparison.h"
#include "test/support/corpus.h"
#include "test/support/joined_profile.h"
#include "test/support/read_json.h"
#include "test/support/record_builder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using inspector::Alignment;
using inspector::ComparedOp;
using inspector::Profile;
using inspector::ProfileRow;
using nlohmann::json;
using testing::HasSubstr;

struct TracedRun {
  etdump::EtDump trace;
  Profile profile;
};

TracedRun run(const fs::path& folder, const etrecord::EtRecord& record) {
  const ScratchFolder scratch;
  succeeded(executor_runner((folder / "model.pte").string() + " --num_executions 3 --etdump_path " +
                            (scratch / "trace").string()));
  TracedRun side;
  side.trace = etdump::read_etdump(scratch / "trace");
  side.profile = test::joined_profile(side.trace, &record);
  return side;
}

std::set<uint32_t> handles_of(const std::vector<size_t>& rows, const Profile& profile) {
  std::set<uint32_t> handles;
  for (const size_t row : rows) {
    handles.insert(profile.rows[row].debug_handles.begin(), profile.rows[row].debug_handles.end());
  }
  return handles;
}

// True for rows of the delegate that have no counterpart in the portable program: layout changes
// and views.
bool runs_in_delegate_only(const ProfileRow& row) {
  return row.is_inserted ||
         (row.source_ops.size() == 1 && row.source_ops[0] == "aten.view_copy.default");
}

void expect_all_aligned(const TracedRun& delegated, const TracedRun& portable,
                        const json& handle_map) {
  const inspector::Comparison comparison =
      inspector::compare_profiles(delegated.profile, portable.profile, false);
  EXPECT_EQ(comparison.alignment, Alignment::kHandles);
  EXPECT_EQ(comparison.aligned_rows_b, portable.profile.rows.size());
  EXPECT_EQ(portable.profile.rows.size(), handle_map.size());
  double sum_a = comparison.unattributed.a.avg, sum_b = comparison.unattributed.b.avg;
  std::set<size_t> rows_a, rows_b;
  for (const ComparedOp& op : comparison.ops) {
    sum_a += op.a.avg;
    sum_b += op.b.avg;
    for (const size_t row : op.rows_a)
      EXPECT_TRUE(rows_a.insert(row).second) << "row appears twice: " << row;
    for (const size_t row : op.rows_b)
      EXPECT_TRUE(rows_b.insert(row).second) << "row appears twice: " << row;
    if (!op.is_aligned()) {
      ASSERT_EQ(op.rows_a.size(), 1u);
      EXPECT_TRUE(runs_in_delegate_only(delegated.profile.rows[op.rows_a[0]])) << op.rows_a[0];
      continue;
    }
    // handle_map has the debug handle of each instruction of the portable program.
    const std::set<uint32_t> of_a = handles_of(op.rows_a, delegated.profile);
    size_t known = 0;
    for (const size_t row : op.rows_b) {
      const std::string instruction = std::to_string(portable.profile.rows[row].instruction);
      known += of_a.contains(handle_map.at(instruction).get<uint32_t>()) ? 1 : 0;
    }
    // Only the portable program has an instruction for the permute of a linear's weight.
    EXPECT_GE(known, 1u);
    EXPECT_GE(known + 1, op.rows_b.size());
  }
  EXPECT_EQ(rows_a.size(), delegated.profile.rows.size());
  EXPECT_EQ(rows_b.size(), portable.profile.rows.size());
  EXPECT_NEAR(sum_a, comparison.wall.a.avg, 1);
  EXPECT_NEAR(sum_b, comparison.wall.b.avg, 1);
}

TEST(ComparingTest, AlignsEveryOpOfMobileNetV2) {
  VITRINE_CORPUS_CASE(delegated, "mv2_xnnpack");
  const fs::path portable = corpus_dir() / "mv2_portable";
  const etrecord::EtRecord record = etrecord::read_etrecord(delegated / "etrecord.bin");
  const std::vector<std::byte> bytes = record_of_portable(delegated, portable);
  expect_all_aligned(run(delegated, record), run(portable, etrecord::parse_etrecord(bytes)),
                     read_json(portable / "debug_handle_map.json").at("forward"));
}

TEST(ComparingTest, AlignsEveryOpOfSmallMobileNetV2) {
  VITRINE_CORPUS_CASE(portable, "mv2_025_portable");
  const fs::path delegated = corpus_dir() / "mv2_025_xnnpack";
  expect_all_aligned(run(delegated, etrecord::read_etrecord(delegated / "etrecord.bin")),
                     run(portable, etrecord::read_etrecord(portable / "etrecord.bin")),
                     read_json(portable / "debug_handle_map.json").at("forward"));
}

CommandResult compare_profiles(const std::string& a, const std::string& b,
                               const std::string& extra = "", int runs = 6) {
  return executor_runner("--profile " + a + " --compare " + b + " --num_executions " +
                         std::to_string(runs) + " --warmup 1 --cpu_threads 1 " + extra);
}

TEST(ComparingTest, SameProgramHasNoDifferences) {
  const std::string model = sample("digits_xnnpack/model.pte");
  const CommandResult result = succeeded(compare_profiles(model, model, "--format json"));
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("paired"), true);
  EXPECT_EQ(report.at("outputs").at(0).at("different"), 0);
  for (const json& op : report.at("ops")) {
    EXPECT_EQ(op.at("rows_a"), op.at("rows_b"));
    EXPECT_EQ(op.at("rows_a").size(), 1u);
  }
}

TEST(ComparingTest, AlignsQuantizedOpsByModule) {
  const CommandResult result = succeeded(
      compare_profiles(sample("digits_xnnpack/model.pte"), sample("digits_xnnpack_q8/model.pte"),
                       "--format json --etrecord " + sample("digits_xnnpack/etrecord.bin") +
                           " --compare_etrecord " + sample("digits_xnnpack_q8/etrecord.bin")));
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("aligned_by"), "op and module");
  size_t convolutions = 0;
  for (const json& op : report.at("ops")) {
    if (!op.at("op").get<std::string>().starts_with("convolution")) continue;
    ++convolutions;
    EXPECT_EQ(op.at("rows_a").size(), 1u) << op;
    EXPECT_EQ(op.at("rows_b").size(), 1u) << op;
  }
  EXPECT_EQ(convolutions, 4u);  // one in the stem, two in the block, one in the downsampling
}

TEST(ComparingTest, ReportsOutputsThatDifferDueToAChangedWeight) {
  const ScratchFolder scratch;
  const std::string model = sample("linear_relu/model.pte");
  std::vector<std::byte> bytes = tools::read_file(model);
  // Bytes 3456 to 3616 hold the 40 weights of the second linear. This clears 20 of them.
  for (size_t i = 3456; i < 3536; ++i) bytes[i] = std::byte{0};
  tools::write_file(scratch / "wrong.pte", bytes);
  const CommandResult result =
      succeeded(compare_profiles(model, (scratch / "wrong.pte").string(),
                                 "--format json --inputs " + sample("linear_relu/input_0.bin")));
  const json output = json::parse(result.out).at("outputs").at(0);
  EXPECT_EQ(output.at("elements"), 20);
  EXPECT_GT(output.at("different"), 0);
  EXPECT_LT(output.at("sqnr_db"), 60);
}

TEST(ComparingTest, FailAboveOptionSetsExitCode) {
  const std::string model = sample("digits_xnnpack/model.pte");
  succeeded(compare_profiles(model, model, "--fail_above 1000"));
  EXPECT_THAT(
      compare_profiles(model, model, "--fail-above 0.001"),
      Exits(2, HasSubstr("times as long"), HasSubstr("wall")));  // the report is still printed
}

TEST(ComparingTest, TooFewRunsDoNotFail) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_THAT(
      compare_profiles(model, model, "--fail_above 0.001", 2),
      Exits(0, HasSubstr("2 pairs of runs are too few to decide; use --num_executions 6 or more"),
            HasSubstr(": 2 pairs of runs are too few to decide\n")));
}

TEST(ComparingTest, RejectsProgramsWithDifferentInputs) {
  EXPECT_THAT(compare_profiles(sample("digits_xnnpack/model.pte"), sample("linear_relu/model.pte")),
              Exits(1, HasSubstr("input 0")));
}

TEST(ComparingTest, RejectsIncompleteOptions) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_NE(executor_runner(model + " --compare " + model).exit_code, 0);
  EXPECT_NE(executor_runner("--profile --fail_above 2 " + model).exit_code, 0);
  EXPECT_EQ(compare_profiles(model, model, "--format svg").exit_code, 64);
}

}  // namespace
}  // namespace vitrine::test
