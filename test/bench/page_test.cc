#include "bench/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <utility>

#include "base/host_error.h"
#include "bench/report/number_texts.h"
#include "test/bench/made_results.h"

namespace vitrine::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BenchPage, MarkdownHasEveryTable) {
  const std::string page = page_markdown(test::made_results());
  EXPECT_THAT(page,
              HasSubstr("| net | xnnpack | 1 | 1.00 ms | 1.10 ms | 1.50 ms | 1.0 % | 0.50 |"));
  EXPECT_THAT(page, HasSubstr("| add | 1 | 541 elements | 1.00 k | 3.00 us | 3.00 | 0.67 |"));
  EXPECT_THAT(page, HasSubstr("| threads | copy | f32 | bf16 | i8 |"));
  EXPECT_THAT(page, HasSubstr("| 1 | 20.0 GB/s | 100 GFLOP/s | 200 GOP/s | 1.08 TOP/s |"));
  EXPECT_THAT(page, HasSubstr("| net\\|2 | xnnpack | outputs differ <b> |"));
}

TEST(BenchPage, DifferencesWithinNoiseAreInParentheses) {
  Results results;
  results.results.push_back(test::made_result("models", "net", "optimized", 1e6, 0.1));
  results.results.push_back(test::made_result("models", "net", "xnnpack", 1.1e6, 0.1));
  EXPECT_THAT(page_markdown(results), HasSubstr("(1.10)"));
}

TEST(BenchPage, SaysWhichCpusItRanOn) {
  Results results;
  results.facts = {{"cores", "8"}};
  EXPECT_THAT(page_markdown(results), HasSubstr(", 8 cores, "));
  results.facts["pinned"] = "CPUs 0, 2";
  EXPECT_THAT(page_markdown(results), HasSubstr(", 8 cores, pinned to CPUs 0, 2, "));
  EXPECT_THAT(page_html(results), HasSubstr(" · 8 cores, pinned to CPUs 0, 2 · "));
}

TEST(BenchPage, HasOperatorsThatXnnpackDoesNotTake) {
  Results results;
  for (const auto& [variant, ns] : {std::pair("portable", 900.0), {"optimized", 300.0}}) {
    results.results.push_back(test::made_result("operators", "gather", variant, ns));
    results.results.back().work = 1000;
  }
  EXPECT_THAT(page_markdown(results),
              HasSubstr("| gather | 1 | never | 1.00 k | 300 ns | 3.00 |  |"));
}

// One line for all numbers of threads, with the worst of their agreements.
TEST(BenchPage, CountsAreThoseOfAModelAndVariant) {
  Results results;
  for (const size_t threads : {1, 2}) {
    Result& result =
        results.results.emplace_back(test::made_result("models", "net", "xnnpack", 1e6, 0.1));
    result.threads = threads;
    result.instructions = 152;
    result.delegates = 3;
    result.planned_bytes = 6e5;
    result.sqnr_db = threads == 1 ? 120 : 110.4;
  }
  results.results.push_back(test::made_result("models", "net", "portable", 1e6, 0.1));
  results.results.back().instructions = 7;
  const std::string page = with_results("<!-- bench counts -->\n<!-- end -->", results);
  EXPECT_THAT(page, HasSubstr("| net | xnnpack | 152 | 3 | 600 kB |  | 110 dB |\n"
                              "| net | portable | 7 |"));
}

// 1 MB, read and written at 20 GB/s, takes 100 us.
TEST(BenchPage, LimitOfInitIsACopyOfTheFile) {
  Results results = test::made_results();
  Result& result = results.results.back() = test::made_result("models", "net", "xnnpack", 1e6);
  result.load_ns = 5e3;
  result.init_ns = 400e3;
  result.first_ns = 2e6;
  result.file_bytes = 1e6;
  EXPECT_THAT(page_markdown(results), HasSubstr("| 400 us |  | 2.00 ms |"));
  result.delegates = 1;
  EXPECT_THAT(page_markdown(results), HasSubstr("| 400 us | 25 % | 2.00 ms |"));
}

TEST(BenchPage, RuntimeHasLimits) {
  Results results;
  results.results.push_back(test::made_result("runtime", "a step", "untraced", 10));
  results.results[0].limit = "its kernel alone";
  results.results[0].of_limit = 0.8;
  EXPECT_THAT(page_markdown(results), HasSubstr("1.0 % | 80 % | its kernel alone |"));
}

TEST(BenchPage, HtmlIsOneFileWithPlots) {
  const std::string page = page_html(test::made_results());
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("class=\"crossing\""));
  EXPECT_THAT(page, HasSubstr("data-theme=\"dark\""));
  EXPECT_THAT(page, HasSubstr(".cards {"));
  EXPECT_THAT(page, HasSubstr("<div class=\"cards\">"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

// What is drawn has a colour.
TEST(BenchPage, HtmlHasAStyleForEveryVariant) {
  Results results = test::made_results();
  results.results.push_back(test::made_result("models", "net", "bare XNNPACK", 9e5));
  const std::string page = page_html(results);
  const std::regex classes("class=\"(?:line )?(v-[^ \"]*)");
  size_t count = 0;
  for (auto found = std::sregex_iterator(page.begin(), page.end(), classes);
       found != std::sregex_iterator(); ++found) {
    EXPECT_THAT(page, HasSubstr("." + (*found)[1].str() + " { --v"));
    ++count;
  }
  EXPECT_GT(count, 5U);
}

TEST(BenchPage, HtmlEscapesNames) {
  const std::string page = page_html(test::made_results());
  EXPECT_THAT(page, HasSubstr("A &lt;fast&gt; machine"));
  EXPECT_THAT(page, HasSubstr("outputs differ &lt;b&gt;"));
}

// Every element that is opened is closed.
TEST(BenchPage, HtmlIsBalanced) {
  const std::string page = page_html(test::made_results());
  for (const char* name : {"section", "table", "tbody", "tr", "td", "svg", "div", "circle", "ul"}) {
    const auto count = [&](const std::string& pattern) {
      const std::regex regex(pattern);
      return std::distance(std::sregex_iterator(page.begin(), page.end(), regex), {});
    };
    EXPECT_EQ(count(std::string("<") + name + "[ >]"), count(std::string("</") + name + ">"))
        << name;
  }
}

TEST(BenchPage, FillsInTheTablesOfADocument) {
  const std::string before =
      "# Speed\n<!-- bench models -->\nold\n<!-- end -->\nmore\n<!-- bench operators -->\n<!-- end "
      "-->";
  const std::string after = with_results(before, test::made_results());
  EXPECT_THAT(after, HasSubstr("# Speed\n<!-- bench models -->\n\n| model | threads |"));
  EXPECT_THAT(after, HasSubstr("| net | 1 |"));
  EXPECT_THAT(after, HasSubstr("<!-- end -->\nmore\n<!-- bench operators -->\n\n| operator |"));
  EXPECT_THAT(after, HasSubstr("| add | 1 |"));
  EXPECT_THAT(after, Not(HasSubstr("old")));
  EXPECT_EQ(with_results(after, test::made_results()), after);
}

TEST(BenchPage, MarksThatAreNotUnderstoodAreRefused) {
  EXPECT_THROW((void)with_results("no mark", {}), HostError);
  EXPECT_THROW((void)with_results("<!-- bench speed -->\n<!-- end -->", {}), HostError);
  EXPECT_THROW((void)with_results("<!-- bench run -->\nno end", {}), HostError);
  EXPECT_THROW((void)with_results("<!-- bench run <!-- end -->", {}), HostError);
}

TEST(BenchPage, EmptyResultsGiveAPage) {
  EXPECT_THAT(page_html({}), HasSubstr("</html>"));
  EXPECT_THAT(page_markdown({}), HasSubstr("# Benchmarks"));
}

TEST(BenchFigures, HaveThreeDigits) {
  EXPECT_EQ(time_text(0.5), "0.50 ns");
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1234), "1.23 us");
  EXPECT_EQ(time_text(12.34e6), "12.3 ms");
  EXPECT_EQ(bytes_text(14.2e6), "14.2 MB");
  EXPECT_EQ(count_text(1048576), "1.05 M");
  EXPECT_EQ(count_text(64), "64.0");
}

}  // namespace
}  // namespace vitrine::bench
