// Checks the timeline against the fields of "Trace Event Format":
// https://docs.google.com/document/d/ 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ("JSON Object
// Format", "Complete Events", "Metadata Events").
#include "inspector/report/report_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "test/support/corpus.h"
#include "test/support/joined_profile.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;
using test::TraceBuilder;

// Checks the fields of every event. Returns the names of tracks by thread id.
std::map<int, std::string> check_fields(const json& timeline) {
  EXPECT_TRUE(timeline.at("displayTimeUnit") == "ms" || timeline.at("displayTimeUnit") == "ns");
  EXPECT_TRUE(timeline.at("otherData").is_object());
  std::map<int, std::string> tracks;
  for (const json& event : timeline.at("traceEvents")) {
    const std::string phase = event.at("ph");
    EXPECT_TRUE(event.at("pid").is_number_integer());
    EXPECT_TRUE(event.at("tid").is_number_integer());
    EXPECT_TRUE(event.at("name").is_string());
    if (phase == "M") {
      EXPECT_TRUE(event.at("args").at("name").is_string());
      if (event.at("name") == "thread_name") tracks[event.at("tid")] = event.at("args").at("name");
    } else {
      EXPECT_EQ(phase, "X");
      EXPECT_TRUE(event.at("cat").is_string());
      EXPECT_GE(event.at("ts").get<double>(), 0);
      EXPECT_GE(event.at("dur").get<double>(), 0);
    }
  }
  for (const json& event : timeline.at("traceEvents")) {
    EXPECT_TRUE(tracks.contains(event.at("tid").get<int>()));
  }
  return tracks;
}

TEST(ReportTimeline, PutsEventsOnTracksWithStartAndDuration) {
  TraceBuilder trace;
  for (int run = 0; run < 2; ++run) {
    trace.kernel(0, "aten::add.out", 500, "portable");
    trace.delegate(1, "B", {{.id = 1, .ns = 700}, {.name = "\"<x>\xff", .ns = 300}});
    trace.end_run();
  }
  const json timeline = json::parse(report_timeline(test::joined_profile(trace.dump(), nullptr)));
  EXPECT_EQ(check_fields(timeline), (std::map<int, std::string>{{1, "executor"}, {2, "B"}}));
  std::vector<json> events;
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("ph") == "X") events.push_back(event);
  }
  ASSERT_EQ(events.size(), 10u) << "each of two runs has a run, a kernel, a call and two operators";
  double latest = 0;
  for (const json& event : events) {
    latest = std::max(latest, event.at("ts").get<double>() + event.at("dur").get<double>());
  }
  // Each run takes 2000 ns: 100 before each of the three records, 500 + 700 + 300 in the records,
  // 100 until the delegate call ends, and 100 until the run ends.
  EXPECT_NEAR(latest, 2 * (3 * 0.1 + 1.5 + 0.2), 1e-9);
  const json& kernel = events.at(1);
  EXPECT_EQ(kernel.at("args").at("kernel"), "aten::add.out");
  EXPECT_NEAR(kernel.at("ts").get<double>(), 0.1, 1e-9);
  EXPECT_NEAR(kernel.at("dur").get<double>(), 0.5, 1e-9);
}

TEST(ReportTimeline, ShowsEachMethodAsAProcess) {
  TraceBuilder trace;
  trace.delegate(0, "B", {{.id = 1, .ns = 700}});
  std::vector<Profile> profiles(2, test::joined_profile(trace.dump(), nullptr));
  profiles[0].method = "decode";
  profiles[0].run.model = "m.pte";
  profiles[1].method = "prefill";
  // Delays the first method. Times are then relative to the first event of the second method.
  for (TimelineEvent& event : profiles[0].timeline) {
    event.start += 5000;
    event.end += 5000;
  }
  const Profile* const both[] = {&profiles[0], &profiles[1]};
  const json timeline = json::parse(report_timeline(both));
  EXPECT_EQ(check_fields(timeline),
            (std::map<int, std::string>{{1, "executor"}, {2, "B"}, {3, "executor"}, {4, "B"}}));
  EXPECT_EQ(timeline.at("otherData").at("method"), "decode + prefill");
  std::map<int, std::string> processes;
  std::map<int, double> begins;
  for (const json& event : timeline.at("traceEvents")) {
    const int process = event.at("pid");
    EXPECT_EQ(process, event.at("tid") < 3 ? 1 : 2);
    if (event.at("name") == "process_name") processes[process] = event.at("args").at("name");
    if (event.at("ph") == "X" && event.at("cat") == "run") begins[process] = event.at("ts");
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{1, "m.pte · decode"}, {2, "m.pte · prefill"}}));
  EXPECT_NEAR(begins[1], 5, 1e-9);
  EXPECT_NEAR(begins[2], 0, 1e-9);
}

TEST(ReportTimeline, PutsTheTrackOfTheCallerFirst) {
  TraceBuilder trace;
  trace.kernel(0, "aten::add.out", 500, "portable");
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  const Profile* const twice[] = {&profile, &profile};
  const uint64_t start = profile.timeline.front().start;
  const TimelineTrack top = {"steps", {{"\"one\"", start - 40, 60}, {"two", start + 20, 7000}}};
  const json timeline = json::parse(report_timeline(twice, &top));
  EXPECT_EQ(check_fields(timeline),
            (std::map<int, std::string>{{1, "steps"}, {2, "executor"}, {3, "executor"}}));
  std::vector<json> slices;
  for (const json& event : timeline.at("traceEvents")) {
    EXPECT_EQ(event.at("pid"), event.at("tid") < 3 ? 1 : 2);
    if (event.at("ph") != "X") continue;
    if (event.at("cat") == "step") slices.push_back(event);
    if (event.at("cat") == "run") {
      EXPECT_NEAR(event.at("ts").get<double>(), 0.04, 1e-9);
    }
  }
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].at("name"), "\"one\"");
  EXPECT_NEAR(slices[0].at("ts").get<double>(), 0, 1e-9) << "this is the first event";
  EXPECT_NEAR(slices[0].at("dur").get<double>(), 0.06, 1e-9);
  EXPECT_NEAR(slices[1].at("ts").get<double>(), 0.06, 1e-9);
  EXPECT_NEAR(slices[1].at("dur").get<double>(), 7, 1e-9);
}

TEST(ReportTimeline, WritesValidEventsForExecuTorchTraces) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t files = 0;
  for (const std::filesystem::path& file : test::files_below(corpus, ".etdp")) {
    SCOPED_TRACE(file.string());
    const etdump::EtDump dump = etdump::read_etdump(file);
    check_fields(json::parse(report_timeline(test::joined_profile(dump, nullptr))));
    ++files;
  }
  EXPECT_GE(files, 49u);
}

}  // namespace
}  // namespace vitrine::inspector
