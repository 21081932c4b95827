#include "tools/llm_runner/profile/token_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "examples/models/llama_decoder.h"
#include "test/llm/fake_decoder.h"
#include "test/llm/lowered_models.h"
#include "test/support/browser.h"
#include "test/support/scratch_folder.h"
#include "test/tools/llm_runner/profile/sample_profile.h"
#include "test/tools/llm_runner/profile/synthetic_steps.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_groups.h"
#include "vitrine/method_decoder.h"

namespace vitrine::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Ids = std::vector<TokenId>;

double sum_of(const TokenProfile& profile, size_t phase) {
  double sum = profile.unattributed.ns[phase];
  for (const TokenRow& row : profile.rows) sum += row.times.ns[phase];
  for (const Times& part : profile.parts) sum += part.ns[phase];
  return sum;
}

TEST(TokenProfile, AddsUpTheStepsOfEachPhase) {
  SyntheticSteps steps;
  steps.run(100);
  const TokenProfile profile = steps.profile();
  EXPECT_THAT(profile.steps, ElementsAre(1, 100));
  EXPECT_THAT(profile.tokens, ElementsAre(8, 100));
  ASSERT_THAT(profile.rows, SizeIs(1));
  EXPECT_EQ(profile.rows[0].times.ns[kPrefill], 1000 + 5 * 7);
  // The positions are 8 to 107; their sum is 5750.
  EXPECT_EQ(profile.rows[0].times.ns[kDecode], 100 * 1000 + 5 * 5750);
  EXPECT_EQ(profile.unattributed.ns[kDecode], 100 * 70);
  const auto part = [&](StepPart which) { return profile.parts[static_cast<size_t>(which)].ns; };
  EXPECT_THAT(part(StepPart::kPromptIds), ElementsAre(300, 0));
  EXPECT_THAT(part(StepPart::kBetween), ElementsAre(20, 2000));
  EXPECT_THAT(part(StepPart::kCall), ElementsAre(9, 900));
  EXPECT_THAT(part(StepPart::kSampling), ElementsAre(4, 400));
  EXPECT_THAT(part(StepPart::kText), ElementsAre(3, 300));
  EXPECT_THAT(part(StepPart::kOutput), ElementsAre(2, 200));
  for (const size_t phase : {kPrefill, kDecode}) {
    EXPECT_EQ(sum_of(profile, phase), profile.wall.ns[phase]);
  }
  EXPECT_THAT(profile.first_token_ns, ElementsAre(300 + 20 + 1035 + 70 + 9 + 4 + 3 + 2));
}

TEST(TokenProfile, FitsGrowthOfTimeWithPosition) {
  SyntheticSteps steps;
  steps.run(0);
  for (int64_t i = 0; i < 100; ++i) {
    // The totals include all steps. The fit omits step 0, which sets up shapes, and step 50, which
    // is disturbed. The fit also omits steps 1 to 5, because they have too few preceding steps to
    // compare with.
    steps.step(false, 8 + i, 1, i == 0 || i == 50 ? 50'000 : 0);
  }
  const TokenProfile profile = steps.profile();
  EXPECT_EQ(profile.usual_steps, 93u);
  EXPECT_EQ(profile.fitted_positions, std::pair(uint64_t{14}, uint64_t{107}));
  ASSERT_TRUE(profile.rows[0].times.growth().has_value());
  EXPECT_NEAR(profile.rows[0].times.growth()->at_start, 1000, 1e-6);
  EXPECT_NEAR(profile.rows[0].times.growth()->per_position, 5, 1e-9);
  EXPECT_NEAR(profile.wall.line->at_start, 1000 + 70 + 9 + 20 + 4 + 3 + 2, 1e-6);
  EXPECT_NEAR(profile.unattributed.line->per_position, 0, 1e-9);
  EXPECT_FALSE(profile.unattributed.growth().has_value());
  EXPECT_EQ(sum_of(profile, kDecode), profile.wall.ns[kDecode]);
  // A token takes 1108 ns plus 5 ns per position.
  EXPECT_THAT(report_token_table(profile),
              HasSubstr("a token takes 1.18 us at position 14 and 1.64 us at 107: +0.47 us"));
  EXPECT_THAT(report_token_table(profile), HasSubstr("over 93 of 100 tokens"));
  EXPECT_THAT(profile.notes, ElementsAre(HasSubstr("2 of 100 tokens took more than twice")));
}

// Computes a least-squares fit with textbook formulas. The 95 % confidence interval of the slope of
// a least-squares line is t * s / sqrt(Sxx), where s is the standard deviation of the residuals.
// For 28 degrees of freedom, t is 2.0484. If the residuals are autoregressive of order 1, the
// interval is wider by sqrt((1 + r) / (1 - r)).
struct ExpectedFit {
  double slope = 0, error = 0, correlation = 0;
};
ExpectedFit expected_fit(const std::vector<double>& times, double first_position) {
  const auto n = static_cast<double>(times.size());
  const double x = first_position + (n - 1) / 2;
  const double y = std::reduce(times.begin(), times.end()) / n;
  double sxx = 0, sxy = 0, squares = 0, products = 0, last = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const double dx = first_position + static_cast<double>(i) - x;
    sxx += dx * dx;
    sxy += dx * (times[i] - y);
  }
  for (size_t i = 0; i < times.size(); ++i) {
    const double dx = first_position + static_cast<double>(i) - x;
    const double residual = times[i] - y - sxy / sxx * dx;
    squares += residual * residual;
    products += std::exchange(last, residual) * residual;
  }
  return {sxy / sxx, 2.0484 * std::sqrt(squares / (n - 2) / sxx), products / squares};
}

// Returns the profile of a run that decodes 36 tokens after a prompt. The kernel's time includes
// noise that changes after every `stretch` tokens. Sets `times` to the kernel's times in the last
// 30 tokens, which the fit uses.
TokenProfile noisy_profile(int64_t stretch, std::vector<double>& times) {
  SyntheticSteps steps;
  steps.run(0);
  uint64_t random = 1, noise = 0;
  for (int64_t i = 0; i < 36; ++i) {
    if (i % stretch == 0) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      noise = (random >> 33) % 700;
    }
    steps.step(false, 8 + i, 1, noise);
    if (i >= 6)
      times.push_back(1000 + 5.0 * static_cast<double>(8 + i) + static_cast<double>(noise));
  }
  return steps.profile();
}

TEST(TokenProfile, ReportsNoGrowthWithinNoise) {
  std::vector<double> times;
  const TokenProfile profile = noisy_profile(1, times);
  ASSERT_EQ(profile.usual_steps, times.size());
  const ExpectedFit expected = expected_fit(times, 14);
  const CostLine& line = *profile.rows[0].times.line;
  EXPECT_LT(expected.correlation, 0);
  EXPECT_NEAR(line.per_position, expected.slope, 1e-6);
  EXPECT_NEAR(line.error, expected.error, 0.001 * expected.error);
  EXPECT_FALSE(line.is_growth());
  // Everything in a step except the kernel takes a constant time.
  EXPECT_NEAR(profile.wall.line->error, line.error, 1e-5);
  EXPECT_THAT(report_token_table(profile), HasSubstr("growth with position: within the noise"));
  const auto report = nlohmann::json::parse(report_token_json(profile));
  EXPECT_FALSE(report["wall"].contains("growth"));
  EXPECT_FALSE(report["rows"][0].contains("growth"));
}

// The profile computes the correlation of the noise from all 36 tokens, but expected_fit() only
// uses the last 30. The two correlations therefore differ slightly.
TEST(TokenProfile, CorrelatedNoiseWidensTheGrowthInterval) {
  std::vector<double> times;
  const TokenProfile profile = noisy_profile(6, times);
  ASSERT_EQ(profile.usual_steps, times.size());
  const ExpectedFit expected = expected_fit(times, 14);
  EXPECT_GT(expected.correlation, 0.3);
  const double factor = std::sqrt((1 + expected.correlation) / (1 - expected.correlation));
  const CostLine& line = *profile.rows[0].times.line;
  EXPECT_NEAR(line.per_position, expected.slope, 1e-6);
  EXPECT_GT(line.error, 1.2 * expected.error);
  EXPECT_NEAR(line.error, factor * expected.error, 0.1 * line.error);
}

TEST(TokenProfile, OmitsTheFitIfThereAreTooFewTokens) {
  SyntheticSteps steps;
  steps.run(10);
  const TokenProfile profile = steps.profile();
  EXPECT_FALSE(profile.wall.line.has_value());
  EXPECT_THAT(report_token_table(profile), HasSubstr("fewer than 16 undisturbed tokens"));
}

TEST(TokenProfile, ReportsPrefillWithoutDecode) {
  SyntheticSteps steps;
  steps.run(0);
  const TokenProfile profile = steps.profile();
  EXPECT_EQ(sum_of(profile, kPrefill), profile.wall.ns[kPrefill]);
  EXPECT_THAT(report_token_table(profile), HasSubstr("prefill 8 tokens in 1 call"));
}

TEST(TokenProfile, ThrowsWithoutSteps) {
  EXPECT_THROW(SyntheticSteps().profile(), inspector::InspectorError);
}

TEST(TokenProfiler, ObservesEveryStepOfGenerator) {
  test::FakeDecoder model(
      {.max_context = 20, .max_tokens_per_call = 3, .parallel_prefill = true, .vocabulary = 100});
  TextGenerator generator(model, nullptr);
  TokenProfiler profiler;
  generator.set_observer(&profiler);
  generator.generate(Ids{1, 2, 3, 4}, {.max_new_tokens = 4, .sampling = {.temperature = 0}});
  EXPECT_EQ(profiler.tracer().phase(Phase::kPrefill).steps, 2u);
  EXPECT_EQ(profiler.tracer().phase(Phase::kPrefill).tokens, 4u);
  EXPECT_EQ(profiler.tracer().phase(Phase::kDecode).steps, 3u);
  EXPECT_THAT(profiler.first_token_ns(), SizeIs(1));
  ASSERT_THAT(profiler.walls(Phase::kDecode), SizeIs(3));
  EXPECT_EQ(profiler.walls(Phase::kDecode)[2].position, 6u);
}

TEST_F(SampleProfile, AddsUpToWallTime) {
  EXPECT_THAT(profile_.steps, ElementsAre(1, 39));
  for (const size_t phase : {kPrefill, kDecode}) {
    EXPECT_EQ(sum_of(profile_, phase), profile_.wall.ns[phase]);
    EXPECT_GT(profile_.wall.ns[phase], 0);
  }
  for (const auto by : {inspector::GroupBy::kNone, inspector::GroupBy::kOp,
                        inspector::GroupBy::kModule, inspector::GroupBy::kDelegate}) {
    const TokenGroups groups = group_tokens(profile_, {by, 5, ""});
    EXPECT_THAT(groups.groups, SizeIs(testing::Le(5u)));
    double sum = groups.others.times.ns[kDecode];
    size_t rows = groups.others.rows;
    for (const TokenGroup& group : groups.groups) {
      sum += group.times.ns[kDecode];
      rows += group.rows;
    }
    EXPECT_EQ(rows, profile_.rows.size());
    double all = 0;
    for (const TokenRow& row : profile_.rows) all += row.times.ns[kDecode];
    EXPECT_EQ(sum, all);
  }
}

// The model has 4 layers, with keys and values f32 [1, 256, 1, 32]. Tokens are at positions 5 to
// 43, so attention reads 25 positions on average.
TEST_F(SampleProfile, CountsCacheBytesByPosition) {
  EXPECT_THAT(profile_.caches, SizeIs(8));
  EXPECT_EQ(profile_.caches[0].type, "f32[1,256,1,32]");
  // The program does not name its buffers, so each cache gets the name of the attention call that
  // reads the cache.
  std::vector<std::string> names;
  for (const CacheLayer& layer : cache_layers(profile_)) {
    names.push_back(layer.name);
    EXPECT_EQ(layer.buffers, 2u);
    EXPECT_EQ(layer.bytes, 2 * 256 * 32 * sizeof(float));
  }
  EXPECT_THAT(names, ElementsAre("attention 0", "attention 1", "attention 2", "attention 3"));
  double read = 0;
  size_t layers = 0;
  for (const TokenRow& row : profile_.rows) {
    if (!row.is_attention) continue;
    read += row.cache_bytes;
    ++layers;
  }
  EXPECT_EQ(layers, 4u);
  EXPECT_NEAR(read, 4 * 2 * 32 * sizeof(float) * 25, 1);
}

// Each weight has 4 bits, and each group of 32 weights has a 16-bit scale. The model has 4 layers
// and 512 logits. The model's width is 160. Keys and values have the width 32, and the hidden layer
// has the width 448.
TEST_F(SampleProfile, CountsWeightsOfLinearLayers) {
  constexpr double kElements = 160 * (4 * (160 + 32 + 32 + 160 + 3 * 448) + 512);
  double weights = 0;
  for (size_t i = 0; i < profile_.rows.size(); ++i) {
    const TokenRow& row = profile_.rows[i];
    const inspector::ProfileRow& named = profile_.names.rows[i];
    if (named.kernel.find("QB4W") != std::string::npos) weights += row.weight_bytes;
    if (named.kernel.find("Convert") != std::string::npos) {
      EXPECT_EQ(row.weight_bytes, 0);
    }
  }
  EXPECT_EQ(weights, kElements / 2 + kElements / 32 * 2);
  EXPECT_GT(profile_.weights_in_file, weights);
}

TEST_F(SampleProfile, NarrowTablesKeepTheEndsOfModuleNames) {
  std::vector<std::string> ends;
  for (inspector::ProfileRow& row : profile_.names.rows) {
    ends.push_back(".w" + std::to_string(ends.size() % 7));
    row.source_ops = {"linear"};
    row.modules = {"the_model.inner_model.layers.0.attention" + ends.back()};
  }
  inspector::TableOptions options;
  options.width = 100;
  for (const auto by : {inspector::GroupBy::kModule, inspector::GroupBy::kNone}) {
    options.view.by = by;
    const std::string table = report_token_table(profile_, options);
    for (const std::string& end : ends) EXPECT_THAT(table, HasSubstr(end));
    for (size_t i = 0; i < kStepParts; ++i) {
      const auto part = static_cast<StepPart>(i);
      if (profile_.parts[i].ns[kDecode] > 0) {
        EXPECT_THAT(table, HasSubstr(part_name(part)));
      }
    }
  }
  EXPECT_THAT(report_token_table(profile_, options), HasSubstr("optimized"))
      << "must not be shortened to optimi…";
}

TEST_F(SampleProfile, ReportsHaveAllRowsAndTotals) {
  inspector::TableOptions options;
  options.view.by = inspector::GroupBy::kOp;
  const std::string table = report_token_table(profile_, options);
  for (const char* text :
       {"time to first token", "prefill 5 tokens in 1 call", "decode  39 tokens", "custom_sdpa",
        "sampling", "wall", "cache 262.1 kB", "cache   attention 0 to attention 3 65.5 kB each"}) {
    EXPECT_THAT(table, HasSubstr(text));
  }
  const auto report = nlohmann::json::parse(report_token_json(profile_));
  EXPECT_EQ(report["version"], kTokenJsonVersion);
  EXPECT_EQ(report["rows"].size(), profile_.rows.size());
  EXPECT_EQ(report["memory"]["cache_layers"].size(), 4u);
  EXPECT_EQ(report["memory"]["cache_layers"][1]["bytes"], 65536);
  EXPECT_EQ(report["tokens"].size(), 39u);
  double sum = report["unattributed"]["decode_ns"];
  for (const auto& row : report["rows"]) sum += row["decode_ns"].get<double>();
  for (const auto& part : report["parts"]) sum += part["decode_ns"].get<double>();
  EXPECT_EQ(sum, report["wall"]["decode_ns"].get<double>());
  const std::string csv = report_token_csv(profile_, {inspector::GroupBy::kOp, 0, ""});
  EXPECT_THAT(csv, testing::StartsWith("name,rows,"));
  EXPECT_THAT(csv, HasSubstr("\"wall\",0,"));
  const std::string rows = report_token_csv(profile_, {inspector::GroupBy::kNone, 0, ""});
  EXPECT_THAT(rows, testing::StartsWith("name,place,module,kernel,rows,"));
  EXPECT_THAT(rows, HasSubstr("\"custom_sdpa\",\"optimized\",\"\",\"llama::custom_sdpa.out\",1,"));
}

// Prefill and decode are separate methods that share one cache.
TEST(TokenProfile, AddsUpAcrossTwoMethods) {
  aot::Methods methods;
  for (const char* name : {"decode", "prefill"}) {
    methods.emplace(name, examples::llama_decoder({.length = 32, .group = 0}));
  }
  const test::ScratchFolder folder;
  const test::AlignedBytes file = test::lower_methods(std::move(methods), true);
  tools::write_file(folder / "model.pte", std::span(file));
  tools::Session session({folder / "model.pte", {}, 1});
  TokenProfiler profiler;
  const auto decode = session.load_method("decode", &profiler.tracer(0));
  const auto prefill = session.load_method("prefill", &profiler.tracer(1));
  MethodDecoder decoder(session.program(), {.decode = decode.get(), .prefill = prefill.get()});
  TextGenerator generator(decoder, nullptr);
  generator.set_observer(&profiler);
  generator.generate(Ids{1, 43, 6, 5, 42}, {.max_new_tokens = 20, .sampling = {.temperature = 0}});
  const TokenProfile profile =
      make_token_profile(profiler, *session.program(), {{decode->meta(), prefill->meta()}}, {});
  EXPECT_THAT(profile.steps, ElementsAre(1, 19));
  EXPECT_EQ(method_names(profile), "decode + prefill");
  std::array<size_t, 2> rows{};
  for (const TokenRow& row : profile.rows) {
    ++rows[row.method];
    // Each method runs in one phase only.
    EXPECT_EQ(row.calls[kPrefill] > 0, row.method == 1);
    EXPECT_EQ(row.calls[kDecode] > 0, row.method == 0);
  }
  EXPECT_GT(rows[0], 50u);
  EXPECT_EQ(rows[0], rows[1]);
  for (const size_t phase : {kPrefill, kDecode}) {
    EXPECT_EQ(sum_of(profile, phase), profile.wall.ns[phase]);
  }
  // The keys and values of 2 layers are f32 [1, 32, 2, 16]. Shared caches and weights are counted
  // once.
  EXPECT_THAT(profile.caches, SizeIs(4));
  EXPECT_EQ(profile.methods[1].bytes.weights, 0);
  EXPECT_THAT(cache_layers(profile), SizeIs(2));
  // The f32 weights are two tables of 256 x 64, a norm of 64, and 2 layers. Each layer has
  // 64 x (64 + 32 + 32 + 64) weights in attention, 3 x 64 x 128 weights in the feed-forward
  // network, and two norms of 64. The upper bound adds the tables of sines and cosines, which have
  // 32 x 8 elements each.
  EXPECT_GE(profile.weights_in_file, 4 * (2 * 256 * 64 + 2 * (64 * 192 + 3 * 64 * 128 + 128) + 64));
  EXPECT_LE(profile.weights_in_file,
            4 * (2 * 256 * 64 + 2 * (64 * 192 + 3 * 64 * 128 + 128) + 64 + 2 * 32 * 8) + 200);
  expect_kept_add_up(profile);
  ASSERT_THAT(profile.kept, SizeIs(2));
  EXPECT_THAT(profile.kept[1].profile.run_names, ElementsAre("prefill at 0"));
  EXPECT_EQ(profile.kept[0].profile.run_names[0], "decode at 5");
  const nlohmann::json page = test::page_data(report_token_html(profile));
  EXPECT_EQ(page["method"], "decode");
  EXPECT_EQ(page["steps"]["all"].size(), 19U);
  ASSERT_EQ(page["others"].size(), 1U);
  const nlohmann::json& other = page["others"][0];
  EXPECT_EQ(other["method"], "prefill");
  EXPECT_EQ(other["rows"].size(), rows[1]);
  ASSERT_EQ(other["steps"]["kept"].size(), 1U);
  EXPECT_EQ(other["steps"]["kept"][0]["name"], "prefill at 0");
  EXPECT_EQ(other["steps"]["kept"][0]["step"], 0);
  EXPECT_EQ(other["steps"]["all"][0][1], other["steps"]["kept"][0]["ns"]);
}

TEST(LayerOf, ReturnsPathUpToFirstNumber) {
  EXPECT_EQ(layer_of("layers.0.attention.kv_cache.k_cache"), "layers.0");
  EXPECT_EQ(layer_of("model.layers.12.self_attn.0.cache"), "model.layers.12");
  EXPECT_EQ(layer_of("3"), "3");
  for (const char* path : {"", "cache", "layer0.k_cache", "a..b", "."}) {
    EXPECT_EQ(layer_of(path), "") << path;
  }
}

}  // namespace
}  // namespace vitrine::llm
