// Tests the command line of pte_lower. Its programs must run, their profiles must have source ops,
// and error messages must contain the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "formats/etrecord/etrecord.h"
#include "test/support/corpus.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

CommandResult pte_lower(const std::string& arguments) {
  return run_tool(VITRINE_PTE_LOWER, arguments);
}

const std::string& model() {
  static const std::string kModel = (samples_dir() / "linear_relu/model.pt2").string();
  return kModel;
}

std::string symbolic_model() { return (samples_dir() / "pt2_symint/model.pt2").string(); }

std::string text_of(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = tools::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_outputs(const std::filesystem::path& program, const std::string& more = "",
                    double atol = 1e-4) {
  const ScratchFolder scratch;
  const std::string inputs = (samples_dir() / "linear_relu/input_0.bin").string();
  const CommandResult run = executor_runner(program.string() + " --inputs " + inputs + more +
                                            " --output_file " + (scratch / "y").string());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::byte> actual = tools::read_file(scratch / "y-0.bin");
  const std::vector<std::byte> expected =
      tools::read_file(samples_dir() / "linear_relu/expected_0.bin");
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t at = 0; at < actual.size(); at += sizeof(float)) {
    float a = 0;
    float e = 0;
    std::memcpy(&a, &actual[at], sizeof a);
    std::memcpy(&e, &expected[at], sizeof e);
    EXPECT_NEAR(a, e, atol + 1e-4 * std::abs(e));
  }
}

TEST(PteLowerTest, EscapeSequencesInModelsDoNotReachTheTerminal) {
  const ScratchFolder scratch;
  std::string archive = text_of(model());
  const std::string_view op = "aten.linear.default";
  const size_t at = archive.find(op);
  ASSERT_NE(at, std::string::npos);
  archive.replace(at, op.size(), R"(aten.\u001b[31m.def)");
  tools::write_file(scratch / "m.pt2", archive);
  const CommandResult result =
      pte_lower((scratch / "m.pt2").string() + " -o " + (scratch / "m.pte").string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("aten.?[31m.def"));
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST(PteLowerTest, ProgramWithoutBackendMatchesPyTorch) {
  const ScratchFolder scratch;
  const CommandResult result = pte_lower(model() + " -o " + (scratch / "m.pte").string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");  // progress is for terminals
  expect_outputs(scratch / "m.pte");
}

TEST(PteLowerTest, ProgramWithXnnpackMatchesPyTorch) {
  const ScratchFolder scratch;
  const CommandResult result =
      pte_lower(model() + " --backend xnnpack -o " + (scratch / "m.pte").string() + " --summary");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Total delegated subgraphs: 1\n"
                                    "Number of delegated nodes: 3\n"
                                    "Number of non-delegated nodes: 1\n"));
  expect_outputs(scratch / "m.pte");
}

// Expects that every row of a delegate has source ops or was inserted for other ops.
void expect_all_joined(const std::string& profile) {
  size_t operators = 0;
  const json parsed = json::parse(profile);
  for (const json& row : parsed["rows"]) {
    if (row["where"] != "delegate") continue;
    ++operators;
    EXPECT_EQ(row["join"], "exact") << row;
    EXPECT_FALSE(row["source_ops"].empty() && row["inserted_for"].empty()) << row;
  }
  EXPECT_GT(operators, 0U);
}

TEST(PteLowerTest, ProfileUsesRecordInsideProgram) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  ASSERT_EQ(pte_lower(model() + " --backend xnnpack -o " + program).exit_code, 0);
  const CommandResult run =
      executor_runner("--profile --format json --num_executions 3 " + program);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_all_joined(run.out);
  EXPECT_THAT(run.out, HasSubstr("aten.linear.default"));
}

TEST(PteLowerTest, ComparisonUsesRecordsInsidePrograms) {
  const ScratchFolder scratch;
  const std::string a = (scratch / "a.pte").string();
  const std::string b = (scratch / "b.pte").string();
  ASSERT_EQ(pte_lower(model() + " -o " + a).exit_code, 0);
  ASSERT_EQ(pte_lower(model() + " --backend xnnpack -o " + b).exit_code, 0);
  const std::string both = a + " --compare " + b + " --cpu_threads 1 --width 200";
  const CommandResult times = executor_runner("--profile --num_executions 2 " + both);
  ASSERT_EQ(times.exit_code, 0) << times.err;
  EXPECT_THAT(times.out, HasSubstr("names: a.pte"));
  EXPECT_THAT(times.out, HasSubstr("names: b.pte"));
  EXPECT_THAT(times.out, HasSubstr("aligned by op and module: 5 of 5 rows of A"));
  const CommandResult values = executor_runner("--debug_outputs " + both);
  ASSERT_EQ(values.exit_code, 0) << values.err;
  EXPECT_THAT(values.out, HasSubstr("names: b.pte"));
  EXPECT_THAT(values.out, testing::Not(HasSubstr("0 outputs compared")));
}

TEST(PteLowerTest, ProfileUsesSeparateRecord) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  const std::string record = (scratch / "m.etrecord").string();
  ASSERT_EQ(pte_lower(model() + " --backend xnnpack --no-debug-maps -o " + program +
                      " --etrecord " + record)
                .exit_code,
            0);
  const CommandResult run = executor_runner("--profile --format json --num_executions 3 " +
                                            program + " --etrecord " + record);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_all_joined(run.out);
  const etrecord::EtRecord read = etrecord::read_etrecord(record);
  EXPECT_EQ(read.methods.at("forward").graph.nodes.size(), 3U);
}

// Each run is a separate process with different addresses. The file must not depend on addresses.
TEST(PteLowerTest, TwoRunsWriteSameBytes) {
  std::vector<std::string> models = {model(), symbolic_model()};
  for (const char* name : {"cond_model", "digits_xnnpack_q8", "kv_cache", "split_concat_pool"}) {
    const std::filesystem::path file = corpus_dir() / name / "model.pt2";
    if (!corpus_dir().empty() && exists(file)) models.push_back(file.string());
  }
  const ScratchFolder scratch;
  for (const std::string& file : models) {
    for (const char* backend : {"none", "xnnpack"}) {
      SCOPED_TRACE(file + " " + backend);
      for (const char* name : {"a", "b"}) {
        const CommandResult result =
            pte_lower(file + " --backend " + backend + " -o " + (scratch / name).string() +
                      " --etrecord " + (scratch / (std::string(name) + ".etrecord")).string());
        ASSERT_EQ(result.exit_code, 0) << result.err;
      }
      EXPECT_EQ(tools::read_file(scratch / "a"), tools::read_file(scratch / "b"));
      EXPECT_EQ(tools::read_file(scratch / "a.etrecord"), tools::read_file(scratch / "b.etrecord"));
    }
  }
}

TEST(PteLowerTest, OnlyOpAndExcludeOpOptionsFilterDelegation) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  CommandResult result = pte_lower(model() + " --backend xnnpack --exclude-op relu -o " + program +
                                   " --summary --explain");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Total delegated subgraphs: 2\n"));
  EXPECT_THAT(result.out, HasSubstr("--only-op or --exclude-op forbids its delegation"));
  EXPECT_THAT(result.err, HasSubstr("--optimize rewrites the graph"));
  expect_outputs(program);
  result = pte_lower(model() + " --backend xnnpack --only-op aten.relu.default -o " + program +
                     " --summary");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Number of delegated nodes: 1\n"));
  expect_outputs(program);
}

TEST(PteLowerTest, ExternalConstantsOptionWritesAPtdFile) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  ASSERT_EQ(pte_lower(model() + " --external-constants -o " + program).exit_code, 0);
  const auto data = scratch / "_default_external_constant.ptd";
  ASSERT_TRUE(std::filesystem::exists(data));
  expect_outputs(program, " --data_path " + data.string());
}

TEST(PteLowerTest, ExternalConstantsOptionIncludesWeightsOfDelegates) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  ASSERT_EQ(pte_lower(model() + " --backend xnnpack --external-constants -o " + program).exit_code,
            0);
  const auto data = scratch / "_default_external_constant.ptd";
  ASSERT_TRUE(std::filesystem::exists(data));
  expect_outputs(program, " --data_path " + data.string());
  const CommandResult alone = executor_runner(program);
  EXPECT_NE(alone.exit_code, 0);
  EXPECT_THAT(alone.err, HasSubstr("no named data for key"));
}

TEST(PteLowerTest, FoldConstantsOptionRemovesAPermutation) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  const std::string options = " -o " + program + " --summary";
  ASSERT_THAT(pte_lower(model() + options).out, HasSubstr("permute"));
  const CommandResult result = pte_lower(model() + options + " --fold-constants");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::Not(HasSubstr("permute")));
  expect_outputs(program);
}

TEST(PteLowerTest, ExplainOptionListsOptimizations) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  const std::string options = " --explain -o " + program;
  EXPECT_THAT(pte_lower(model() + options).out, testing::Not(HasSubstr("Optimized")));
  const CommandResult result = pte_lower(model() + options + " --optimize");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Optimized:\n"));
  EXPECT_THAT(result.out, HasSubstr("x call with constant inputs folded ["));
  expect_outputs(program);
}

TEST(PteLowerTest, SummaryCountsDelegatesInBranches) {
  VITRINE_CORPUS_CASE(folder, "cond_model");
  const ScratchFolder scratch;
  const std::string options =
      (folder / "model.pt2").string() + " --summary -o " + (scratch / "m.pte").string();
  const CommandResult plain = pte_lower(options + " --backend xnnpack");
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("In branches")));
  const CommandResult result = pte_lower(options + " --backend xnnpack-branches");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Total delegated subgraphs: 1\n"));
  // One branch delegates sin and add; the other delegates mul, cos and sub.
  EXPECT_THAT(result.out,
              HasSubstr("In branches: 2 more delegated subgraphs, 5 more delegated nodes\n"));
}

TEST(PteLowerTest, LowersSeveralMethodsToOneProgram) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  const CommandResult result =
      pte_lower("--method encode=" + model() + " --method decode=" + model() + " -o " + program +
                " --summary");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(result.out.find("decode\n"), result.out.find("encode\n"));
  for (const char* method : {"encode", "decode"}) {
    EXPECT_EQ(executor_runner(program + " --method_name " + method).exit_code, 0);
  }
}

TEST(PteLowerTest, MetadataBecomesMethods) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  ASSERT_EQ(pte_lower(model() +
                      " --metadata get_max_seq_len=2048 --metadata get_eos_ids=2,7 --metadata "
                      "use_kv_cache=true --metadata get_head_dim=0.5 -o " +
                      program)
                .exit_code,
            0);
  const auto outputs = [&](const std::string& method) {
    return executor_runner("--print_output all --method_name " + method + " " + program).out;
  };
  EXPECT_THAT(outputs("get_max_seq_len"), HasSubstr("output 0: 2048"));
  EXPECT_THAT(outputs("get_eos_ids"), HasSubstr("output 0: 2\noutput 1: 7"));
  EXPECT_THAT(outputs("use_kv_cache"), HasSubstr("output 0: true"));
  EXPECT_THAT(outputs("get_head_dim"), HasSubstr("output 0: 0.5"));
  EXPECT_EQ(executor_runner(program).exit_code, 0);
}

TEST(PteLowerTest, DynamicOptionNarrowsBounds) {
  const ScratchFolder scratch;
  const std::string wide = (scratch / "wide.pte").string();
  const std::string narrow = (scratch / "narrow.pte").string();
  ASSERT_EQ(pte_lower(symbolic_model() + " -o " + wide).exit_code, 0);
  const CommandResult result = pte_lower(symbolic_model() + " --dynamic x.0=1:2 -o " + narrow);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(executor_runner("--print_output summary " + wide).out, HasSubstr("output 0: f32[8"));
  EXPECT_THAT(executor_runner("--print_output summary " + narrow).out,
              HasSubstr("output 0: f32[2"));
}

// The tolerance is large because an int4 step is 1/15 of a group's range.
TEST(PteLowerTest, QuantizedOutputsAreCloseToFloatOutputs) {
  for (const char* backend : {"none", "xnnpack"}) {
    const ScratchFolder scratch;
    const std::string program = (scratch / "m.pte").string();
    const CommandResult result =
        pte_lower(model() + " --quantize 8da4w:8 --backend " + backend + " --graph -o " + program);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr("parametrizations_weight_original0"));
    expect_outputs(program, "", 0.15);
  }
}

TEST(PteLowerTest, ReportsLayersThatAreNotQuantized) {
  const ScratchFolder scratch;
  const CommandResult result =
      pte_lower(model() + " --quantize 8da4w:16:affine -o " + (scratch / "m.pte").string());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "pte_lower: not quantized: 2.weight: its row length 8 is not a multiple of the group "
            "size 16\n");
}

TEST(PteLowerTest, GraphsShowTheInsideOfDelegates) {
  const ScratchFolder scratch;
  const CommandResult result =
      pte_lower(model() + " --backend xnnpack --graph --graphviz " + (scratch / "m.dot").string() +
                " -o " + (scratch / "m.pte").string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("    lowered graph():\n"));
  EXPECT_THAT(text_of(scratch / "m.dot"), HasSubstr("digraph"));
}

struct BadCommand {
  const char* name;
  std::string arguments;
  const char* expected_error;
};

class BadLoweringTest : public testing::TestWithParam<BadCommand> {};

TEST(PteLowerTest, RejectsOutputsThatOverwriteInputsOrOtherOutputs) {
  const ScratchFolder scratch;
  const auto copy = scratch / "model.pt2";
  std::filesystem::copy_file(model(), copy);
  const auto size = std::filesystem::file_size(copy);
  const CommandResult result = pte_lower(copy.string() + " -o " + copy.string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("model.pt2: is an input, which the output would overwrite"));
  EXPECT_EQ(std::filesystem::file_size(copy), size);

  const std::string program = (scratch / "m.pte").string();
  const CommandResult twice =
      pte_lower(copy.string() + " -o " + program + " --etrecord " + program);
  EXPECT_THAT(twice.err, HasSubstr("m.pte: is given for two outputs"));
  EXPECT_FALSE(std::filesystem::exists(program));
}

TEST_P(BadLoweringTest, FailsWithTheExpectedError) {
  const ScratchFolder scratch;
  const auto program = scratch / "m.pte";
  const CommandResult result = pte_lower(GetParam().arguments + " -o " + program.string());
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr(GetParam().expected_error));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(program));
}

INSTANTIATE_TEST_SUITE_P(
    PteLower, BadLoweringTest,
    testing::Values(
        BadCommand{"NoModel", "", "no model was given"},
        BadCommand{"MissingFile", "/nowhere/model.pt2", "/nowhere/model.pt2"},
        BadCommand{"NotAnArchive", (samples_dir() / "linear_relu/input_0.bin").string(),
                   "input_0.bin"},
        BadCommand{"NoSuchBackend", model() + " --backend tpu", "none, xnnpack"},
        BadCommand{"NoneWithAnotherBackend", model() + " --backend none --backend xnnpack", "none"},
        BadCommand{"UnknownBackendOption", model() + " --backend xnnpack --backend-option bf16",
                   "the chosen backends (xnnpack) have no such option"},
        BadCommand{"UnknownOperator", model() + " --backend xnnpack --exclude-op con",
                   "no such operator; its operators are aten."},
        BadCommand{"BadMethod", "--method forward", "NAME=FILE"},
        BadCommand{"MethodTwice", model() + " --method forward=" + model(),
                   "already the method forward"},
        BadCommand{"OddAlignment", model() + " --segment-alignment 100", "power of two"},
        BadCommand{"ZeroAlignment", model() + " --segment-alignment 0", "power of two"},
        BadCommand{"BadMetadata", model() + " --metadata get_n=many", "neither a number nor"},
        BadCommand{"MetadataOfAMethod", model() + " --metadata forward=1",
                   "method forward is defined twice"},
        BadCommand{"BadBounds", model() + " --dynamic x=1", "NAME=MIN:MAX"},
        BadCommand{"BadMaxSize", model() + " --max-size x.0", "expected NAME=N"},
        BadCommand{"BadOperator", model() + " --operator 'my::op(Tensor x)'", "expected \" -> \""},
        BadCommand{"OperatorNotCalled", model() + " --operator 'my::op(Tensor x) -> Tensor'",
                   "the model does not call my::op"},
        BadCommand{"StaticSize", model() + " --dynamic input.0=1:2", "this size is always 4"},
        BadCommand{"UnknownScheme", model() + " --quantize int7", "unknown scheme \"int7\""},
        BadCommand{"NoCalibrationData", model() + " --quantize int8",
                   "static int8 needs calibration data (--calibrate)"},
        BadCommand{"CalibrationWithoutInt8", model() + " --calibrate .",
                   "--calibrate needs --quantize int8"},
        BadCommand{"KeepWithoutInt8", model() + " --keep fc=float", "needs --quantize int8"},
        BadCommand{"KeepOfAnUnknownPart", model() + " --quantize int8_dynamic --keep fcc=float",
                   "\"fcc\" matches no module, module type or operator of the model"},
        BadCommand{"UnknownRule", model() + " --quantize 8da4w:8:best",
                   "expected a group size, hqq or affine"},
        BadCommand{"TextAfterTheRule", model() + " --quantize 8da4w:8:hqq:9",
                   "unexpected \"9\" after the rule"},
        BadCommand{"NegativeGroup", model() + " --quantize 8da4w:-8", "found \"-8\""},
        BadCommand{"NoBits", model() + " --quantize embedding", "2, 4 or 8 bits"},
        BadCommand{"OddBits", model() + " --quantize 8da4w,embedding:3:32", "2, 4 or 8 bits"},
        BadCommand{"SchemeTwice", model() + " --quantize 8da4w:8,8da4w:8",
                   "the scheme 8da4w is set twice"},
        BadCommand{"NoScheme", model() + " --quantize ,", "unknown scheme \"\""},
        BadCommand{"GroupSizeFitsNoLayer", model() + " --quantize 8da4w:7",
                   "is not a multiple of the group size 7; choose a group size that divides"},
        BadCommand{"NoEmbedding", model() + " --quantize embedding:4", "no embedding has a float"},
        BadCommand{"NoAttention", model() + " --attention custom_sdpa",
                   "the model has no aten.scaled_dot_product_attention"},
        BadCommand{"UnknownAttention", model() + " --attention flash", "flash"},
        BadCommand{"UnknownDynamicSize", symbolic_model() + " --dynamic y.0=1:2", "x.0"},
        BadCommand{"WiderBounds", symbolic_model() + " --dynamic x.0=1:1000",
                   "wider than the bounds of the export"}),
    [](const auto& test) { return test.param.name; });

TEST(PteLowerTest, HelpHasAtMostEightyFiveLines) {
  const CommandResult result = pte_lower("--help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 85);
}

}  // namespace
}  // namespace vitrine::test
