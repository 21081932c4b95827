// Tests executor_runner --compare on MobileNetV2 with and without delegates, and on a model with a
// changed weight. Also tests the exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/comparison.h"
#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/joined_profile.h"
#include "test/support/read_json.h"
#include "test/support/record_builder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "vitrine/extended_header.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

namespace fbs = schema::program;
namespace fs = std::filesystem;
using inspector::Alignment;
using inspector::ComparedOp;
using inspector::Profile;
using inspector::ProfileRow;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

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
    // `handle_map` maps each instruction of the portable program to its debug handle.
    const std::set<uint32_t> of_a = handles_of(op.rows_a, delegated.profile);
    size_t known = 0;
    for (const size_t row : op.rows_b) {
      const std::string instruction = std::to_string(portable.profile.rows[row].instruction);
      known += of_a.contains(handle_map.at(instruction).get<uint32_t>()) ? 1 : 0;
    }
    // The portable program may permute the weight of a linear layer in a separate instruction. The
    // delegate has no such op.
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
  const json report = json_of(compare_profiles(model, model, "--format json"));
  EXPECT_EQ(report.at("paired"), true);
  EXPECT_EQ(report.at("outputs").at(0).at("different"), 0);
  for (const json& op : report.at("ops")) {
    EXPECT_EQ(op.at("rows_a"), op.at("rows_b"));
    EXPECT_EQ(op.at("rows_a").size(), 1u);
  }
}

TEST(ComparingTest, AlignsQuantizedOpsByModule) {
  const json report = json_of(
      compare_profiles(sample("digits_xnnpack/model.pte"), sample("digits_xnnpack_q8/model.pte"),
                       "--format json --etrecord " + sample("digits_xnnpack/etrecord.bin") +
                           " --compare_etrecord " + sample("digits_xnnpack_q8/etrecord.bin")));
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

// Writes a copy of the sample linear_relu, whose bytes 3456 to 3615 are the 40 weights of the
// second linear layer. In the copy, the first 20 of these weights are zero. Returns the path of the
// copy.
std::string write_wrong_model(const ScratchFolder& scratch) {
  std::vector<std::byte> bytes = tools::read_file(sample("linear_relu/model.pte"));
  for (size_t i = 3456; i < 3536; ++i) bytes[i] = std::byte{0};
  tools::write_file(scratch / "wrong.pte", bytes);
  return (scratch / "wrong.pte").string();
}

TEST(ComparingTest, ReportsOutputsThatDifferDueToAChangedWeight) {
  const ScratchFolder scratch;
  const json report =
      json_of(compare_profiles(sample("linear_relu/model.pte"), write_wrong_model(scratch),
                               "--format json --inputs " + sample("linear_relu/input_0.bin")));
  const json& output = report.at("outputs").at(0);
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

// `a` and `b` each contain the path of a model and the options for this model.
CommandResult compare_values(const std::string& a, const std::string& b,
                             const std::string& extra = "") {
  return executor_runner("--debug_outputs " + a + " --compare " + b + " --cpu_threads 1 " + extra);
}

struct Convolution {
  uint32_t instruction = 0;
  size_t weight = 0;  // offset from the start of the file
  size_t bytes = 4;   // of the weight
};

std::vector<Convolution> convolutions_of(const fs::path& model) {
  const AlignedBytes bytes = read_file_bytes(model);
  const auto program = tools::check(Program::load(tools::check(view_buffer(bytes))));
  const auto header = tools::check(
      read_extended_header(std::span<const std::byte>(bytes).first<kProgramHeadBytes>()));
  const fbs::Program& root = ProgramAccess::root(*program);
  const fbs::ExecutionPlan& plan = *root.execution_plan()->Get(0);
  const auto& constants = *root.constant_segment();
  const uint64_t base =
      header->segment_base + root.segments()->Get(constants.segment_index())->offset();
  const auto& instructions = *plan.chains()->Get(0)->instructions();
  std::vector<Convolution> found;
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const auto* call = instructions.Get(i)->instr_args_as_KernelCall();
    if (call == nullptr) continue;
    const auto* op = plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
    if (op->name()->str() != "aten::convolution") continue;
    const auto* weight =
        plan.values()->Get(static_cast<uint32_t>(call->args()->Get(1)))->val_as_Tensor();
    Convolution& convolution = found.emplace_back();
    convolution.instruction = i;
    convolution.weight = base + constants.offsets()->Get(weight->data_buffer_idx());
    for (const int32_t size : *weight->sizes()) convolution.bytes *= static_cast<size_t>(size);
  }
  return found;
}

TEST(ComparingValuesTest, FindsOpWithWrongWeight) {
  const std::string model = sample("digits_portable/model.pte");
  const std::vector<Convolution> convolutions = convolutions_of(model);
  ASSERT_GE(convolutions.size(), 3u);
  const std::string record = sample("digits_portable/etrecord.bin");
  for (const Convolution& wrong : convolutions) {
    SCOPED_TRACE(wrong.instruction);
    const ScratchFolder scratch;
    std::vector<std::byte> bytes = tools::read_file(model);
    ASSERT_LE(wrong.weight + wrong.bytes, bytes.size());
    const float value = 3;
    std::memcpy(bytes.data() + wrong.weight + wrong.bytes / 2 / 4 * 4, &value, sizeof value);
    tools::write_file(scratch / "wrong.pte", bytes);
    const CommandResult result = compare_values(
        model + " --etrecord " + record,
        (scratch / "wrong.pte").string() + " --compare_etrecord " + record,
        "--format json --min_sqnr 60 --inputs " + sample("digits_portable/input_0.bin"));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    const json report = json::parse(result.out);
    ASSERT_FALSE(report.at("first_below").is_null());
    const size_t first = report.at("first_below");
    const json& value_of_wrong = report.at("values").at(first);
    EXPECT_EQ(value_of_wrong.at("op"), "convolution");
    EXPECT_EQ(value_of_wrong.at("rows_a"),
              json({wrong.instruction}));  // every instruction is a row
    for (size_t i = 0; i < first; ++i) EXPECT_EQ(report.at("values").at(i).at("different"), 0);
  }
}

TEST(ComparingValuesTest, FindsWrongOperatorInsideDelegate) {
  const ScratchFolder scratch;
  const std::string record = sample("linear_relu/etrecord.bin");
  EXPECT_THAT(compare_values(sample("linear_relu/model.pte") + " --etrecord " + record,
                             write_wrong_model(scratch) + " --compare_etrecord " + record,
                             "--inputs " + sample("linear_relu/input_0.bin")),
              Prints(HasSubstr("first below 40 dB  #2 linear")))
      << "no limit was given, so the exit code is 0";
}

TEST(ComparingValuesTest, TwoLoweringsOfTheSameModelAgree) {
  EXPECT_THAT(compare_values(sample("digits_portable/model.pte") + " --etrecord " +
                                 sample("digits_portable/etrecord.bin"),
                             sample("digits_xnnpack/model.pte") + " --compare_etrecord " +
                                 sample("digits_xnnpack/etrecord.bin"),
                             "--min_sqnr 90 --inputs " + sample("digits_portable/input_0.bin")),
              Prints(HasSubstr("no op is below 90 dB")));
}

TEST(ComparingValuesTest, ComparesOutputsOfAllDelegatesAndKernels) {
  VITRINE_CORPUS_CASE(delegated, "encoder_layer_sdpa");
  const fs::path portable = corpus_dir() / "encoder_layer_sdpa_portable";
  const ScratchFolder scratch;
  tools::write_file(scratch / "portable.etrecord", record_of_portable(delegated, portable));
  const CommandResult result = succeeded(compare_values(
      (portable / "model.pte").string() + " --etrecord " + (scratch / "portable.etrecord").string(),
      (delegated / "model.pte").string() + " --compare_etrecord " +
          (delegated / "etrecord.bin").string(),
      "--format json --min_sqnr 80 --inputs " + (portable / "input_0.bin").string()));
  const json report = json::parse(result.out);
  // Lowering decomposed attention into 25 nodes that share one debug handle. The tool pairs kernels
  // with nodes of the same op if there are as many kernels as nodes. The other nodes belong to the
  // delegate call that has the handle, if there is exactly one such call.
  for (const json& value : report.at("values")) {
    EXPECT_FALSE(value.contains("not_compared")) << value;
    EXPECT_NE(value.at("op"), "");
    for (const json& line : value.at("lines")) EXPECT_NE(line, "");
  }
  EXPECT_GE(report.at("values").size(), 16u) << result.out;
  EXPECT_THAT(report.at("notes").dump(), HasSubstr("instruction 13"));
  EXPECT_EQ(report.at("outputs").size(), 1u);
}

// The layers of a float and an int8 delegate are compared as real numbers.
TEST(ComparingValuesTest, ComparesValuesInsideTwoDelegates) {
  VITRINE_CORPUS_CASE(f32, "digits_xnnpack");
  const fs::path q8 = corpus_dir() / "digits_xnnpack_q8";
  EXPECT_THAT(
      compare_values(
          (f32 / "model.pte").string() + " --etrecord " + (f32 / "etrecord.bin").string(),
          (q8 / "model.pte").string() + " --compare_etrecord " + (q8 / "etrecord.bin").string(),
          "--inputs " + (f32 / "input_0.bin").string()),
      Prints(testing::AllOf(HasSubstr("compared 7 op outputs and 1 program output"),
                            Not(HasSubstr("to compare every op, lower both models")))));
}

TEST(ComparingValuesTest, RejectsInvalidOptions) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_EQ(executor_runner("--debug_outputs " + model).exit_code, 64);
  EXPECT_NE(compare_values(model, model, "--profile").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--fail_above 2").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--format timeline").exit_code, 0);
  const CommandResult small = compare_values(model, model, "--debug_buffer_size 8");
  EXPECT_THAT(small.err, testing::AnyOf(HasSubstr("did not fit"), HasSubstr("no outputs of ops")));
}

}  // namespace
}  // namespace vitrine::test
