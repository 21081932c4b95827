// Tests which steps keep their trace records, and the timeline of all steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/tools/llm_runner/profile/sample_profile.h"
#include "test/tools/llm_runner/profile/synthetic_steps.h"
#include "tools/llm_runner/profile/report_tokens.h"

namespace vitrine::llm {

using testing::ElementsAre;
using testing::SizeIs;

void expect_kept_add_up(const TokenProfile& profile) {
  std::vector<double> rows(profile.kept_times.size()), rest(rows.size());
  for (const KeptRuns& kept : profile.kept) {
    for (const inspector::ProfileRow& row : kept.profile.rows) {
      for (const auto& sample : row.samples) rows[kept.steps[sample.run]] += sample.ns;
    }
    for (const auto& sample : kept.profile.unattributed_samples) {
      rest[kept.steps[sample.run]] += sample.ns;
    }
  }
  const auto report = nlohmann::json::parse(report_token_json(profile)).at("kept");
  ASSERT_THAT(report, SizeIs(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    double sum = report[i]["rows_ns"].get<double>() + report[i]["unattributed_ns"].get<double>();
    for (const auto& part : report[i]["parts"]) sum += part.get<double>();
    EXPECT_EQ(sum, report[i]["wall_ns"].get<double>());
    EXPECT_EQ(report[i]["rows_ns"], rows[i]);
    EXPECT_EQ(report[i]["unattributed_ns"], rest[i]);
    EXPECT_GT(rest[i], 0);
    EXPECT_GT(rows[i], 0);
  }
}

namespace {

TEST(StepTracer, KeepsSampledAndSlowestSteps) {
  SyntheticSteps steps;
  steps.run(0);
  for (int64_t i = 0; i < 5000; ++i) {
    steps.step(false, 8 + i, 1, i == 1234 || i == 4321 ? 90'000 : 0);
  }
  const std::vector<const KeptStep*> kept = steps.profiler.tracer().kept();
  EXPECT_LE(kept.size(), kPhases * (StepTracer::kMaxSampled + StepTracer::kMaxSlowest));
  std::vector<int64_t> positions;
  for (const KeptStep* step : kept) {
    EXPECT_THAT(step->records, SizeIs(2));
    positions.push_back(step->step.position);
  }
  EXPECT_THAT(positions, testing::IsSupersetOf({int64_t{0}, int64_t{8 + 1234}, int64_t{8 + 4321}}));
  EXPECT_TRUE(std::ranges::is_sorted(positions));
  // The sampled steps include some from the last quarter of the run.
  EXPECT_TRUE(std::ranges::any_of(positions, [](int64_t p) { return p > 3750 && p != 4329; }));
}

// Each part of a step has a different duration, so that the test fails if two parts are mixed up.
TEST(KeptSteps, TimesOfAStepAddUpToItsWallTime) {
  SyntheticSteps steps;
  for (int prompt = 0; prompt < 2; ++prompt) {
    steps.run(0);
    for (int64_t i = 0; i < 30; ++i) steps.step(false, 8 + i, 1, i == 20 ? 40'000 : 0);
  }
  const TokenProfile profile = steps.profile();
  ASSERT_THAT(profile.kept, SizeIs(1));
  EXPECT_THAT(profile.kept_times, SizeIs(profile.kept[0].steps.size()));
  for (size_t i = 0; i < profile.kept_times.size(); ++i) {
    const KeptTimes& times = profile.kept_times[i];
    SCOPED_TRACE(profile.kept[0].profile.run_names[i]);
    const bool is_prefill = times.phase == Phase::kPrefill;
    const uint64_t last = times.wall.position + (is_prefill ? 7 : 0);
    const uint64_t kernel = 1000 + 5 * last + (times.wall.position == 28 ? 40'000 : 0);
    EXPECT_EQ(times.rows, kernel);
    EXPECT_EQ(times.unattributed, 70);
    EXPECT_THAT(times.parts, ElementsAre(is_prefill ? 300 : 0, 20, 9, 4, 3, 2));
    EXPECT_EQ(times.wall.ns, kernel + 70 + (is_prefill ? 300 : 0) + 20 + 9 + 4 + 3 + 2);
  }
}

// The track "steps" has one slice per step, without gaps. The ops of a kept step are within its
// slice.
TEST(TokenTimeline, HasOneSlicePerStep) {
  SyntheticSteps steps;
  std::vector<std::string> names;
  for (int prompt = 0; prompt < 2; ++prompt) {
    steps.prompt();
    for (const int64_t position : {0, 8}) {
      steps.step(true, position, 8);
      names.push_back("prefill at " + std::to_string(position));
    }
    for (int64_t i = 0; i < 99; ++i) {
      steps.step(false, 16 + i, 1);
      names.push_back("decode at " + std::to_string(16 + i));
    }
  }
  const auto timeline = nlohmann::json::parse(report_token_timeline(steps.profile()));
  struct Slice {
    std::string name;
    double start, end;
  };
  std::vector<Slice> slices, runs, ops;
  int track = 0;
  for (const auto& event : timeline["traceEvents"]) {
    if (event["ph"] == "M") {
      if (event["args"]["name"] == "steps") track = event["tid"];
      continue;
    }
    const double start = event["ts"];
    const Slice slice = {event["name"], start, start + event["dur"].get<double>()};
    EXPECT_EQ(event["cat"] == "step", event["tid"] == track);
    (event["cat"] == "step" ? slices : event["cat"] == "run" ? runs : ops).push_back(slice);
  }
  std::ranges::sort(slices, {}, &Slice::start);
  ASSERT_THAT(slices, SizeIs(names.size()));
  EXPECT_EQ(slices[0].start, 0);
  for (size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i].name, names[i]);
    if (i > 0) {
      EXPECT_NEAR(slices[i].start, slices[i - 1].end, 1e-6);
    }
  }
  EXPECT_GT(runs.size(), 8u);
  EXPECT_THAT(ops, SizeIs(runs.size()));
  for (const std::vector<Slice>* kept : {&runs, &ops}) {
    for (const Slice& slice : *kept) {
      const auto after = std::ranges::upper_bound(slices, slice.start, {}, &Slice::start);
      ASSERT_NE(after, slices.begin());
      const Slice& step = *(after - 1);
      EXPECT_LE(slice.end, step.end);
      EXPECT_TRUE(kept == &ops || slice.name == step.name) << slice.name << " in " << step.name;
    }
  }
}

TEST_F(SampleProfile, KeptStepTimesAddUpToWallTime) { expect_kept_add_up(profile_); }

TEST_F(SampleProfile, KeptStepsAreWrittenAsEtdump) {
  const etdump::EtDump dump = etdump::parse_etdump(kept_etdump(profiler_));
  const size_t kept = profiler_.tracer().kept().size();
  EXPECT_EQ(dump.blocks.size(), kept + 1);  // one more block for loading
  EXPECT_THAT(profile_.kept.front().profile.wall_samples, SizeIs(kept));
  EXPECT_THAT(profile_.kept.front().profile.run_names, SizeIs(kept));
  EXPECT_EQ(profile_.kept.front().profile.run_names[0], "prefill at 0");
}

}  // namespace
}  // namespace vitrine::llm
