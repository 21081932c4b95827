#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/tools/command.h"
#include "test/tools/llm_runner/direct_logits.h"
#include "tools/common/files.h"
#include "vitrine/tokenizer.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kText[] =
    "And God said, Let there be light: and there was light.\nAnd God saw the light, that it was "
    "good: and God divided the light from the darkness.";

class PerplexityTest : public testing::Test {
 protected:
  void SetUp() override { tools::write_file(text_, std::string_view(kText)); }

  CommandResult run(const std::string& arguments) const {
    return run_tool(VITRINE_LLM_RUNNER,
                    fmt::format("{} --tokenizer {} {}", model_, tokenizer_, arguments));
  }

  const ScratchFolder scratch_;
  const std::string text_ = (scratch_ / "text.txt").string();
  const std::string model_ = sample("kjv_8da4w/model.pte");
  const std::string tokenizer_ = sample("kjv_8da4w/tokenizer.model");
};

// Returns -ln of the probability of each id except the first.
std::vector<double> direct_nats(const std::string& model, const std::vector<TokenId>& ids) {
  const auto logs = direct_log_probabilities(model, ids);
  std::vector<double> nats;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    nats.push_back(-logs[i][static_cast<size_t>(ids[i + 1])]);
  }
  return nats;
}

double mean(const std::vector<double>& values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

TEST_F(PerplexityTest, MatchesDirectFormula) {
  const auto tokenizer = load_tokenizer(tokenizer_);
  const std::vector<double> nats = direct_nats(model_, tokenizer->encode(kText, {.num_bos = 1}));
  const json report = json_of(run("--num_bos 1 --format json --perplexity " + text_));
  const json& figures = report.at("models").at(0);
  EXPECT_EQ(report.at("scored_tokens"), nats.size());
  EXPECT_NEAR(figures.at("nats_per_token").at("value"), mean(nats), 1e-5);
  EXPECT_NEAR(figures.at("perplexity"), std::exp(mean(nats)), 1e-4);
  const double bits = mean(nats) * static_cast<double>(nats.size()) / std::log(2);
  EXPECT_NEAR(figures.at("bits_per_byte").at("value"), bits / static_cast<double>(sizeof kText - 1),
              1e-5);
}

// Results of the float model and of the int4 model. Each is computed without llm_runner.
TEST_F(PerplexityTest, DifferenceOfTwoModelsMatchesDirectFormula) {
  VITRINE_NEEDS_CORPUS_LLM();
  const std::string reference = (corpus_llm_dir() / "kjv_f32/model.pte").string();
  const auto ids = load_tokenizer(tokenizer_)->encode(kText, {.num_bos = 1});
  const double a = mean(direct_nats(model_, ids));
  const double b = mean(direct_nats(reference, ids));
  const json report = json_of(
      run(fmt::format("--num_bos 1 --format json --perplexity {} --compare {}", text_, reference)));
  const json& change = report.at("b_against_a").at("nats_per_token");
  EXPECT_NEAR(report.at("models").at(1).at("nats_per_token").at("value"), b, 1e-5);
  EXPECT_NEAR(change.at("value"), b - a, 1e-5);
  EXPECT_LT(change.at("error"), report.at("models").at(0).at("nats_per_token").at("error"));
}

TEST_F(PerplexityTest, ProgramDoesNotDifferFromItself) {
  EXPECT_THAT(run(fmt::format("--width 80 --perplexity {} --compare {}", text_, model_)),
              Prints(HasSubstrs("mean 0.00000 ± 0.00000 nats", "same top token at 100.0 ± 0.0 %",
                                "the first token is not scored")));
}

TEST_F(PerplexityTest, ReportsUnusableTextsAndOptions) {
  const std::string other = (scratch_ / "other.txt").string();
  const auto error_for = [&](std::string_view text, const std::string& options = "") {
    tools::write_file(other, text);
    const CommandResult result = run(fmt::format("--perplexity {} {}", other, options));
    EXPECT_EQ(result.exit_code, 1) << result.out;
    return result.err;
  };
  EXPECT_THAT(error_for(""), HasSubstr("other.txt: the file is empty"));
  EXPECT_THAT(error_for("a", "--max_tokens 2 --stride 999"), HasSubstr("stride of 999"));
  EXPECT_THAT(run("--perplexity /nonexistent").err, HasSubstr("/nonexistent"));
  EXPECT_EQ(run(fmt::format("--perplexity {} --prompt And", text_)).exit_code, 64);
  EXPECT_EQ(run(fmt::format("--perplexity {} --format html", text_)).exit_code, 64);
  EXPECT_EQ(run("--stride 4").exit_code, 64);

  tools::write_file(other, std::string_view("light \xff and dark"));
  EXPECT_THAT(run("--perplexity " + other).err, HasSubstr("other.txt: byte 6 is not UTF-8"));
}

TEST_F(PerplexityTest, ScoresAtMostMaxTokensAndWritesOneLinePerToken) {
  const CommandResult result = succeeded(run("--max_tokens 9 --format csv --perplexity " + text_));
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 9);  // the header and eight tokens
  EXPECT_THAT(run("--max_tokens 9 --perplexity " + text_).out,
              HasSubstr("only the first 9 tokens of the file were scored"));
}

}  // namespace
}  // namespace vitrine::test
