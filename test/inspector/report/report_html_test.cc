// Tests the page as text. test/tools/report_html_browser_test.cc tests it in a browser.
#include "inspector/report/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "test/support/browser.h"
#include "test/support/joined_profile.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;
using test::page_data;
using testing::HasSubstr;
using testing::Not;

// Returns a profile of one kernel. Each element of `times` is the kernel's time in one run, in ns.
Profile profile_with_times(const std::vector<uint64_t>& times) {
  test::TraceBuilder trace;
  for (const uint64_t ns : times) {
    trace.kernel(0, "aten::add.out", ns, "portable");
    trace.end_run();
  }
  return test::joined_profile(trace.dump(), nullptr);
}

TEST(ReportHtml, EscapesNamesAndHasNoExternalReferences) {
  test::TraceBuilder trace;
  trace.kernel(0, "aten::</script><img/src=x>{{script}}.out", 500, "portable");
  trace.delegate(1, "B", {{.id = 1, .ns = 700}});
  const std::string html = report_html(test::joined_profile(trace.dump(), nullptr));
  EXPECT_THAT(html, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* reference :
       {"src=\"", "@import", "url(", "href=\"http", "fetch(", "innerHTML"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
  for (const char* placeholder : {"{{style}}", "{{head}}", "{{data}}", "{{head data}}"}) {
    EXPECT_THAT(html, Not(HasSubstr(placeholder)));
  }
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  const json data = page_data(html);
  EXPECT_EQ(data.at("rows")[0].at("kernel"), "aten::</script><img/src=x>{{script}}.out");
  EXPECT_EQ(data.at("texts").size(), data.at("rows").size());
  EXPECT_EQ(data.at("timeline").at("tracks"), json({"executor", "B"}));
  EXPECT_EQ(data.at("timeline").at("events").size(), 3u);
}

TEST(ReportHtml, PageStartsWithTheGivenHead) {
  const Profile profile = profile_with_times({500});
  const ProfilePage shown{&profile, nullptr};
  const PageHead head = {.elements = "<section id=\"above\">",
                         .style = ".above { color: red }",
                         .script = "const showHead = (data) => data;",
                         .data = R"({"name": "</script><img>{{script}}"})"};
  const std::string html = report_html({&shown, 1}, &head);
  for (const std::string_view part : {head.elements, head.style, head.script}) {
    const size_t at = html.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_EQ(html.find(part, at + 1), std::string::npos) << part;
  }
  EXPECT_LT(html.find(head.elements), html.find("id=\"profile\""));
  EXPECT_LT(html.find(head.script), html.find("showHead(head)"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(page_data(html, "head-data").at("name"), "</script><img>{{script}}");
}

// The profiler keeps the records of only some steps, mostly the slowest ones.
TEST(ReportHtml, ShowsTheRecordedStepClosestToTheMedianStep) {
  const Profile profile = profile_with_times({5000, 900, 120, 800});
  PageSteps steps;
  steps.steps = {{.position = 0, .ns = 1000, .run = 1},
                 {.position = 1, .ns = 210},
                 {.position = 2, .ns = 215, .run = 2},
                 {.position = 3, .ns = 205},
                 {.position = 4, .ns = 220},
                 {.position = 5, .ns = 900, .run = 3},
                 {.position = 6, .ns = 200}};
  const auto shown = [&](const PageSteps* of) {
    return page_data(report_html(profile, of)).at("timeline").at("run");
  };
  EXPECT_EQ(shown(&steps), 3);
  EXPECT_NE(shown(nullptr), 3);
  steps.steps = {{.position = 0, .ns = 1000}};  // no step was kept
  EXPECT_EQ(shown(&steps), shown(nullptr));
}

TEST(ReportHtml, ContainsAllMethodsOfARun) {
  Profile decode = profile_with_times({500});
  Profile prefill = decode;
  decode.method = "decode";
  prefill.method = "prefill";
  PageSteps calls;
  calls.what = "calls that were kept";
  const ProfilePage pages[] = {{&decode, nullptr}, {&prefill, &calls}};
  const json data = page_data(report_html(pages));
  EXPECT_EQ(data.at("method"), "decode");
  EXPECT_TRUE(data.at("steps").is_null());
  ASSERT_EQ(data.at("others").size(), 1U);
  const json& other = data.at("others")[0];
  EXPECT_EQ(other.at("method"), "prefill");
  EXPECT_EQ(other.at("steps").at("what"), calls.what);
  EXPECT_EQ(other.at("rows"), data.at("rows"));
}

}  // namespace
}  // namespace vitrine::inspector
