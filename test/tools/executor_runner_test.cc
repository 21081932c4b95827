#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "formats/etdump/etdump_reader.h"
#include "test/support/corpus.h"
#include "test/support/expect_near.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "tools/common/files.h"
#include "tools/common/profile_report.h"
#include "vitrine/version.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

class ExecutorRunnerTest : public testing::Test {
 protected:
  const ScratchFolder scratch;
};

// ExecuTorch's exporter dropped the instruction that writes output 1.
TEST_F(ExecutorRunnerTest, RefusesProgramsThatDoNotWriteAnOutput) {
  EXPECT_THAT(executor_runner(sample("lost_output/model.pte")),
              Exits(1, HasSubstr("outputs[1]: no instruction writes it; a delegate "
                                 "(XnnpackBackend) gets it as argument 3")));
  EXPECT_THAT(executor_runner(sample("lost_output/model.pte") + " --accept_unwritten_outputs"),
              Exits(0, HasSubstr("warning: forward, outputs[1]: no instruction writes it")));
}

TEST_F(ExecutorRunnerTest, OutputsMatchPyTorch) {
  expect_near(first_output(sample("linear_relu/model.pte") + " --inputs " +
                           sample("linear_relu/input_0.bin")),
              read_floats(sample("linear_relu/expected_0.bin")));
}

TEST_F(ExecutorRunnerTest, AcceptsTheModelAsAnOptionOrAfterTheInputs) {
  succeeded(executor_runner("--model_path " + sample("linear_relu/model.pte")));
  succeeded(executor_runner("--inputs " + sample("linear_relu/input_0.bin") + " " +
                            sample("linear_relu/model.pte")));
}

// The sample multiplies matrices in a loop while its input is false.
TEST_F(ExecutorRunnerTest, CtrlCCancelsTheExecution) {
  tools::write_file(scratch / "false.bin", std::vector<std::byte>(1));
  EXPECT_THAT(
      run_tool("timeout --preserve-status --signal INT --kill-after 60 1 " VITRINE_EXECUTOR_RUNNER,
               sample("endless_loop/model.pte") + " --num_executions 1000000 --inputs " +
                   (scratch / "false.bin").string()),
      Exits(128 + SIGINT, HasSubstr("executor_runner: error: Canceled (0x40): forward, chain 0")));
}

TEST_F(ExecutorRunnerTest, TimeoutEndsTheExecution) {
  tools::write_file(scratch / "false.bin", std::vector<std::byte>(1));
  const std::string loop =
      sample("endless_loop/model.pte") + " --inputs " + (scratch / "false.bin").string();
  for (const char* mode : {"", "--profile ", "--profile --warmup 0 ", "--profile --threads 1,2 "}) {
    EXPECT_THAT(executor_runner(mode + loop + " --timeout 0.05"),
                Exits(1,
                      testing::AllOf(HasSubstr("error: OutOfResources (0x25): forward, chain 0"),
                                     HasSubstr("allows; raise --timeout (0.05 s)")),
                      ""))
        << mode;
  }
  const CommandResult compared = executor_runner("--profile --timeout 0.05 --compare " + loop +
                                                 " " + sample("endless_loop/model.pte"));
  EXPECT_THAT(compared.err, HasSubstr("raise --timeout (0.05 s)"));
}

TEST_F(ExecutorRunnerTest, TimeoutDoesNotAffectShorterExecutions) {
  succeeded(executor_runner(sample("add_mul/model.pte") + " --timeout 1000"));
  succeeded(executor_runner(sample("add_mul/model.pte") + " --timeout 1e300"));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ToolOutputTest, EscapeSequencesInFilesDoNotReachTheTerminal) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  const std::string tokenizer = (scratch / "tokenizer.json").string();
  tools::write_file(
      program, replaced(read_text(sample("add_mul/model.pte")), "aten::add", "\x1b[31m\xff\x07::"));
  tools::write_file(tokenizer, R"({"model": {"type": "\u001b[31m\u0007", "vocab": {}}})");
  const CommandResult results[] = {
      executor_runner(program), run_tool(VITRINE_RUN, program),
      run_tool(VITRINE_LLM_RUNNER, "--model_path " + sample("kjv_8da4w/model.pte") +
                                       " --prompt x --tokenizer_path " + tokenizer)};
  for (const CommandResult& result : results) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("?[31m"));
    for (const char c : result.out + result.err) EXPECT_TRUE(c == '\n' || c >= ' ') << result.err;
  }
}

TEST_F(ExecutorRunnerTest, AcceptsSmallerShapesOfDynamicInputs) {
  const std::string folder = "dynamic_batch_xnnpack/";
  const nlohmann::json info = read_json(sample(folder + "case.json"));
  for (const nlohmann::json& call : info.at("calls")) {
    const auto& input = call["inputs"][0];
    std::string shape;
    for (const int size : input["shape"])
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    expect_near(first_output(sample(folder + "model.pte") + " --inputs " +
                             sample(folder + std::string(input["file"])) + ":" + shape),
                read_floats(sample(folder + std::string(call["outputs"][0]["file"]))));
  }
}

TEST_F(ExecutorRunnerTest, SameSeedGivesSameRandomInputs) {
  const std::string command = sample("digits_xnnpack/model.pte") + " --seed ";
  const std::vector<float> first = first_output(command + "1");
  EXPECT_EQ(first_output(command + "1"), first);
  EXPECT_NE(first_output(command + "2"), first);
}

TEST_F(ExecutorRunnerTest, PrintOutputOptionAcceptsNoneSummaryAndAll) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_THAT(executor_runner(model).out, HasSubstr("output 0: f32[1,10]"));
  EXPECT_EQ(executor_runner(model + " --print_output none").out, "");
  EXPECT_EQ(executor_runner(model + " --print_output all").out.find("…"), std::string::npos);
}

TEST_F(ExecutorRunnerTest, FixedThreadsDoNotChangeResults) {
  const std::string command =
      sample("digits_xnnpack/model.pte") + " --print_output all --cpu_threads ";
  const CommandResult one = executor_runner(command + "1");
  EXPECT_THAT(executor_runner(command + "2 --fixed_threads"), Prints(one.out));
}

TEST_F(ExecutorRunnerTest, WritesReadableTrace) {
  succeeded(executor_runner(sample("add_mul/model.pte") +
                            " --num_executions 3 --warmup 2 --etdump_path " +
                            (scratch / "trace").string()));
  const etdump::EtDump dump = etdump::read_etdump(scratch / "trace");
  size_t executions = 0;
  for (const etdump::Block& block : dump.blocks) executions += block.name == "Execute" ? 1 : 0;
  EXPECT_EQ(executions, 3u);
}

TEST_F(ExecutorRunnerTest, CountsTraceRecordsThatDoNotFit) {
  const CommandResult result =
      succeeded(executor_runner("--profile --format json --num_executions 20 --trace_records 40 " +
                                sample("add_mul/model.pte")));
  EXPECT_GT(nlohmann::json::parse(result.out)["dropped_records"].get<int>(), 0);
}

TEST_F(ExecutorRunnerTest, WritesReportToFile) {
  EXPECT_THAT(
      executor_runner("--profile --format csv --output " + (scratch / "profile.csv").string() +
                      " " + sample("add_mul/model.pte")),
      Prints(""));
  EXPECT_GT(std::filesystem::file_size(scratch / "profile.csv"), 0u);
}

TEST_F(ExecutorRunnerTest, ReportsInvalidCommandLines) {
  const std::string model = sample("add_mul/model.pte");
  const std::string linear = sample("linear_relu/model.pte");
  const std::string input = sample("linear_relu/input_0.bin");
  const std::pair<std::string, const char*> commands[] = {
      {"", "model"},
      {"/nowhere/model.pte", "/nowhere/model.pte"},
      {sample("mv2_025_xnnpack/input_0.bin"), "not an ExecuTorch program"},
      {model + " --method_name backward", "forward"},
      {linear + " --inputs " + model, "bytes"},
      {linear + " --inputs " + input + "," + input, "2 files were given, but the method has 1"},
      {linear + " --inputs " + input + ":2y3", "shape"},
      {"--profile --format xml " + model,
       "--format: xml not in {csv,html,json,jsonl,svg,table,timeline}"},
      {"--output report " + model, "--output: needs --profile"},
      {"--profile --fail_above nan --compare " + model + " " + model,
       "nan: expected a number above 0"},
      {model + " --num_executions 0", "--executions: 0: expected 1 to 1000000000"},
      {"--timeout 0 " + model, "--timeout: 0: expected a number above 0"},
      {"--etdump_path " + model + " " + model,
       "model.pte: is an input, which the output would overwrite"},
      {"--profile --etrecord " + model + " " + model, "add_mul/model.pte"},
  };
  for (const auto& [arguments, error] : commands) {
    EXPECT_THAT(executor_runner(arguments), Exits(testing::Ne(0), HasSubstr(error), ""))
        << arguments;
  }
}

TEST_F(ExecutorRunnerTest, FailedRunKeepsOldOutput) {
  tools::write_file(scratch / "y-0.bin", std::string_view("old"));
  EXPECT_THAT(executor_runner(sample("linear_relu/model.pte") + " --inputs " +
                              sample("linear_relu/input_0.bin") + ":1000x1000 --output_file " +
                              (scratch / "y").string()),
              Exits(testing::Ne(0), testing::_));
  EXPECT_EQ(tools::read_file(scratch / "y-0.bin").size(), 3u);
}

// If the disk is full, writing to standard output or to a trace must fail with an error. No partial
// file may remain.
TEST_F(ExecutorRunnerTest, ReportsFullDiskAndKeepsOldFiles) {
  tools::write_file(scratch / "etdump", std::string_view("old"));
  const std::string run = std::string(VITRINE_EMULATOR " ") + VITRINE_EXECUTOR_RUNNER + " " +
                          sample("linear_relu/model.pte");
  const auto expect_error = [&](const std::string& command, const std::string& what) {
    const auto log = scratch / "err";
    EXPECT_NE(std::system((command + " 2>" + log.string()).c_str()), 0);
    EXPECT_THAT(read_text(log), HasSubstr(what));
    std::filesystem::remove(log);
  };
  if (std::filesystem::exists("/dev/full")) {
    expect_error(run + " --profile >/dev/full", "standard output: cannot write");
    expect_error(run + " --etdump_path /dev/full", "/dev/full: cannot write: No space left");
  }
  // The limit is one block, 512 or 1024 bytes. The error message fits, but the trace does not.
  expect_error(
      "trap '' XFSZ; ulimit -f 1; " + run + " --etdump_path " + (scratch / "etdump").string(),
      "etdump: cannot write: File too large");
  EXPECT_EQ(tools::read_file(scratch / "etdump").size(), 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator((scratch / "").parent_path()), {}),
            1);
}

TEST_F(ExecutorRunnerTest, RefusesTheRecordOfAnotherProgram) {
  EXPECT_THAT(executor_runner("--profile " + sample("digits_xnnpack/model.pte") + " --etrecord " +
                              sample("linear_relu/etrecord.bin")),
              Exits(1, HasSubstr("is not the record of this program: "), ""));
}

TEST_F(ExecutorRunnerTest, LegendNeedsNoModel) {
  const CommandResult result = succeeded(executor_runner("--legend"));
  for (const char* term : {"tracing", "load", "init", "steady", "xnn 0", "(of 25)"}) {
    EXPECT_THAT(result.out, HasSubstr(term));
  }
}

// Keeps the test's processor busy until the object is destroyed. Child processes run on the same
// processor.
class BusyProcessor {
 public:
  explicit BusyProcessor(int threads) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!is_over_) {
        }
      });
    }
  }
  ~BusyProcessor() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

TEST_F(ExecutorRunnerTest, ProfileOnABusyProcessorBeginsWithAWarning) {
  const BusyProcessor busy(3);
  const CommandResult result = succeeded(executor_runner(
      "--profile " + sample("mv2_025_xnnpack/model.pte") + " --cpu_threads 1 --num_executions 50"));
  EXPECT_EQ(result.out.rfind("warning: the process got ", 0), 0u) << result.out.substr(0, 300);
}

TEST_F(ExecutorRunnerTest, ProfileShowsInputsVersionAndModelDigest) {
  const std::string model = sample("linear_relu/model.pte");
  const std::string random = executor_runner("--profile " + model).out;
  EXPECT_THAT(random, HasSubstr("inputs: random (seed 0) · vitrine " VITRINE_VERSION));
  EXPECT_THAT(random, HasSubstr(tools::model_digest(model)));
  const std::string given =
      executor_runner("--profile " + model + " --inputs " + sample("linear_relu/input_0.bin")).out;
  EXPECT_THAT(given, HasSubstr("inputs: 1 file · "));
  EXPECT_THAT(given, testing::ContainsRegex("20[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+ UTC"));
}

TEST_F(ExecutorRunnerTest, HelpHasAtMostOneHundredTenLines) {
  EXPECT_LE(std::ranges::count(succeeded(executor_runner("--help")).out, '\n'), 110);
}

}  // namespace
}  // namespace vitrine::test
