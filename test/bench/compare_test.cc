#include "bench/report/compare.h"

#include <gtest/gtest.h>

#include "test/bench/made_results.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

class BenchCompare : public ::testing::Test {
 protected:
  // Compares two files with one result each and returns the exit code.
  int exit_code(const Result& a, const Result& b, double bound = 1.1) {
    return compare_files(write("a.json", a), write("b.json", b), bound);
  }
  std::filesystem::path write(const std::string& name, const Result& result) {
    Results results;
    results.results.push_back(result);
    tools::write_file(folder_ / name, results_json(results));
    return folder_ / name;
  }
  static Result net(double p50, double noise = 0.01) {
    return test::made_result("models", "net", "xnnpack", p50, noise);
  }

 private:
  test::ScratchFolder folder_;
};

TEST_F(BenchCompare, ReturnsExitCodeTwoIfAFigureExceedsTheBound) {
  EXPECT_EQ(exit_code(net(100), net(100)), 0);
  EXPECT_EQ(exit_code(net(100), net(109)), 0);
  EXPECT_EQ(exit_code(net(100), net(112)), 2);
  EXPECT_EQ(exit_code(net(112), net(100)), 0);
  EXPECT_EQ(exit_code(net(100), net(112), 1.2), 0);
}

TEST_F(BenchCompare, IgnoresChangesWithinNoise) {
  EXPECT_EQ(exit_code(net(100, 0.1), net(115, 0.1)), 0);
  EXPECT_EQ(exit_code(net(100, 0.1), net(125, 0.1)), 2);
}

TEST_F(BenchCompare, RejectsFilesWithNoFiguresInCommon) {
  const Result other = test::made_result("models", "another", "xnnpack", 100);
  EXPECT_THROW(exit_code(net(100), other), tools::ToolError);
}

TEST_F(BenchCompare, ReportsMissingFiguresAndDifferentMachines) {
  Results a = test::made_results();
  Results b = test::made_results();
  b.facts["machine"] = "another";
  b.facts["pinned"] = "CPUs 0, 1";
  b.results.pop_back();
  b.results.pop_back();
  const ResultsComparison comparison = compare_results(a, b);
  EXPECT_EQ(comparison.changes.size(), 10U);
  EXPECT_EQ(comparison.only_a, std::vector<std::string>{"models/net/xnnpack/1"});
  ASSERT_EQ(comparison.notes.size(), 2U);
  EXPECT_NE(comparison.notes[0].find("another"), std::string::npos);
  EXPECT_NE(comparison.notes[1].find("B has CPUs 0, 1"), std::string::npos);
  const std::string text = comparison_text(comparison, 1.1);
  EXPECT_NE(text.find("10 figures, 10 of them unchanged"), std::string::npos) << text;
}

}  // namespace
}  // namespace vitrine::bench
