#include "llm/profile/token_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/format_error.h"

namespace vitrine::llm {
namespace {

using inspector::GroupBy;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Json times(double prefill, double decode, double usual) {
  return {{"prefill_ns", prefill}, {"decode_ns", decode}, {"usual_decode_ns", usual}};
}

// A profile with figures by hand: `rows` are op, module, prefill and decode ns of a token.
struct Row {
  const char* op;
  const char* module;
  double prefill, decode;
};
struct Made {
  int64_t prompt = 4;
  int64_t decoded = 20;
  int64_t usual = 10;
  const char* record = "m.etrecord";
  std::vector<Row> rows;

  Json profile() const {
    const auto p = static_cast<double>(prompt);
    const auto d = static_cast<double>(decoded);
    const auto u = static_cast<double>(usual);
    // Disturbed tokens take twice as long.
    const auto made = [&](double prefill, double decode) {
      return times(p * prefill, (u + 2 * (d - u)) * decode, u * decode);
    };
    Json all = {{"version", 2}};
    all["run"] = {{"model", "m.pte"}, {"method", "forward"}, {"record", record},
                  {"threads", 1},     {"max_context", 64},   {"first_token_ns", {1000}}};
    double wall_prefill = 0, wall_decode = 0;
    const auto count = [&](double prefill, double decode) {
      wall_prefill += prefill;
      wall_decode += decode;
      return made(prefill, decode);
    };
    all["rows"] = Json::array();
    for (const Row& row : rows) {
      Json each = count(row.prefill, row.decode);
      each["groups"] = {
          {"op", row.op}, {"module", row.module}, {"line", "m.py:1"}, {"delegate", "XNNPACK 0"}};
      all["rows"].push_back(each);
    }
    all["unattributed"] = count(10, 5);
    for (const char* part : {"tokenizer: prompt", "between steps", "inputs and logits", "sampling",
                             "tokenizer: text", "output"}) {
      all["parts"][part] = count(1, 1);
    }
    all["wall"] = made(wall_prefill, wall_decode);
    all["phases"]["prefill"] = {
        {"steps", 1}, {"tokens", prompt}, {"wall_ns", all["wall"]["prefill_ns"]}};
    all["phases"]["decode"] = {
        {"steps", decoded}, {"tokens", decoded}, {"wall_ns", all["wall"]["decode_ns"]}};
    all["token_ns"] = {{"p50", 100.0}, {"p99", 200.0}};
    all["fitted_tokens"] = usual;
    all["tokens"] = Json::array();
    for (int64_t i = 0; i < decoded; ++i) all["tokens"].push_back({prompt + i, 100});
    return all;
  }
  SavedTokens saved(const char* name) const { return read_saved_tokens(profile().dump(), name); }
};

std::vector<std::string> names(const TokenComparison& comparison) {
  std::vector<std::string> all;
  for (const ComparedTokens& row : comparison.rows) all.push_back(row.name);
  return all;
}

const Made kFloat = {.rows = {{"linear", "l.0", 100, 300},
                              {"linear", "l.1", 100, 300},
                              {"mul", "l.0", 7, 8},
                              {"embedding", "e", 2, 2}}};
const Made kQuantised = {.prompt = 8,
                         .decoded = 40,
                         .usual = 20,
                         .rows = {{"quantize", "l.0", 5, 6},
                                  {"linear", "l.0", 40, 50},
                                  {"linear", "l.1", 30, 60},
                                  {"mul", "l.0", 7, 9}}};

TEST(TokenComparison, MatchesRowsByOpAndSumsThemByToken) {
  const TokenComparison found =
      compare_tokens(kFloat.saved("a"), kQuantised.saved("b"), GroupBy::kOp);
  EXPECT_THAT(names(found), ElementsAre("linear", "mul", "embedding", "quantize"));
  const ComparedTokens& linear = found.rows[0];
  EXPECT_EQ(linear.rows_a, 2u);
  EXPECT_EQ(linear.rows_b, 2u);
  // Of one token, whatever the lengths; disturbed ones do not count.
  EXPECT_THAT(linear.a, ElementsAre(200, 600));
  EXPECT_THAT(linear.b, ElementsAre(70, 110));
  EXPECT_EQ(linear.change(kDecode), -490);
  EXPECT_TRUE(found.is_over_usual);
  for (const size_t phase : {kPrefill, kDecode}) {
    double a = 0, b = 0;
    for (const auto* rows : {&found.rows, &found.outside}) {
      for (const ComparedTokens& row : *rows) {
        a += row.a[phase];
        b += row.b[phase];
      }
    }
    EXPECT_NEAR(a, found.wall.a[phase], 1e-9);
    EXPECT_NEAR(b, found.wall.b[phase], 1e-9);
  }
}

TEST(TokenComparison, MatchesSingleRowsByModuleToo) {
  const TokenComparison found =
      compare_tokens(kFloat.saved("a"), kQuantised.saved("b"), GroupBy::kNone);
  EXPECT_EQ(found.matched_by, "op and module");
  EXPECT_THAT(names(found), ElementsAre("linear  l.0", "linear  l.1", "mul  l.0", "embedding  e",
                                        "quantize  l.0"));
  EXPECT_THAT(found.rows[1].b, ElementsAre(30, 60));
  Made nameless = kQuantised;
  nameless.record = "";
  const TokenComparison by_op =
      compare_tokens(kFloat.saved("a"), nameless.saved("b"), GroupBy::kNone);
  EXPECT_EQ(by_op.matched_by, "op");
  EXPECT_THAT(by_op.notes, testing::Contains(HasSubstr("B has names from the program alone")));
}

TEST(TokenComparison, TakesAllTokensWhereFewAreUsual) {
  Made few = kFloat;
  few.usual = 2;
  const TokenComparison found = compare_tokens(few.saved("a"), kQuantised.saved("b"), GroupBy::kOp);
  EXPECT_FALSE(found.is_over_usual);
  EXPECT_DOUBLE_EQ(found.rows[0].a[kDecode], 600 * (2 + 2 * 18) / 20.0);
  EXPECT_DOUBLE_EQ(found.rows[0].b[kDecode], 110 * (20 + 2 * 20) / 40.0);
}

TEST(TokenComparison, ReportsTheLargestChangeOfEachPhaseFirst) {
  const TokenComparison found =
      compare_tokens(kFloat.saved("a.json"), kQuantised.saved("b.json"), GroupBy::kOp);
  const std::string text = report_token_comparison(found);
  const size_t prefill = text.find("\nprefill ");
  const size_t decode = text.find("\ndecode ");
  ASSERT_NE(prefill, std::string::npos);
  ASSERT_NE(decode, std::string::npos);
  // Prefill: linear -130, quantize +5, embedding -2; decode: linear -490, quantize +6.
  for (const size_t from : {prefill, decode}) {
    const size_t linear = text.find("\nlinear", from);
    const size_t quantize = text.find("\nquantize", from);
    const size_t embedding = text.find("\nembedding", from);
    EXPECT_LT(linear, quantize);
    EXPECT_LT(quantize, embedding);
  }
  EXPECT_THAT(text, HasSubstr("prompts of 4 and 8 tokens"));
  EXPECT_THAT(text, HasSubstr("decode at positions 4 to 23 in A and 8 to 47 in B"));
  EXPECT_THAT(text, HasSubstr("decode is over 10 of 20 tokens of A and 20 of 40 of B"));
  inspector::TableOptions top;
  top.view.top = 1;
  EXPECT_THAT(report_token_comparison(found, top), HasSubstr("beyond the top"));
  const Json report = Json::parse(report_token_comparison_json(found));
  const Json& rows = report["phases"]["decode"]["rows"];
  EXPECT_EQ(rows[0]["name"], "linear");
  EXPECT_EQ(rows[0]["change_ns"], -490);
  EXPECT_EQ(rows.size(), 4u);
  double sum = 0;
  for (const char* part : {"rows", "outside"}) {
    for (const Json& row : report["phases"]["decode"][part]) sum += row["change_ns"].get<double>();
  }
  EXPECT_NEAR(sum, report["phases"]["decode"]["wall"]["change_ns"].get<double>(), 1e-9);
}

TEST(TokenComparison, RefusesOtherFiles) {
  const auto refusal = [](const Json& profile) {
    return [profile] { read_saved_tokens(profile.dump(), "x.json"); };
  };
  EXPECT_THAT([] { read_saved_tokens("{", "x.json"); },
              ThrowsMessage<FormatError>(HasSubstr("x.json")));
  EXPECT_THAT(refusal(Json::array()),
              ThrowsMessage<FormatError>(HasSubstr("is not a profile of tokens")));
  Json other = kFloat.profile();
  other["version"] = 1;
  EXPECT_THAT(refusal(other), ThrowsMessage<FormatError>(HasSubstr("has version 1; 2 is read")));
  for (const char* key : {"run", "rows", "unattributed", "parts", "wall", "tokens", "token_ns"}) {
    Json missing = kFloat.profile();
    missing.erase(key);
    EXPECT_THAT(refusal(missing), ThrowsMessage<FormatError>(HasSubstr(key)));
  }
  Json negative = kFloat.profile();
  negative["phases"]["decode"]["steps"] = -1;
  EXPECT_THAT(refusal(negative), ThrowsMessage<FormatError>(HasSubstr("phases.decode")));
  Json empty = kFloat.profile();
  empty["tokens"][0] = Json::array();
  EXPECT_THAT(refusal(empty), ThrowsMessage<FormatError>(HasSubstr("tokens[0]")));
}

}  // namespace
}  // namespace vitrine::llm
