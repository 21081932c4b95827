// Tests rules that give advice about repeated calls, sizes, dtypes, memory and the machine. Each
// test fills in a context for a rule, and compares the modeled gain with the formulas of
// docs/advice.md.
#include "tools/advise/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "aot/graph/exported_program.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/tools/advise/sample_context.h"
#include "test/tools/command.h"
#include "tools/advise/build_kind.h"
#include "tools/advise/find_advice.h"
#include "tools/advise/modeled_gain.h"
#include "tools/advise/size_times.h"
#include "tools/advise/source_model.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using namespace vitrine::tools;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A graph with the input x and the parameter w, both f32[4].
struct TestGraph {
  aot::ExportedProgram program;
  aot::Node* x;
  aot::Node* w;

  TestGraph() {
    w = program.graph->placeholder("w");
    x = program.graph->placeholder("x");
    aot::InputSpec weight;
    weight.kind = aot::InputSpec::Kind::kParameter;
    weight.name = "w";
    weight.target = "w";
    aot::InputSpec input;
    input.name = "x";
    program.signature.inputs = {weight, input};
    for (aot::Node* node : {w, x}) node->meta.value = spec();
  }

  static aot::TensorSpec spec() { return aot::contiguous_spec(ScalarType::kFloat, {4}); }

  aot::Node* call(const char* op, std::vector<aot::Node*> inputs) {
    aot::ArgumentList arguments;
    for (aot::Node* input : inputs) arguments.emplace_back(input);
    aot::Node* node = program.graph->call(aot::Target::of(op), std::move(arguments));
    node->meta.value = spec();
    return node;
  }

  std::vector<Advice> advice() {
    Context context = context_with_rows();
    context.source = "m.pt2";
    context.exported = &program;
    return advise_repeated_calls(context);
  }
};

// The graph computes exp(x) * tanh(exp(x)) twice. The second exp, tanh and mul repeat the first
// ones.
TEST(RepeatedCalls, AreFoundEvenIfInputsAreRepeatedCalls) {
  TestGraph graph;
  for (int i = 0; i < 2; ++i) {
    aot::Node* exp = graph.call("aten.exp.default", {graph.x});
    graph.call("aten.mul.Tensor", {exp, graph.call("aten.tanh.default", {exp})});
  }
  const std::vector<Advice> advice = graph.advice();
  ASSERT_THAT(names_of(advice), ElementsAre("optimize"));
  EXPECT_THAT(advice[0].why, HasSubstr("3 calls are computed again with the same inputs: exp x1, "
                                       "mul x1, tanh x1"));
  EXPECT_EQ(advice[0].change->lowering, parse_settings("--optimize"));
}

TEST(RepeatedCalls, CallsWithDifferentInputsOrRandomResultsAreNotRepeated) {
  TestGraph graph;
  graph.call("aten.exp.default", {graph.x});
  graph.call("aten.exp.default", {graph.w});
  for (int i = 0; i < 2; ++i) graph.call("aten.rand_like.default", {graph.x});
  const std::vector<Advice> advice = graph.advice();
  ASSERT_THAT(names_of(advice), ElementsAre("fold_constants"));  // exp(w) is constant
  EXPECT_THAT(advice[0].why, HasSubstr("1 call depends on weights only: exp x1"));
}

TEST(RepeatedCalls, AreNotReportedForGraphsThatWriteInPlace) {
  TestGraph graph;
  graph.call("aten.exp.default", {graph.x});
  graph.call("aten.relu_.default", {graph.x});
  graph.call("aten.exp.default", {graph.x});
  EXPECT_THAT(graph.advice(), IsEmpty());
}

// A copy of `node` in which the values have other names.
nlohmann::json renamed(const nlohmann::json& node,
                       const std::vector<std::pair<std::string, std::string>>& names) {
  std::string text = node.dump();
  for (const auto& [from, to] : names) {
    const std::string old_name = "\"name\":\"" + from + '"';
    const std::string new_name = "\"name\":\"" + to + '"';
    for (size_t at = text.find(old_name); at != std::string::npos; at = text.find(old_name)) {
      text.replace(at, old_name.size(), new_name);
    }
  }
  return nlohmann::json::parse(text);
}

// Writes the model relu(x + w) + relu(x + w), which computes both terms. Returns its path.
std::string repeating_model(const ScratchFolder& folder) {
  nlohmann::json program = nlohmann::json::parse(small_program_json());
  nlohmann::json& graph = program["graph_module"]["graph"];
  const nlohmann::json add = graph["nodes"][0], relu = graph["nodes"][1];
  graph["nodes"].push_back(renamed(add, {{"add", "add_1"}}));
  graph["nodes"].push_back(renamed(relu, {{"add", "add_1"}, {"relu", "relu_1"}}));
  graph["nodes"].push_back(renamed(add, {{"x", "relu"}, {"p_w", "relu_1"}, {"add", "sum"}}));
  for (const char* name : {"add_1", "relu_1", "sum"}) {
    graph["tensor_values"][name] = graph["tensor_values"]["relu"];
  }
  graph["outputs"] = renamed(graph["outputs"], {{"relu", "sum"}});
  nlohmann::json& outputs = program["graph_module"]["signature"]["output_specs"];
  outputs = renamed(outputs, {{"relu", "sum"}});
  const std::string path = (folder / "model.pt2").string();
  write_file(path, write_zip(small_pt2(program.dump())));
  return path;
}

// The rule counts the repeated calls in the exported graph. Lowering removes the repeated calls and
// counts them. Both counts must be equal.
TEST(RepeatedCalls, MatchTheCallsThatLoweringRemoves) {
  const ScratchFolder folder;
  const SourceModel model(repeating_model(folder), "forward");
  Context context = context_with_rows();
  context.source = model.file();
  context.exported = &model.program();
  const std::vector<Advice> advice = advise_repeated_calls(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].why, HasSubstr("2 calls are computed again with the same inputs: add x1, "
                                       "relu x1"));
  const LoweredProgram lowered = model.lower(advice[0].change->lowering);
  size_t removed = 0;
  for (const aot::Change& change : lowered.model.changes.at("forward")) {
    if (change.what == "repeated call removed") removed += change.calls;
  }
  EXPECT_EQ(removed, 2u);
}

SizeTime size_time(int64_t size, double ns) { return {size, std::vector<double>(6, ns)}; }

TEST_F(AdviceRule, BatchAdvisesTheBatchSizeWithTheShortestTimePerSample) {
  context.facts.dynamic_sizes = {{.name = "x.0", .min = 1, .max = 64, .used = 1}};
  // In batches of 1, 2 and 4, a sample takes 1000, 600 and 700 ns.
  context.batch_times = {size_time(1, 1000), size_time(2, 1200), size_time(4, 2800)};
  const std::vector<Advice> advice = advise_batch(context);
  ASSERT_THAT(names_of(advice), ElementsAre("batch_2"));
  EXPECT_TRUE(advice[0].saved->contains(400));
  context.facts.dynamic_sizes[0].used = 2;
  EXPECT_THAT(advise_batch(context), IsEmpty());
}

TEST(Batch, SizesAreWithinTheBoundsOfAllInputs) {
  ModelFacts facts;
  facts.dynamic_sizes = {{.name = "x.0", .input = 0, .dim = 0, .min = 2, .max = 16, .used = 16}};
  EXPECT_THAT(batch_sizes(facts, 1), ElementsAre(2, 4, 8, 16));
  EXPECT_THAT(batch_sizes(facts, 2), IsEmpty());  // the second input has no batch
  facts.dynamic_sizes[0].dim = 1;
  EXPECT_THAT(batch_sizes(facts, 1), IsEmpty());
}

TEST_F(AdviceRule, PrefillChunkAdvisesTheChunkSizeWithTheShortestTimePerToken) {
  EXPECT_THAT(advise_prefill_chunk(context), IsEmpty());
  context.chunk_times = {size_time(1, 1000), size_time(8, 2000), size_time(32, 16000)};
  const std::vector<Advice> advice = advise_prefill_chunk(context);
  ASSERT_THAT(names_of(advice), ElementsAre("prefill_8"));
  EXPECT_EQ(advice[0].gain, Gain::kPrompt);
  EXPECT_TRUE(advice[0].saved->contains(750));
  EXPECT_THAT(chunk_sizes(100), ElementsAre(1, 8, 32, 100));
}

// A token takes 100 ns at position 0 and 400 ns at position 300. The time grows by 1 ns per
// position, so it is 200 ns at position 100.
TEST_F(AdviceRule, ContextLengthRuleFindsThePositionWhereTheTimeDoubles) {
  context.positions = PositionTimes{.first_ns = 100, .last_ns = 400, .last = 300};
  EXPECT_DOUBLE_EQ(context.positions->dominating_position(), 100);
  const std::vector<Advice> advice = advise_context_length(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].what, HasSubstr("position 100 of 301"));
  EXPECT_DOUBLE_EQ(advice[0].saved->high, 150);
  context.positions->last_ns = 150;  // doubles at 600, beyond the context
  EXPECT_THAT(advise_context_length(context), IsEmpty());
}

TEST_F(AdviceRule, CacheDtypeCountsBytesOfValuesAndScales) {
  context.facts.cache_bytes = 400'000;
  context.facts.cache_values = 64;
  const std::vector<Advice> advice = advise_cache_dtype(context);
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_DOUBLE_EQ(advice[0].saved->low, 200'000);
  // The cache has 100000 values, 64 for each head of each token. An int8 cache needs 1 byte per
  // value. It also needs 5 to 16 bytes per 64 values for their scale and zero point.
  EXPECT_DOUBLE_EQ(advice[1].saved->high, 400'000 - 100'000 - 100'000 / 64.0 * 5);
  EXPECT_DOUBLE_EQ(advice[1].saved->low, 400'000 - 100'000 - 100'000 / 64.0 * 16);
  context.facts.cache_dtype = ScalarType::kHalf;
  EXPECT_THAT(advise_cache_dtype(context), IsEmpty());
}

TEST_F(AdviceRule, HalfPrecisionAdviceDependsOnOptionsAndTheProcessor) {
  context.source = "m.pt2";
  EXPECT_THAT(advise_half_precision(context), IsEmpty());
  context.facts.has_bf16 = true;
  context.baseline.lowering = parse_settings("--backend xnnpack");
  ASSERT_THAT(advise_half_precision(context), SizeIs(1));
  EXPECT_EQ(advise_half_precision(context)[0].change->lowering,
            parse_settings("--backend-option enable_bf16"));
  context.baseline.lowering.push_back({"--backend-option", "enable_bf16"});
  EXPECT_THAT(advise_half_precision(context), IsEmpty());

  context.profile.rows.push_back(
      delegate_row("aten.linear.default", "Fully Connected (NC, F32)", 0.5));
  context.profile.rows.back().cost =
      inspector::Cost{.flops = 1e6, .bytes = 1e6, .is_float32 = true};
  context.facts.weight_bytes = 2'000'000;
  EXPECT_THAT(advise_half_precision(context), IsEmpty());
  context.processor_features.has_f16 = true;
  ASSERT_THAT(advise_half_precision(context), SizeIs(1));
  EXPECT_EQ(advise_half_precision(context)[0].confidence, Confidence::kRule);
}

TEST_F(AdviceRule, InstructionSetsRuleReportsMissingSetsThatKernelsWouldUse) {
  context.profile.rows = {
      delegate_row("aten.linear.default", "Fully Connected (NC, QD8, F32, QC8W)", 0.5),
      delegate_row("aten.convolution.default", "Convolution (NHWC, F32) IGEMM", 0.4)};
  const auto names = [&] { return names_of(advise_instruction_sets(context)); };
  EXPECT_THAT(names(), IsEmpty());  // an unknown processor
  context.processor_features.family = ProcessorFeatures::Family::kX86;
  EXPECT_THAT(names(), ElementsAre("no_vnni", "no_avx512"));
  EXPECT_THAT(advise_instruction_sets(context)[1].why, HasSubstr("AVX2"));
  EXPECT_FALSE(advise_instruction_sets(context)[0].saved.has_value());
  context.processor_features.has_int8_products = true;
  context.processor_features.has_avx512 = true;
  EXPECT_THAT(names(), IsEmpty());
  context.processor_features = {.family = ProcessorFeatures::Family::kArm};
  EXPECT_THAT(names(), ElementsAre("no_dotprod"));
}

TEST_F(AdviceRule, MemoryPeakReportsTheLargestPartAndTheOptionThatReducesIt) {
  EXPECT_THAT(advise_memory_peak(context), IsEmpty());
  context.profile.run.memory = inspector::MemoryInfo{.planned = 100'000, .workspace = 2'000'000};
  std::vector<Advice> advice = advise_memory_peak(context);
  ASSERT_THAT(names_of(advice), ElementsAre("memory_workspace"));
  EXPECT_THAT(advice[0].how, HasSubstr("workspace_sharing_mode"));
  EXPECT_THAT(advice[0].why, HasSubstr("2.00 MB of 2.10 MB"));
  EXPECT_FALSE(advice[0].saved);
  context.profile.run.memory->planned = 5'000'000;
  EXPECT_THAT(advise_memory_peak(context)[0].how, Not(HasSubstr("--dynamic")));
  context.facts.dynamic_sizes = {{.name = "x.0", .min = 1, .max = 64, .used = 64}};
  EXPECT_THAT(advise_memory_peak(context)[0].how, HasSubstr("--dynamic"));
  // No kind of memory makes up half of the total, so the rule does not give advice.
  context.profile.run.memory->packed_weights = 5'000'000;
  EXPECT_THAT(advise_memory_peak(context), IsEmpty());
}

TEST_F(AdviceRule, FirstRunIsReportedOnlyIfItTakesAMillisecondLongerThanLaterRuns) {
  context.profile.wall.p50 = 2e6;
  context.profile.wall.first = 2.9e6;
  EXPECT_THAT(advise_first_run(context), IsEmpty());
  context.profile.wall.first = 6e6;
  const std::vector<Advice> advice = advise_first_run(context);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].why, HasSubstr("the first run takes 6.00 ms, later runs 2.00 ms"));
  EXPECT_FALSE(advice[0].saved);
}

TEST(BuildKind, RefusesSanitizersAndUnoptimizedBuilds) {
  EXPECT_THAT(build_disturbance({}), IsEmpty());
  EXPECT_THAT(build_notes({}), IsEmpty());
  EXPECT_THAT(build_disturbance({.has_assertions = true}), IsEmpty());
  EXPECT_THAT(build_notes({.has_assertions = true}), ElementsAre(HasSubstr("assertions")));
  EXPECT_THAT(build_disturbance({.is_optimized = false}), HasSubstr("preset release"));
  EXPECT_THAT(build_disturbance({.has_sanitizer = true}), HasSubstr("sanitizer"));
  EXPECT_THAT(build_notes({.is_optimized = false}), SizeIs(1));
}

TEST(ModeledGain, ThreadsDivideTheTimeOfDelegatesAndProducts) {
  Context context = context_with_rows();
  context.profile.wall.p50 = 1e6;  // 0.8 ms in a kernel without a cost
  context.profile.rows[0].calls = 1;
  context.threads = 2;
  context.profile.rows.push_back(delegate_row("aten.linear.default", "linear", 0.1));
  EXPECT_DOUBLE_EQ(saved_by_threads(context, 4).high, 49'000);  // half of 100 us, less 1 us
  context.profile.rows[0].cost = inspector::Cost{.flops = 1e6};
  EXPECT_DOUBLE_EQ(saved_by_threads(context, 4).high, 49'000 + 399'000);
  EXPECT_DOUBLE_EQ(saved_by_threads(context, 1).high, 0);
  context.profile.wall.p50 = 1000;  // shorter than waking a thread
  EXPECT_DOUBLE_EQ(saved_by_threads(context, 4).high, 0);
}

// Two calls take 10 us in total. At best, the time decreases in proportion to the bytes, to a
// quarter. At worst, the calls take 10 % longer, and each call needs 0.2 us for a conversion.
TEST(ModeledGain, SmallerWeightsSaveBytesButAddConversions) {
  const RowSum rows = {.numbers = {1}, .ns = 10'000, .calls = 2};
  EXPECT_DOUBLE_EQ(saved_by_smaller_weights(rows, 0.25).high, 7'500);
  EXPECT_DOUBLE_EQ(saved_by_smaller_weights(rows, 0.25).low, -1'400);
  const RowSum small = {.numbers = {1}, .ns = 100, .calls = 1};
  EXPECT_DOUBLE_EQ(saved_by_smaller_weights(small, 0.25).high, 0);
}

TEST(ModeledGain, SavedCallsMayBeTheCheapestOrTheMostExpensive) {
  Context context = context_with_rows();
  context.profile.rows[0].calls = 4;  // 200 ns each
  inspector::ProfileRow& copy = context.profile.rows.emplace_back();
  copy.share = 0.1;
  copy.calls = 1;  // 100 ns
  // The rows take 900 ns in total. The other 100 ns of the run are outside of rows.
  EXPECT_DOUBLE_EQ(saved_by_fewer_calls(context, 2).low, 100 + 200);
  EXPECT_DOUBLE_EQ(saved_by_fewer_calls(context, 2).high, 200 + 200 + 100);
  EXPECT_DOUBLE_EQ(saved_by_fewer_calls(context, 99).high, 1000);
  context.profile.delegate_calls.resize(1);
  EXPECT_DOUBLE_EQ(saved_by_fewer_calls(context, 2).low, 0);
}

TEST(ModeledGain, RatiosFollowFromTheSavedTime) {
  const Context context = context_with_rows();
  Advice advice{.name = "x", .change = Variant{}, .saved = Interval{-100, 600}};
  set_modeled_ratio(context, advice);
  EXPECT_DOUBLE_EQ(advice.ratio->low, 0.4 * std::exp(-0.05));
  EXPECT_DOUBLE_EQ(advice.ratio->high, 1.1 * std::exp(0.05));
  Advice source{.name = "y", .saved = Interval{1, 2}};
  set_modeled_ratio(context, source);
  EXPECT_FALSE(source.ratio.has_value());  // --apply cannot make it
}

// Two pieces of advice exclude each other if they set one option to different values, even if they
// come from different rules.
TEST(AdviceRanking, ReportsAdviceThatExcludesOtherAdvice) {
  Context context = context_with_rows();
  context.source = "m.pt2";
  context.threads = 1;
  context.facts.linears = 1;
  context.facts.embeddings = 1;
  context.facts.has_bf16 = true;
  context.baseline.lowering = parse_settings("--backend xnnpack");
  context.profile.delegate_calls.resize(1);
  TestGraph graph;
  graph.call("aten.exp.default", {graph.w});
  context.exported = &graph.program;
  std::vector<Advice> all = collect_advice(context);
  rank_advice(all);
  const auto excluded = [&](std::string_view name) {
    std::vector<std::string> names;
    for (const Advice& advice : all) {
      if (advice.name != name) continue;
      for (const size_t line : advice.excludes) names.push_back(all[line - 1].name);
    }
    return names;
  };
  EXPECT_THAT(excluded("8da4w_embedding4"),
              testing::UnorderedElementsAre("int8", "int8_dynamic", "8da4w", "8da4w_embedding"));
  EXPECT_THAT(excluded("threads_2"), ElementsAre("threads_4"));
  EXPECT_THAT(excluded("fold_constants"), IsEmpty());
  EXPECT_THAT(excluded("delegate_bf16"), ElementsAre("no_backend"));
}

CommandResult advise_without_trials(const std::string& arguments) {
  return run_tool(VITRINE_COMMAND, "advise --force --threads 1 --no_trials " + arguments);
}

TEST(AdviseCommand, ReportsTheLargestPartOfTheMemory) {
  const CommandResult result =
      succeeded(advise_without_trials("--width 200 " + sample("kjv_8da4w/model.pte")));
  const size_t line = result.out.find("memory_plan: gain unknown\n");
  ASSERT_NE(line, std::string::npos) << result.out;
  // Advice without a figure for the gain comes last.
  EXPECT_THAT(result.out.substr(line), Not(HasSubstr(": saves")));
}

// The trial of the rule delegate_bf16 lowers the model with the option that lets XNNPACK delegate
// bf16.
TEST(AdviseCommand, TriesDelegationOfBf16) {
  if (corpus_15_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_15";
  const std::string model = (corpus_15_dir() / "v15_bf16_block/model.pt2").string();
  const SourceModel source(model, "forward");
  EXPECT_TRUE(source.facts().has_bf16);
  const auto delegates = [&](const char* settings) {
    const LoweredProgram lowered = source.lower(parse_settings(settings));
    size_t calls = 0;
    for (const aot::Node& node : lowered.model.methods.at("forward").graph->nodes()) {
      if (node.is_call() &&
          node.target().name().find("executorch_call_delegate") != std::string::npos) {
        ++calls;
      }
    }
    return calls;
  };
  EXPECT_GT(delegates("--backend xnnpack --backend-option enable_bf16"),
            delegates("--backend xnnpack"));
}

TEST(AdviseCommand, DynamicBatchShowsTimePerSampleAndNotesTheBounds) {
  VITRINE_NEEDS_CORPUS();
  const std::string model = (corpus_dir() / "dynamic_batch_xnnpack/model.pt2").string();
  EXPECT_THAT(advise_without_trials("--width 200 " + model),
              Prints(HasSubstrs("time per sample, by batch size: ",
                                "was set to 16, the maximum of its bounds 1 to 16")));
}

TEST(AdviseCommand, EstimatesGainsForDecodersEvenWithoutTrials) {
  VITRINE_NEEDS_CORPUS_LLM();
  const std::string model = (corpus_llm_dir() / "kjv_f32/model.pt2").string();
  EXPECT_THAT(advise_without_trials("--width 200 " + model),
              Prints(HasSubstrs("8da4w_embedding4: saves up to ", "of a prompt's token",
                                "cache_int8: saves ", "most expensive kernel calls")));
}

}  // namespace
}  // namespace vitrine::test
