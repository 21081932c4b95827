// Tests llm_runner --numerics on language models.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/tools/command.h"
#include "test/tools/llm_runner/direct_logits.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kIds[] = "1,456,5,42,469,7,8,9";

CommandResult numerics(const std::string& program, const std::string& reference,
                       const std::string& arguments) {
  return run_tool(VITRINE_LLM_RUNNER, fmt::format("{} --numerics --reference {} --context 256 {}",
                                                  program, reference, arguments));
}

TEST(LlmNumerics, DivergenceByPositionMatchesDirectFormula) {
  VITRINE_NEEDS_CORPUS_LLM();
  const std::string program = sample("kjv_8da4w/model.pte");
  const std::string reference = (corpus_llm_dir() / "kjv_f32/model.pte").string();
  const std::vector<TokenId> ids = {1, 456, 5, 42, 469, 7, 8, 9};
  const auto a = direct_log_probabilities(reference, ids);
  const auto b = direct_log_probabilities(program, ids);
  const CommandResult result =
      numerics(program, reference, fmt::format("--prompt_ids {} --format json", kIds));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  for (const json& block : report.at("positions")) {
    double sum = 0;
    int same = 0;
    const size_t first = block.at("first");
    const size_t last = block.at("last");
    for (size_t i = first; i <= last; ++i) {
      for (size_t id = 0; id < a[i].size(); ++id) {
        sum += std::exp(a[i][id]) * (a[i][id] - b[i][id]);
      }
      const auto top = [](const std::vector<double>& logs) {
        return std::ranges::max_element(logs) - logs.begin();
      };
      same += top(a[i]) == top(b[i]) ? 1 : 0;
    }
    EXPECT_NEAR(block.at("mean_kl"), sum / static_cast<double>(last - first + 1), 1e-5);
    EXPECT_EQ(block.at("same_top_1"), same);
  }
}

// Equal tensors have an infinite SQNR, which JSON cannot express.
double decibels(const json& figures) {
  if (figures.at("equal")) return std::numeric_limits<double>::infinity();
  return figures.at("sqnr_db");
}

// Only layer 2 is quantized, so the layers before it are as exact as float kernels, and its caches,
// attention and output are not.
TEST(LlmNumerics, FindsTheQuantizedLayer) {
  VITRINE_NEEDS_CORPUS_LLM();
  const ScratchFolder scratch;
  const std::string model = (corpus_llm_dir() / "kjv_f32/model.pt2").string();
  const std::string reference = (scratch / "reference.pte").string();
  const std::string program = (scratch / "program.pte").string();
  ASSERT_EQ(run_tool(VITRINE_PTE_LOWER, model + " -o " + reference).exit_code, 0);
  const CommandResult lowered =
      run_tool(VITRINE_PTE_LOWER, model +
                                      " --backend xnnpack --quantize int8_dynamic --keep "
                                      "'layers.0.*=float' --keep 'layers.1.*=float' --keep "
                                      "'layers.3.*=float' --keep output=float -o " +
                                      program);
  ASSERT_EQ(lowered.exit_code, 0) << lowered.err;
  const std::string arguments = fmt::format("--prompt_ids {} --format json", kIds);
  const CommandResult result = numerics(program, reference, arguments + " --fail_below 60dB");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  const json report = json::parse(result.out);
  ASSERT_EQ(report.at("layers").size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const json& layer = report.at("layers").at(i);
    EXPECT_EQ(layer.at("layer"), fmt::format("layers.{}", i));
    EXPECT_EQ(layer.at("caches").at(0).at("role"), "keys");
    EXPECT_EQ(layer.at("caches").at(1).at("role"), "values");
    std::vector<double> figures = {decibels(layer.at("attention")), decibels(layer.at("output"))};
    for (const json& cache : layer.at("caches")) {
      for (const json& range : cache.at("by_positions")) figures.push_back(decibels(range));
    }
    if (i < 2) {
      EXPECT_THAT(figures, testing::Each(testing::Gt(100))) << i;
    } else {
      EXPECT_THAT(figures, testing::Each(testing::AllOf(testing::Gt(20), testing::Lt(70)))) << i;
    }
  }
  EXPECT_EQ(numerics(program, reference, arguments + " --fail_below 20dB").exit_code, 0);
}

TEST(LlmNumerics, ProgramWithoutNamesComparesCachesAndGivesReason) {
  const std::string program = sample("kjv_8da4w/model.pte");
  const CommandResult result =
      numerics(program, program, fmt::format("--prompt_ids {} --width 80", kIds));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("attention 3             -        same        same"));
  EXPECT_THAT(result.out, HasSubstr("layers: no values with the module of a layer"));
  EXPECT_THAT(result.out, HasSubstr("do not tell keys from values"));
}

TEST(LlmNumerics, RejectsInputsThatCannotBeCompared) {
  const std::string program = sample("kjv_8da4w/model.pte");
  const auto error = [&](const std::string& arguments) {
    const CommandResult result = numerics(program, program, arguments);
    EXPECT_EQ(result.exit_code, 1) << result.out;
    return result.err;
  };
  EXPECT_THAT(error("--prompt_ids 1"), HasSubstr("needs at least two tokens, found 1"));
  EXPECT_THAT(error("--prompt_ids 1,600"), HasSubstr("id 600 is not in the vocabulary of 512"));
  EXPECT_THAT(error("--prompt_ids 1,2 --context 1"), HasSubstr("do not fit into a context of 1"));
  EXPECT_THAT(numerics(program, sample("add_mul/model.pte"), "--prompt_ids 1,2").err,
              HasSubstr("is not a decoder"));
  EXPECT_EQ(numerics(program, program, "--prompt_ids 1,2 --format csv").exit_code, 64);
  EXPECT_EQ(numerics(program, program, "--prompt_ids 1,2 --fail_below x").exit_code, 64);
}

}  // namespace
}  // namespace vitrine::test
