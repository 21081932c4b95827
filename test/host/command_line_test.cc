#include "host/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

// What stands on stderr; empty if the command line is right.
std::string error_of(std::vector<std::string> arguments) {
  CLI::App app("A tool.", "tool");
  std::string file;
  int width = 0;
  size_t runs = 1;
  double ratio = 1;
  app.add_option("--output", file)->required();
  app.add_option("--width,--columns", width);
  app.add_option("--runs", runs)->check(at_least(1));
  app.add_option("--ratio", ratio)->check(positive());
  arguments.insert(arguments.begin(), "tool");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int exit_code = 0;
  testing::internal::CaptureStderr();
  const bool goes_on = parse_command_line(
      app, static_cast<int>(argv.size()), argv.data(),
      [&] {
        if (width < 0) throw CLI::ValidationError("--width", "is negative");
      },
      &exit_code);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(goes_on, text.empty());
  EXPECT_EQ(goes_on, exit_code == 0);
  return text;
}

TEST(CommandLine, UnknownOptionsNameTheNearest) {
  EXPECT_THAT(error_of({"--output", "x", "--witdh", "80"}),
              HasSubstr("--witdh is unknown; did you mean --width?"));
  EXPECT_THAT(error_of({"--output", "x", "--colums=80"}),
              HasSubstr("--colums is unknown; did you mean --columns?"));
  // The mistake is named where it makes another option missing.
  EXPECT_THAT(error_of({"--outptu", "x"}), HasSubstr("did you mean --output?"));
}

TEST(CommandLine, NothingIsNamedWhereNothingIsNear) {
  EXPECT_THAT(error_of({"--output", "x", "--verbose"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(error_of({"--output", "x", "--width", "-1"}),
              AllOf(HasSubstr("is negative"), Not(HasSubstr("did you mean"))));
  EXPECT_EQ(error_of({"--output", "x", "--width", "80"}), "");
}

TEST(CommandLine, LimitsOfNumbersAreNamedInFewWords) {
  EXPECT_THAT(error_of({"--output", "x", "--runs", "0"}),
              HasSubstr("--runs: 0: expected 1 or more"));
  EXPECT_THAT(error_of({"--output", "x", "--runs", "-1"}),
              HasSubstr("--runs: -1: expected 1 or more"));
  EXPECT_THAT(error_of({"--output", "x", "--ratio", "0"}),
              HasSubstr("--ratio: 0: expected a number above 0"));
  EXPECT_THAT(error_of({"--output", "x", "--ratio", "nan"}), HasSubstr("expected a number"));
  EXPECT_THAT(error_of({"--output", "x", "--runs", "many"}), HasSubstr("--runs"));
  EXPECT_EQ(error_of({"--output", "x", "--runs", "1", "--ratio", "1e-9"}), "");
}

TEST(RunTool, GivesTheExitCodeAndReportsExceptions) {
  EXPECT_EQ(run_tool("tool", [] { return 2; }), 2);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_tool("tool", []() -> int { throw ToolError("a.pte: is damaged"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tool: a.pte: is damaged\n");
}

}  // namespace
}  // namespace vitrine::tools
