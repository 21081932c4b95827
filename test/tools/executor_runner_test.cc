// executor_runner's command line, on the samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/etdump/etdump_reader.h"
#include "host/files.h"
#include "test/support/corpus.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

std::vector<float> floats(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = tools::read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-4 + 1e-4 * std::abs(expected[i])) << "element " << i;
  }
}

TEST(ExecutorRunnerTest, WritesTheOutputsThatPyTorchGives) {
  const ScratchFolder scratch;
  const CommandResult result = executor_runner(sample("linear_relu/model.pte") + " --inputs " +
                                               sample("linear_relu/input_0.bin") +
                                               " --output_file " + (scratch / "y").string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_near(floats(scratch / "y-0.bin"), floats(samples_dir() / "linear_relu/expected_0.bin"));
}

TEST(ExecutorRunnerTest, TakesAModelPathOption) {
  EXPECT_EQ(executor_runner("--model_path " + sample("linear_relu/model.pte")).exit_code, 0);
}

TEST(ExecutorRunnerTest, TheModelMayFollowTheInputs) {
  const CommandResult result = executor_runner("--inputs " + sample("linear_relu/input_0.bin") +
                                               " " + sample("linear_relu/model.pte"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(ExecutorRunnerTest, TakesSmallerShapesOfDynamicInputs) {
  const ScratchFolder scratch;
  const std::string folder = "dynamic_batch_xnnpack/";
  const auto info = nlohmann::json::parse(std::ifstream(sample(folder + "case.json")));
  for (size_t call = 0; call < info["calls"].size(); ++call) {
    const auto& input = info["calls"][call]["inputs"][0];
    std::string shape;
    for (const int size : input["shape"])
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    const CommandResult result = executor_runner(
        sample(folder + "model.pte") + " --inputs " + sample(folder + std::string(input["file"])) +
        ":" + shape + " --output_file " + (scratch / "y").string());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_near(floats(scratch / "y-0.bin"),
                floats(sample(folder + std::string(info["calls"][call]["outputs"][0]["file"]))));
  }
}

TEST(ExecutorRunnerTest, TheSameSeedGivesTheSameRandomInputs) {
  const ScratchFolder scratch;
  const std::string command =
      sample("digits_xnnpack/model.pte") + " --output_file " + (scratch / "").string();
  ASSERT_EQ(executor_runner(command + "a --seed 1").exit_code, 0);
  ASSERT_EQ(executor_runner(command + "b --seed 1").exit_code, 0);
  ASSERT_EQ(executor_runner(command + "c --seed 2").exit_code, 0);
  EXPECT_EQ(floats(scratch / "a-0.bin"), floats(scratch / "b-0.bin"));
  EXPECT_NE(floats(scratch / "a-0.bin"), floats(scratch / "c-0.bin"));
}

TEST(ExecutorRunnerTest, PrintsOutputsAsAsked) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_THAT(executor_runner(model).out, HasSubstr("output 0: f32[1,10]"));
  EXPECT_EQ(executor_runner(model + " --print_output none").out, "");
  EXPECT_EQ(executor_runner(model + " --print_output all").out.find("…"), std::string::npos);
}

TEST(ExecutorRunnerTest, AsksForARun) {
  const CommandResult result = executor_runner(sample("add_mul/model.pte") + " --num_executions 0");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("--num_executions: 0: expected 1 or more"));
}

TEST(ExecutorRunnerTest, WritesATraceThatItsReaderTakes) {
  const ScratchFolder scratch;
  const CommandResult result = executor_runner(sample("add_mul/model.pte") +
                                               " --num_executions 3 --warmup 2 --etdump_path " +
                                               (scratch / "trace").string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const etdump::EtDump dump = etdump::read_etdump(scratch / "trace");
  size_t executions = 0;
  for (const etdump::Block& block : dump.blocks) executions += block.name == "Execute" ? 1 : 0;
  EXPECT_EQ(executions, 3u);
}

TEST(ExecutorRunnerTest, CountsWhatTheTraceHasNoRoomFor) {
  const CommandResult result =
      executor_runner("--profile --format json --num_executions 20 --trace_records 40 " +
                      sample("add_mul/model.pte"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(nlohmann::json::parse(result.out)["dropped_records"].get<int>(), 0);
}

TEST(ExecutorRunnerTest, WritesTheReportToAFile) {
  const ScratchFolder scratch;
  const CommandResult result =
      executor_runner("--profile --format csv --output " + (scratch / "profile.csv").string() +
                      " " + sample("add_mul/model.pte"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_GT(std::filesystem::file_size(scratch / "profile.csv"), 0u);
}

struct BadCommand {
  const char* name;
  std::string arguments;
  const char* said;
};

class BadCommandTest : public testing::TestWithParam<BadCommand> {};

TEST_P(BadCommandTest, FailsAndSaysWhy) {
  const CommandResult result = executor_runner(GetParam().arguments);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr(GetParam().said));
  EXPECT_EQ(result.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    ExecutorRunner, BadCommandTest,
    testing::Values(
        BadCommand{"NoModel", "", "model"},
        BadCommand{"MissingFile", "/nowhere/model.pte", "/nowhere/model.pte"},
        BadCommand{"NotAProgram", sample("mv2_025_xnnpack/input_0.bin"),
                   "not an ExecuTorch program"},
        BadCommand{"NoSuchMethod", sample("add_mul/model.pte") + " --method_name backward",
                   "forward"},
        BadCommand{"WrongInputSize",
                   sample("linear_relu/model.pte") + " --inputs " + sample("add_mul/model.pte"),
                   "bytes"},
        BadCommand{"TooManyInputs",
                   sample("linear_relu/model.pte") + " --inputs " +
                       sample("linear_relu/input_0.bin") + "," + sample("linear_relu/input_0.bin"),
                   "2 files for 1"},
        BadCommand{"BadShape",
                   sample("linear_relu/model.pte") + " --inputs " +
                       sample("linear_relu/input_0.bin") + ":2y3",
                   "shape"},
        BadCommand{"BadFormat", "--profile --format xml " + sample("add_mul/model.pte"),
                   "--format: xml not in {csv,html,json,jsonl,table,timeline}"},
        BadCommand{"ReportOfNothing", "--output report " + sample("add_mul/model.pte"),
                   "--output: needs --profile"},
        BadCommand{"EndlessRatio",
                   "--profile --fail_above nan --compare " + sample("add_mul/model.pte") + " " +
                       sample("add_mul/model.pte"),
                   "nan: expected a number above 0"},
        BadCommand{
            "OutputOverTheModel",
            "--etdump_path " + sample("add_mul/model.pte") + " " + sample("add_mul/model.pte"),
            "model.pte: is read, and would be overwritten"},
        BadCommand{"NotARecord",
                   "--profile --etrecord " + sample("add_mul/model.pte") + " " +
                       sample("add_mul/model.pte"),
                   "add_mul/model.pte"}),
    [](const auto& test) { return test.param.name; });

// A run that fails must leave an earlier output alone, and make no new one.
TEST(ExecutorRunnerTest, AFailedRunWritesNoOutput) {
  const ScratchFolder scratch;
  tools::write_file(scratch / "y-0.bin", std::string_view("old"));
  const CommandResult result = executor_runner(
      sample("linear_relu/model.pte") + " --inputs " + sample("linear_relu/input_0.bin") +
      ":1000x1000 --output_file " + (scratch / "y").string());
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(tools::read_file(scratch / "y-0.bin").size(), 3u);
}

// The file, the trace and standard output: a full disk gives an error and leaves no pieces.
TEST(ExecutorRunnerTest, AFullDiskIsAnError) {
  const ScratchFolder scratch;
  tools::write_file(scratch / "etdump", std::string_view("old"));
  const std::string run = std::string(VITRINE_EMULATOR " ") + VITRINE_EXECUTOR_RUNNER + " " +
                          sample("linear_relu/model.pte");
  const auto expect_told = [&](const std::string& command, const std::string& what) {
    const auto log = scratch / "err";
    EXPECT_NE(std::system((command + " 2>" + log.string()).c_str()), 0);
    const std::vector<std::byte> text = tools::read_file(log);
    EXPECT_THAT(std::string(reinterpret_cast<const char*>(text.data()), text.size()),
                HasSubstr(what));
    std::filesystem::remove(log);
  };
  if (std::filesystem::exists("/dev/full")) {
    expect_told(run + " --profile >/dev/full", "standard output: cannot write");
    expect_told(run + " --etdump_path /dev/full", "/dev/full: cannot write: No space left");
  }
  // A block of 512 or 1024 bytes: enough for the message, not for the trace.
  expect_told(
      "trap '' XFSZ; ulimit -f 1; " + run + " --etdump_path " + (scratch / "etdump").string(),
      "etdump: cannot write: File too large");
  EXPECT_EQ(tools::read_file(scratch / "etdump").size(), 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator((scratch / "").parent_path()), {}),
            1);
}

TEST(ExecutorRunnerTest, HelpFitsAPage) {
  const CommandResult result = executor_runner("--help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 80);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
}

}  // namespace
}  // namespace vitrine::test
