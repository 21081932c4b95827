#include "tools/llm_runner/profile/token_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/format_error.h"
#include "test/support/expect_error.h"
#include "tools/common/profile_report.h"

namespace vitrine::llm {
namespace {

using inspector::GroupBy;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json times(double prefill, double decode, double usual) {
  return {{"prefill_ns", prefill}, {"decode_ns", decode}, {"usual_decode_ns", usual}};
}

struct SyntheticRow {
  const char* op;
  const char* module;
  double prefill, decode;  // ns per token
};
// A token profile with times that the test sets.
struct SyntheticProfile {
  int64_t prompt = 4;
  int64_t decoded = 20;
  int64_t usual = 10;
  const char* record = "m.etrecord";
  std::vector<SyntheticRow> rows;
  double token = 100;  // time of each decode token in ns

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
    for (const SyntheticRow& row : rows) {
      Json row_json = count(row.prefill, row.decode);
      row_json["groups"] = {
          {"op", row.op}, {"module", row.module}, {"line", "m.py:1"}, {"delegate", "XNNPACK 0"}};
      all["rows"].push_back(row_json);
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
    for (int64_t i = 0; i < decoded; ++i) all["tokens"].push_back({prompt + i, token});
    return all;
  }
  SavedTokens saved(const char* name) const { return read_saved_tokens(profile().dump(), name); }
};

std::vector<std::string> names(const TokenComparison& comparison) {
  std::vector<std::string> all;
  for (const ComparedTokens& row : comparison.rows) all.push_back(row.name);
  return all;
}

const SyntheticProfile kFloat = {.rows = {{"linear", "l.0", 100, 300},
                                          {"linear", "l.1", 100, 300},
                                          {"mul", "l.0", 7, 8},
                                          {"embedding", "e", 2, 2}}};
const SyntheticProfile kQuantized = {.prompt = 8,
                                     .decoded = 40,
                                     .usual = 20,
                                     .rows = {{"quantize", "l.0", 5, 6},
                                              {"linear", "l.0", 40, 50},
                                              {"linear", "l.1", 30, 60},
                                              {"mul", "l.0", 7, 9}}};

TokenComparison compared(const SyntheticProfile& b, GroupBy by = GroupBy::kOp) {
  return compare_tokens(kFloat.saved("a.json"), b.saved("b.json"), by);
}

TEST(TokenComparison, MatchesRowsByOpAndComparesTimesPerToken) {
  const TokenComparison found = compared(kQuantized);
  EXPECT_THAT(names(found), ElementsAre("linear", "mul", "embedding", "quantize"));
  const ComparedTokens& linear = found.rows[0];
  EXPECT_EQ(linear.rows_a, 2u);
  EXPECT_EQ(linear.rows_b, 2u);
  // The times are per token, and disturbed tokens do not count.
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

TEST(TokenComparison, MatchesUngroupedRowsByOpAndModule) {
  const TokenComparison found = compared(kQuantized, GroupBy::kNone);
  EXPECT_EQ(found.matched_by, "op and module");
  EXPECT_THAT(names(found), ElementsAre("linear  l.0", "linear  l.1", "mul  l.0", "embedding  e",
                                        "quantize  l.0"));
  EXPECT_THAT(found.rows[1].b, ElementsAre(30, 60));
  SyntheticProfile nameless = kQuantized;
  nameless.record = "";
  const TokenComparison by_op = compared(nameless, GroupBy::kNone);
  EXPECT_EQ(by_op.matched_by, "op");
  EXPECT_THAT(by_op.notes,
              testing::Contains(HasSubstr("B has no record, so its names come from the program")));
}

TEST(TokenComparison, UsesAllTokensIfFewAreUndisturbed) {
  SyntheticProfile few = kFloat;
  few.usual = 2;
  const TokenComparison found = compare_tokens(few.saved("a"), kQuantized.saved("b"), GroupBy::kOp);
  EXPECT_FALSE(found.is_over_usual);
  EXPECT_DOUBLE_EQ(found.rows[0].a[kDecode], 600 * (2 + 2 * 18) / 20.0);
  EXPECT_DOUBLE_EQ(found.rows[0].b[kDecode], 110 * (20 + 2 * 20) / 40.0);
}

TEST(TokenComparison, ReportsLargestChangeOfEachPhaseFirst) {
  const TokenComparison found = compared(kQuantized);
  const std::string text = report_token_comparison(found);
  const size_t prefill = text.find("\nprefill ");
  const size_t decode = text.find("\ndecode ");
  ASSERT_NE(prefill, std::string::npos);
  ASSERT_NE(decode, std::string::npos);
  // The op with the largest change in time per token comes first. In prefill, linear changes by
  // -130 ns, quantize by 5 ns, and embedding by -2 ns. In decode, linear changes by -490 ns, and
  // quantize by 6 ns.
  for (const size_t from : {prefill, decode}) {
    const size_t linear = text.find("\nlinear", from);
    const size_t quantize = text.find("\nquantize", from);
    const size_t embedding = text.find("\nembedding", from);
    EXPECT_LT(linear, quantize);
    EXPECT_LT(quantize, embedding);
  }
  EXPECT_THAT(text, HasSubstr("the prompts have 4 and 8 tokens"));
  EXPECT_THAT(text, HasSubstr("decode covers positions 4 to 23 in A and 8 to 47 in B"));
  EXPECT_THAT(text, HasSubstr("decode covers 10 of 20 tokens of A and 20 of 40 tokens of B"));
  inspector::TableOptions top;
  top.view.top = 1;
  EXPECT_THAT(report_token_comparison(found, top), HasSubstr("not shown"));
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

// A has tokens at positions 4 to 23, and B at 8 to 47.
TEST(TokenComparison, ComparesTokensAtCommonPositions) {
  SyntheticProfile slow = kQuantized;
  slow.token = 150;
  const TokenComparison found = compared(slow);
  EXPECT_EQ(found.tokens.runs_a, 16u);
  EXPECT_EQ(found.tokens.runs_b, 16u);
  EXPECT_THAT(
      report_token_comparison(found),
      HasSubstr("decode p50  A 0.10 us   B 0.15 us   B/A 1.50 (1.50 to 1.50): B is slower"));
  const Json report = Json::parse(report_token_comparison_json(found));
  EXPECT_EQ(report["decode_token"]["ratio"]["verdict"], "slower");
  EXPECT_TRUE(tools::exceeds(found.tokens, 1.4));
  EXPECT_FALSE(tools::exceeds(found.tokens, 1.6));
  EXPECT_FALSE(tools::exceeds(found.tokens, std::nullopt));
  EXPECT_FALSE(tools::exceeds(compared(kQuantized).tokens, 1.01));
  slow.prompt = 20;  // leaves four common positions
  testing::internal::CaptureStderr();
  EXPECT_FALSE(tools::exceeds(compared(slow).tokens, 1.1));
  slow.prompt = 30;
  EXPECT_FALSE(tools::exceeds(compared(slow).tokens, 1.1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "4 tokens of A and 4 of B are too few to decide; record 6 or more tokens of each\n"
            "0 tokens of A and 0 of B are too few to decide; record 6 or more tokens of each\n");
}

TEST(TokenComparison, RejectsInvalidProfiles) {
  const auto read = [](const Json& profile) { read_saved_tokens(profile.dump(), "x.json"); };
  EXPECT_ERROR(FormatError, read_saved_tokens("{", "x.json"), "x.json");
  EXPECT_ERROR(FormatError, read(Json::array()), "is not a token profile");
  Json other = kFloat.profile();
  other["version"] = 1;
  EXPECT_ERROR(FormatError, read(other), "has version 1, expected version 2");
  for (const char* key : {"run", "rows", "unattributed", "parts", "wall", "tokens", "token_ns"}) {
    Json missing = kFloat.profile();
    missing.erase(key);
    EXPECT_ERROR(FormatError, read(missing), key);
  }
  Json negative = kFloat.profile();
  negative["phases"]["decode"]["steps"] = -1;
  EXPECT_ERROR(FormatError, read(negative), "phases.decode");
  Json empty = kFloat.profile();
  empty["tokens"][0] = Json::array();
  EXPECT_ERROR(FormatError, read(empty), "tokens[0]");
}

TEST(TokenComparison, WritesCsvAndHtml) {
  SyntheticProfile b = kQuantized;
  b.rows[3].op = "mul<>";
  const TokenComparison found = compared(b);
  const std::string csv = report_token_comparison_csv(found);
  EXPECT_THAT(csv,
              testing::StartsWith("phase,kind,name,rows_a,rows_b,a_ns,b_ns,change_ns,ratio\r\n"
                                  "prefill,row,linear,2,2,200.000,70.000,-130.000,0.3500\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\ndecode,row,linear,2,2,600.000,110.000,-490.000,0.1833\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\ndecode,row,quantize,0,1,0.000,6.000,6.000,\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\ndecode,outside,unattributed,1,1,5.000,5.000,0.000,1.0000\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\ndecode,wall,wall,"));

  const std::string page = report_token_comparison_html(found);
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(
      page, test::HasSubstrs("<h1>a.json and b.json</h1>", "<h2>prefill</h2>", "<h2>decode</h2>"));
  EXPECT_THAT(page, HasSubstr("<td>linear</td><td class=\"figure\">2 : 2</td>"));
  EXPECT_THAT(page, HasSubstr("<tr class=\"single\"><td>mul&lt;&gt;</td>"));
  EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace vitrine::llm
