#include "tools/common/cpu_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tools/common/command_line.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kMs = 1e6;

TEST(CpuUse, ReportsProcessesThatGotTooFewProcessors) {
  EXPECT_THAT(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 100 * kMs}, 1, 4),
              HasSubstr("the process got 25 % of a processor"));
  EXPECT_THAT(
      cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 500 * kMs, .waited_ns = 200 * kMs}, 2, 4),
      HasSubstr("during 50 % of the runs"));
  EXPECT_THAT(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 400 * kMs}, 2, 1),
              HasSubstr("2 threads share 1 processor; "));
}

TEST(CpuUse, AcceptsAProcessThatWaitedForAtMostOneTimeSlice) {
  EXPECT_EQ(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 396 * kMs, .waited_ns = 4 * kMs}, 1, 1),
            "");
  EXPECT_EQ(cpu_shortage({.wall_ns = 5 * kMs, .cpu_ns = 1 * kMs, .waited_ns = 4 * kMs}, 1, 1), "");
  EXPECT_EQ(cpu_shortage({}, 1, 1), "");
}

TEST(CpuUse, MeasuresASleepingProcess) {
  const CpuMeter meter;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const CpuUse use = meter.read();
  EXPECT_GE(use.wall_ns, 50 * kMs);
  EXPECT_LT(use.cpu_ns, use.wall_ns / 2);
  EXPECT_GE(allowed_processors(), 1u);
}

// Parses a command line of the tool, which requires the option --output. Returns the text on
// stderr, which is empty if the command line is correct.
std::string error_of(std::vector<std::string> arguments, bool has_output = true) {
  CLI::App app("A tool.", "tool");
  std::string file;
  int width = 0;
  size_t runs = 1;
  double ratio = 1;
  app.add_option("--output", file)->required();
  app.add_option("--width,--columns", width);
  app.add_option("--runs", runs)->check(at_least(1));
  app.add_option("--ratio", ratio)->check(positive());
  app.add_option("--two_words", width);
  app.add_option("--other-words", width);
  std::vector<std::string> files;
  as_files(app.add_option("--files", files));
  if (has_output) arguments.insert(arguments.begin(), {"--output", "x"});
  arguments.insert(arguments.begin(), "tool");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int exit_code = 0;
  testing::internal::CaptureStderr();
  const bool is_valid = parse_command_line(
      app, static_cast<int>(argv.size()), argv.data(),
      [&] {
        if (width < 0) throw CLI::ValidationError("--width", "is negative");
        if (width == 7) throw ToolError("seven");
      },
      &exit_code);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(is_valid, text.empty());
  EXPECT_EQ(exit_code, is_valid ? 0 : kExitUsage);
  return text;
}

TEST(CommandLine, SuggestsTheMostSimilarOption) {
  EXPECT_THAT(error_of({"--witdh", "80"}), HasSubstr("--witdh is unknown; did you mean --width?"));
  EXPECT_THAT(error_of({"--colums=80"}), HasSubstr("--colums is unknown; did you mean --columns?"));
  // The unknown option is reported even though a required option is missing too.
  EXPECT_THAT(error_of({"--outptu", "x"}, false), HasSubstr("did you mean --output?"));
}

TEST(CommandLine, SuggestsNothingIfNoOptionIsSimilar) {
  EXPECT_THAT(error_of({"--verbose"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(error_of({"--width", "-1"}),
              AllOf(HasSubstr("is negative"), Not(HasSubstr("did you mean"))));
  EXPECT_EQ(error_of({"--width", "80"}), "");
}

TEST(CommandLine, AcceptsDashesForUnderscores) {
  EXPECT_EQ(error_of({"--two-words", "1"}), "");
  EXPECT_EQ(error_of({"--two_words=1"}), "");
  EXPECT_EQ(error_of({"--other_words=1"}), "");
}

TEST(CommandLine, ExplainsUnexpectedFileArguments) {
  EXPECT_THAT(error_of({"b.bin"}), HasSubstr("b.bin: unexpected argument"));
  EXPECT_THAT(error_of({"--files", "a.bin", "b.bin"}),
              HasSubstr("separate the files of one option by commas: a.bin,b.bin"));
}

TEST(CommandLine, ReportsErrorsOfTheOptionCheckAsUsageErrors) {
  EXPECT_THAT(error_of({"--width", "7"}), HasSubstr("error: seven"));
}

TEST(CommandLine, RejectsNumbersOutOfRange) {
  EXPECT_THAT(error_of({"--runs", "0"}), HasSubstr("--runs: 0: expected 1 or more"));
  EXPECT_THAT(error_of({"--runs", "-1"}), HasSubstr("--runs: -1: expected 1 or more"));
  EXPECT_THAT(error_of({"--ratio", "0"}), HasSubstr("--ratio: 0: expected a number above 0"));
  EXPECT_THAT(error_of({"--ratio", "nan"}), HasSubstr("expected a number"));
  EXPECT_THAT(error_of({"--runs", "many"}), HasSubstr("--runs"));
  EXPECT_EQ(error_of({"--runs", "1", "--ratio", "1e-9"}), "");
}

TEST(RunTool, ReturnsTheExitCodeAndReportsExceptions) {
  EXPECT_EQ(run_tool("tool", [] { return 2; }), 2);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_tool("tool", []() -> int { throw ToolError("a.pte: is damaged"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tool: error: a.pte: is damaged\n");
  set_program_name("");  // for other tests of this process
}

}  // namespace
}  // namespace vitrine::tools
