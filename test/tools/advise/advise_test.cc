// Tests advice: variants and their conflicts, intervals, ranking, each rule on a synthetic context,
// and `vitrine advise` on samples. No test depends on times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/results.h"
#include "test/tools/advise/sample_context.h"
#include "test/tools/command.h"
#include "tools/advise/apply.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/rules.h"
#include "tools/advise/trials.h"
#include "tools/advise/variant.h"
#include "tools/common/interval.h"
#include "tools/common/shell_word.h"
#include "tools/common/tool_error.h"

namespace vitrine::test {
namespace {

using namespace vitrine::tools;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Variant lowering(const char* settings) { return {.lowering = parse_settings(settings)}; }

TEST(AdviceVariant, ParsesSettingsAndRejectsStrayWords) {
  EXPECT_THAT(parse_settings("--backend xnnpack  --optimize --keep=add=float"),
              ElementsAre(Setting{"--backend", "xnnpack"}, Setting{"--optimize", ""},
                          Setting{"--keep", "add=float"}));
  EXPECT_THROW(parse_settings("optimize"), ToolError);
  EXPECT_THROW(parse_settings("--backend xnnpack again"), ToolError);
}

TEST(AdviceVariant, VariantsConflictIfAnOptionHasTwoValues) {
  EXPECT_EQ(conflicting_option(lowering("--attention auto"), lowering("--attention custom_sdpa")),
            "--attention");
  EXPECT_EQ(conflicting_option(lowering("--attention auto"), lowering("--attention auto")), "");
  EXPECT_EQ(conflicting_option(lowering("--attention auto"), lowering("--optimize")), "");
  EXPECT_EQ(conflicting_option(lowering("--exclude-op add"), lowering("--exclude-op mul")), "");
  EXPECT_EQ(conflicting_option(lowering("--exclude-op add"), lowering("--backend none")),
            "--backend");
  EXPECT_EQ(
      conflicting_option({.running = {{"--threads", "1"}}}, {.running = {{"--threads", "2"}}}),
      "--threads");
}

TEST(AdviceVariant, MergingReplacesValuesAndKeepsRepeatableOptions) {
  const Variant base = lowering("--backend xnnpack --exclude-op add");
  EXPECT_EQ(merged(base, lowering("--backend none --exclude-op mul")).lowering,
            parse_settings("--exclude-op add --backend none --exclude-op mul"));
  EXPECT_EQ(merged(base, lowering("--exclude-op add")), base);
}

TEST(AdviceVariant, PrintsCommandsWithShellQuoting) {
  const Variant variant = {.lowering = parse_settings("--keep head.*=float"),
                           .running = {{"--threads", "1"}}};
  EXPECT_EQ(lower_command("my model.pt2", variant, "m.pte"),
            "vitrine lower 'my model.pt2' --keep 'head.*=float' -o m.pte");
  EXPECT_EQ(run_command("m.pte", variant), "vitrine run m.pte --threads 1");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(AdviceInterval, HasAMinimumWidthForEqualBlocks) {
  const std::vector<double> blocks(6, 0.8);
  const Interval ratio = predict_ratio(blocks);
  EXPECT_NEAR(ratio.low, 0.8 * std::exp(-kBetweenMeasurements), 1e-9);
  EXPECT_NEAR(ratio.high, 0.8 * std::exp(kBetweenMeasurements), 1e-9);
}

// The logarithms of the six blocks' ratios are s or -s. Their standard deviation is s * sqrt(6/5),
// and the half-width of the interval is t(5) * s * sqrt(6/5) * sqrt(2/6), with t(5) = 2.015 of
// Student's table (p = 0.95).
TEST(AdviceInterval, GetsWiderWithTheSpreadOfTheBlocks) {
  const double s = 0.1;
  const double up = std::exp(s), down = std::exp(-s);
  const Interval ratio = predict_ratio(std::vector<double>{up, down, up, down, up, down});
  const double half =
      std::hypot(2.015 * s * std::sqrt(6.0 / 5) * std::sqrt(2.0 / 6), kBetweenMeasurements);
  EXPECT_NEAR(std::log(ratio.high), half, 2e-3);
  EXPECT_NEAR(std::log(ratio.low), -half, 2e-3);
}

TEST(AdviceInterval, CombinedRatioIsBetweenTheProductAndTheBestSingleRatio) {
  const std::vector<Interval> ratios = {{0.5, 0.6}, {0.8, 0.9}};
  const Interval all = combined_ratio(ratios);
  EXPECT_DOUBLE_EQ(all.low, 0.4);
  EXPECT_DOUBLE_EQ(all.high, 0.6);
}

Advice time_advice(const char* name, const char* settings, Interval saved) {
  return {.name = name, .change = lowering(settings), .saved = saved};
}

TEST(AdviceRanking, SortsByMidpointAndPutsTimeGainsFirst) {
  std::vector<Advice> advice = {time_advice("small", "--a 1", {1, 3}),
                                time_advice("file", "--b 1", {100, 100}),
                                time_advice("large", "--a 2", {2, 9})};
  advice[1].gain = Gain::kFile;
  rank_advice(advice);
  EXPECT_THAT(names_of(advice), ElementsAre("large", "small", "file"));
  EXPECT_THAT(advice[0].excludes, ElementsAre(2u));
  EXPECT_THAT(advice[2].excludes, IsEmpty());
}

std::string refusal(const std::vector<std::string>& chosen, const std::vector<Advice>& advice) {
  return thrown<ToolError>([&] { chosen_lines(chosen, advice); });
}

TEST(AdviceRanking, RefusesAdviceThatCannotBeApplied) {
  std::vector<Advice> advice = {time_advice("a", "--attention auto", {1, 2}),
                                time_advice("b", "--attention custom_sdpa", {1, 2}),
                                time_advice("c", "--quantize int8", {1, 2}),
                                {.name = "d", .how = "write x + 1"}};
  advice[2].needs = "calibration data";
  EXPECT_THAT(chosen_lines({"2"}, advice), ElementsAre(1u));
  EXPECT_THAT(chosen_lines({"a"}, advice), ElementsAre(0u));
  EXPECT_THAT(refusal({"9"}, advice), HasSubstr("expected a number from 1 to 4"));
  EXPECT_THAT(refusal({"0"}, advice), HasSubstr("expected a number from 1 to 4"));
  EXPECT_THAT(refusal({"x"}, advice), HasSubstr("no advice has this name"));
  EXPECT_THAT(refusal({"1", "2"}, advice), HasSubstr("a and b cannot be combined"));
  EXPECT_THAT(refusal({"1", "a"}, advice), HasSubstr("given twice"));
  EXPECT_THAT(refusal({"3"}, advice), HasSubstr("needs calibration data"));
  EXPECT_THAT(refusal({"4"}, advice), HasSubstr("do it yourself: write x + 1"));
}

TEST_F(AdviceRule, TriedAdviceIsKeptOnlyIfItsGainIsSignificant) {
  const auto sorted = [&](Interval ratio, double file_change) {
    Findings findings;
    Advice advice = time_advice("x", "--optimize", {0, 0});
    advice.ratio = ratio;
    advice.file_change = file_change;
    sort_tried(std::move(advice), context, findings);
    return findings;
  };
  EXPECT_THAT(sorted({0.8, 0.9}, 0).advice, SizeIs(1));
  EXPECT_THAT(sorted({0.9, 1.02}, 0).advice, IsEmpty());
  EXPECT_THAT(sorted({0.9, 1.02}, 0).useless, SizeIs(1));
  EXPECT_THAT(sorted({1.1, 1.2}, -900).useless, SizeIs(1));
  const Findings smaller = sorted({0.9, 1.02}, -500);
  ASSERT_THAT(smaller.advice, SizeIs(1));
  EXPECT_EQ(smaller.advice[0].gain, Gain::kFile);
}

TEST_F(AdviceRule, GainOfDelegationIsModeledPerOperator) {
  const std::vector<Advice> advice = advise_delegation(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_FALSE(advice[0].change.has_value());  // it needs an exported model
  EXPECT_THAT(advice[0].how, HasSubstr("--source"));
  EXPECT_NEAR(advice[0].saved->low, 800 * 0.1, 1e-9);
  EXPECT_NEAR(advice[0].saved->high, 800 * 0.69, 1e-9);
  context.source = "m.pt2";
  EXPECT_TRUE(advise_delegation(context)[0].change.has_value());
  context.profile.delegate_calls.emplace_back();
  EXPECT_THAT(advise_delegation(context), IsEmpty());
}

TEST_F(AdviceRule, ThreadsRuleTriesOtherPowersOfTwo) {
  EXPECT_THAT(names_of(advise_threads(context)), ElementsAre("threads_1", "threads_2"));
}

TEST_F(AdviceRule, Int8RuleNeedsCalibrationDataAndAFloatModel) {
  EXPECT_THAT(advise_int8(context), IsEmpty());
  context.source = "m.pt2";
  context.facts.convolutions = 1;
  ASSERT_THAT(advise_int8(context), SizeIs(1));
  EXPECT_THAT(advise_int8(context)[0].needs, HasSubstr("--calibrate"));
  context.calibrate = {"samples"};
  EXPECT_THAT(advise_int8(context)[0].needs, IsEmpty());
  context.facts.is_quantized = true;
  EXPECT_THAT(advise_int8(context), IsEmpty());
}

TEST_F(AdviceRule, WeightQuantizationMentionsBandwidthIfWeightsExceedTheCache) {
  context.source = "m.pt2";
  context.facts.linears = 1;
  context.facts.weight_bytes = 2000;
  context.cache_bytes = 1000;
  const std::vector<Advice> advice = advise_weight_quantization(context);
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_THAT(advice[0].why, HasSubstr("exceed the last-level cache"));
}

TEST_F(AdviceRule, DynamicBoundsRuleNeedsInputsBelowTheBound) {
  context.source = "m.pt2";
  context.facts.dynamic_sizes = {{.name = "x.0", .min = 1, .max = 64, .used = 4}};
  EXPECT_THAT(advise_dynamic_bounds(context), IsEmpty());
  context.has_inputs = true;
  ASSERT_THAT(advise_dynamic_bounds(context), SizeIs(1));
  EXPECT_EQ(advise_dynamic_bounds(context)[0].change, lowering("--dynamic x.0=1:4"));
  context.facts.dynamic_sizes[0].max = 5;
  EXPECT_THAT(advise_dynamic_bounds(context), IsEmpty());
}

TEST_F(AdviceRule, FileSizeRuleCountsTheRecord) {
  EXPECT_THAT(advise_file_size(context), IsEmpty());
  context.record_bytes = 300;
  const std::vector<Advice> advice = advise_file_size(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].saved->low, 300);
  EXPECT_EQ(advice[0].change, lowering("--no-debug-maps"));
}

TEST_F(AdviceRule, WeightsCacheIsAdvisedOnlyForSlowLoading) {
  context.profile.run.memory.emplace();
  context.profile.run.memory->packed_weights = 5'000'000;
  context.profile.run.init_ns = 1'000'000;
  EXPECT_THAT(advise_weights_cache(context), IsEmpty());
  context.profile.run.init_ns = 9'000'000;
  EXPECT_THAT(advise_weights_cache(context), SizeIs(1));
}

TEST_F(AdviceRule, BordersRuleAddsDelegateEntriesAndLayoutChanges) {
  context.profile.delegate_calls.resize(2);
  EXPECT_THAT(advise_borders(context), IsEmpty());
  context.profile.delegate_calls[0].time.p50 = 100;
  std::vector<Advice> advice = advise_borders(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_DOUBLE_EQ(advice[0].saved->high, 100);
  // The delegate call takes 100 ns. The two rows of the delegate take 90 ns in total, so entering
  // the delegate takes 10 ns.
  context.profile.rows.resize(3, delegate_row("", "", 0));
  context.profile.rows[1].time.p50 = 30;
  context.profile.rows[2].time.p50 = 60;
  context.profile.rows[2].is_inserted = true;
  context.profile.rows[2].share = 0.06;
  advice = advise_borders(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_DOUBLE_EQ(advice[0].saved->high, 10 + 60);
}

TEST_F(AdviceRule, FloatIslandsRuleCountsConversionsInInt8Models) {
  inspector::ProfileRow& row = context.profile.rows.emplace_back();
  row.source_ops = {"quantized_decomposed.quantize_per_tensor.default"};
  row.share = 0.1;
  EXPECT_THAT(advise_float_islands(context), IsEmpty());
  context.facts.is_quantized = true;
  const std::vector<Advice> advice = advise_float_islands(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_DOUBLE_EQ(advice[0].saved->high, 100);
  EXPECT_THAT(advice[0].why, HasSubstr("convolution"));
}

TEST_F(AdviceRule, ReportsReturnedInputsAndDuplicateOutputsAsUnnecessary) {
  aot::LoweredModel lowered;
  aot::GraphSignature& signature = lowered.methods["forward"].signature;
  signature.inputs.resize(1);
  signature.inputs[0].name = "x";
  for (const char* name : {"y", "x", "y"}) signature.outputs.emplace_back().name = name;
  EXPECT_THAT(advise_outputs(context), IsEmpty());
  context.lowered = &lowered;
  EXPECT_THAT(names_of(advise_outputs(context)), ElementsAre("output_1", "output_2"));
}

TEST_F(AdviceRule, DelegationRuleLowersProgramsWithDelegatesAgain) {
  context.is_file = true;
  context.source = "m.pt2";
  context.baseline = lowering("--backend xnnpack");
  context.profile.delegate_calls.resize(1);
  ASSERT_THAT(advise_delegation(context), SizeIs(1));
  EXPECT_EQ(advise_delegation(context)[0].change, context.baseline);
}

TEST_F(AdviceRule, AttentionRuleNeedsAModelWithAttention) {
  context.source = "m.pt2";
  EXPECT_THAT(advise_attention(context), IsEmpty());
  context.facts.attentions = 1;
  const std::vector<Advice> advice = advise_attention(context);
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_EQ(advice[0].change, lowering("--attention auto"));
  EXPECT_EQ(conflicting_option(*advice[0].change, *advice[1].change), "--attention");
}

TEST_F(AdviceRule, ExclusionIsAdvisedOnlyForDelegatesWithSeveralOps) {
  context.source = "m.pt2";
  context.profile.delegate_calls.resize(1);
  for (const char* op : {"aten.add.Tensor", "aten._softmax.default", "aten.linear.default"}) {
    context.profile.rows.push_back(delegate_row(op, "", 0.06));
  }
  const std::vector<Advice> advice = advise_excluded_ops(context);
  ASSERT_THAT(advice, SizeIs(3));
  EXPECT_EQ(advice[0].name, "exclude__softmax.default");  // it can be slower in a delegate
  EXPECT_EQ(advice[1].change, lowering("--exclude-op aten.add.Tensor"));
  EXPECT_EQ(advice[2].name, "no_backend");
}

TEST_F(AdviceRule, RejectedCallsRuleAsksForTheModelOfAProgram) {
  EXPECT_THAT(advise_rejected_calls(context), IsEmpty());
  context.profile.delegate_calls.resize(1);
  const std::vector<Advice> advice = advise_rejected_calls(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].why, HasSubstr("aten::convolution (80 %)"));
  EXPECT_THAT(advice[0].how, HasSubstr("--source"));
  EXPECT_DOUBLE_EQ(advice[0].saved->high, 800);
}

TEST_F(AdviceRule, MergesAdviceOfTheOptimizeAndBordersRules) {
  context.source = "m.pt2";
  context.profile.delegate_calls.resize(2);
  context.profile.delegate_calls[0].time.p50 = 100;
  EXPECT_EQ(std::ranges::count(names_of(collect_advice(context)), "optimize"), 1);
}

// Runs `vitrine advise`. Its cache is in a scratch folder.
CommandResult advise(const std::string& arguments) {
  static const ScratchFolder cache;
  setenv("XDG_CACHE_HOME", (cache / "cache").c_str(), 1);
  return run_tool(VITRINE_COMMAND, "advise --force --threads 1 " + arguments);
}

// In the report, the saving of a change is an interval.
TEST(AdviseCommand, TriesChangesAndWritesTheImprovedProgram) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "out.pte").string();
  const std::string model = sample("linear_relu/model.pt2");
  const auto advice = json_of(advise("--seconds 1 --format json " + model));
  EXPECT_EQ(advice["baseline"], nlohmann::json({"--backend", "xnnpack"}));
  EXPECT_FALSE(advice["is_program"]);
  for (const auto& line : advice["advice"]) {
    if (line["saved"].is_null()) continue;  // a rule without a figure
    EXPECT_LE(line["saved"][0].get<double>(), line["saved"][1].get<double>());
  }
  EXPECT_THAT(advise("--no_trials --apply no_debug_maps -o " + program + " " + model),
              Prints(HasSubstrs("vitrine lower ", "--no-debug-maps")));
  succeeded(run_tool(VITRINE_COMMAND,
                     "verify " + program + " --inputs " + sample("linear_relu/input_0.bin") +
                         " --expected_output " + sample("linear_relu/expected_0.bin")));
}

TEST(AdviseCommand, LeavesOutAdviceThatNeedsTheExportedModel) {
  EXPECT_THAT(
      advise("--no_trials " + sample("digits_portable/model.pte")),
      Prints(HasSubstrs("advice that needs the exported model was left out", "#1", "XNNPACK")));
}

TEST(AdviseCommand, VerifiesAppliedAdvice) {
  const std::string model = sample("linear_relu/model.pt2");
  const CommandResult result =
      advise("--seconds 0.05 --baseline '--backend none' --apply xnnpack --verify " + model);
  if (result.exit_code == 1) {
    EXPECT_THAT(result.err, HasSubstr("no advice has this name"));  // it saved nothing
  } else {
    EXPECT_THAT(result.exit_code, testing::AnyOf(0, 2)) << result.err;
    EXPECT_THAT(result.out, HasSubstrs("predicted ratio", "xnnpack"));
  }
}

TEST(AdviseCommand, DecodersRunOneTokenInTheMiddleOfTheContext) {
  EXPECT_THAT(advise("--no_trials " + sample("kjv_8da4w/model.pte")),
              Prints(HasSubstrs("1 token at position 128 of 256", "note: a token takes ")));
}

TEST(AdviseCommand, ReportsInvalidInput) {
  const std::string model = sample("linear_relu/model.pt2");
  const std::string program = sample("add_mul/model.pte");
  EXPECT_THAT(advise("--no_trials --apply 99 " + model).err, HasSubstr("--apply 99: "));
  EXPECT_EQ(advise("--verify " + model).exit_code, 64);
  EXPECT_EQ(advise("--baseline nonsense " + model).exit_code, 64);
  EXPECT_THAT(advise("--source " + model + " " + model).err, HasSubstr("--source: "));
  EXPECT_THAT(advise("--source " + program + " " + program).err,
              HasSubstr("expected an exported model"));
  EXPECT_THAT(advise("--inputs " + model + " " + model).err, HasSubstr("--inputs"));
}

// Moves the pointer to a piece of advice and clicks it. The page then marks the table rows that the
// advice concerns.
constexpr char kPointAndClick[] = R"(
const marked = () => [...document.querySelectorAll('#table tr.marked')].map((row) => Number(row.dataset.rows));
const data = JSON.parse(document.getElementById('head-data').textContent);
const line = data.lines.find((one) => one.rows.length), item = document.querySelector(`#advice li[data-name="${line.name}"]`);
seen.lines = [document.querySelectorAll('#advice > li').length, data.lines.length];
seen.rows = [...line.rows].sort((a, b) => a - b);
seen.before = marked();
item.dispatchEvent(new PointerEvent('pointerenter'));
seen.pointed = marked();
item.dispatchEvent(new PointerEvent('pointerleave'));
seen.left = marked();
item.querySelector('.advice-head').click();
seen.clicked = marked();
item.querySelector('.advice-head').click();
seen.released = marked();
item.querySelector('.to-rows').click();
seen.shown = marked();
)";

TEST(AdvicePage, AdviceLinesHighlightRowsInTheTable) {
  VITRINE_NEEDS_BROWSER();
  const std::string page =
      succeeded(advise("--no_trials --format html " + sample("digits_portable/model.pte"))).out;
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const nlohmann::json seen = drive(page, window, kPointAndClick);
    EXPECT_EQ(seen.at("lines")[0], seen.at("lines")[1]);
    ASSERT_FALSE(seen.at("rows").empty());
    for (const char* state : {"pointed", "clicked", "shown"}) {
      EXPECT_EQ(seen.at(state), seen.at("rows")) << state;
    }
    for (const char* state : {"before", "left", "released"}) {
      EXPECT_EQ(seen.at(state), nlohmann::json::array()) << state;
    }
  }
}

}  // namespace
}  // namespace vitrine::test
