// Compares the page of a token profile with the JSON report of the same run. Checks the data in the
// page, and the page in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "test/support/browser.h"
#include "test/tools/llm_runner/profile/sample_profile.h"
#include "tools/llm_runner/profile/report_tokens.h"

namespace vitrine::llm {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A figure on the page, in ns or bytes, and its largest rounding error: half a unit of the last
// digit.
struct ShownFigure {
  double value = 0, half = 0;
};
ShownFigure parse_shown(std::string text) {
  const std::string minus = "−";
  if (text.starts_with(minus)) text.replace(0, minus.size(), "-");
  size_t end = 0;
  const double number = std::stod(text, &end);
  const size_t dot = text.find('.');
  const double decimals = dot < end ? static_cast<double>(end - dot - 1) : 0;
  const std::string unit = end < text.size() ? text.substr(end + 1) : "";
  static const std::map<std::string, double> kUnits = {
      {"", 1},    {"%", 1}, {"ns", 1},   {"µs", 1e3}, {"ms", 1e6},
      {"s", 1e9}, {"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  const double size = kUnits.at(unit);
  return {number * size, 0.5001 * std::pow(10, -decimals) * size};
}
void expect_shown(const json& text, double value, const std::string& what) {
  const ShownFigure figure = parse_shown(text);
  EXPECT_NEAR(figure.value, value, figure.half) << what << ": " << text;
}

class TokenPage : public SampleProfile {
 protected:
  // Sets the error of each fitted slope to zero. Otherwise, the page would not show small slopes as
  // growth.
  TokenPage() : SampleProfile(200) {
    for (TokenRow& row : profile_.rows) {
      if (row.times.line) row.times.line->error = 0;
    }
    profile_.wall.line->error = 0;
  }

  json report() const { return json::parse(report_token_json(profile_)); }
  json head() const { return test::page_data(report_token_html(profile_), "head-data"); }
  // Runs a script on the page in a browser.
  json drive(const std::string& script, const char* window = "1280,900") const {
    return test::drive(report_token_html(profile_), window, script);
  }

  json kept_step(const std::string& name) const {
    const json report = this->report();
    for (const json& step : report.at("kept")) {
      if ("decode at " + std::to_string(step.at("position").get<int>()) == name) return step;
    }
    ADD_FAILURE() << name;
    return {};
  }

  // Expects a heading such as "decode at 12, 101.2 us in the model, 120.1 us in all".
  void expect_heading(const std::string& text, const std::string& name) const {
    const size_t at = text.find(" in the model, "), end = text.find(" in all");
    ASSERT_NE(at, std::string::npos) << text;
    ASSERT_NE(end, std::string::npos) << text;
    const size_t begin = at + std::string(" in the model, ").size();
    expect_shown(text.substr(begin, end - begin), kept_step(name).at("wall_ns"), name);
  }

  // Compares the times of a kept step on the page with those in the report.
  void expect_parts_of(const std::string& name, const json& parts) const {
    const json step = kept_step(name);
    ASSERT_GE(parts.size(), 3u);
    EXPECT_EQ(parts[0][0], "rows");
    EXPECT_EQ(parts[1][0], "unattributed");
    expect_shown(parts[1][1], step.at("unattributed_ns"), name);
    double sum = 0, half = 0;
    for (const json& part : parts) {
      const ShownFigure figure = parse_shown(part[1]);
      sum += figure.value;
      half += figure.half;
    }
    EXPECT_NEAR(sum, step.at("wall_ns").get<double>(), half);
  }
};

// The page's data has all tokens, and a timeline of ops for each kept step. Kept decode steps refer
// to their token.
TEST_F(TokenPage, DataContainsTheOpsOfKeptSteps) {
  const json data = test::page_data(report_token_html(profile_));
  EXPECT_TRUE(data["others"].empty());
  const auto& all = data["steps"]["all"];
  ASSERT_EQ(all.size(), 199u);
  size_t decoded = 0;
  for (const auto& kept : data["steps"]["kept"]) {
    EXPECT_GT(kept["events"].size(), 100u);
    if (kept["step"].is_null()) {
      EXPECT_EQ(kept["name"], "prefill at 0");
      continue;
    }
    ++decoded;
    double sum = 0;
    for (const auto& part : kept["parts"]) sum += part[1].get<double>();
    const auto& step = all[kept["step"].get<size_t>()];
    EXPECT_EQ(sum, step[1].get<double>());
    EXPECT_EQ(kept["name"], "decode at " + std::to_string(step[0].get<int>()));
    EXPECT_LE(kept["ns"].get<double>(), step[1].get<double>()) << "within the token's wall time";
  }
  EXPECT_EQ(decoded + 1, profile_.kept.front().profile.run_names.size());
  EXPECT_GE(decoded, StepTracer::kMaxSampled / 2);
}

TEST_F(TokenPage, DataMatchesJsonReport) {
  const json report = this->report(), head = this->head();
  for (const char* key : {"run", "phases", "token_ns", "unattributed", "parts", "wall",
                          "fitted_tokens", "fitted_positions", "tokens", "notes"}) {
    EXPECT_EQ(head.at(key), report.at(key)) << key;
  }
  for (const auto& [phase, facts] : report.at("phases").items()) {
    const double seconds = facts.at("wall_ns").get<double>() / 1e9;
    EXPECT_NEAR(facts.at("tokens_per_s").get<double>() * seconds, facts.at("tokens"), 1e-9);
    for (const json& row : report.at("rows")) {
      // The model has no branches, so each step runs every row once.
      EXPECT_EQ(row.at(phase + "_calls"), facts.at("steps"));
    }
  }
  for (const auto& [view, groups] : head.at("groups").items()) {
    for (const char* key :
         {"prefill_ns", "decode_ns", "decode_calls", "weight_bytes", "cache_bytes"}) {
      double sum = 0, expected = 0;
      for (const json& group : groups) sum += group.at(key).get<double>();
      for (const json& row : report.at("rows")) expected += row.at(key).get<double>();
      EXPECT_NEAR(sum, expected, 1e-3) << view << " " << key;
    }
  }
  EXPECT_EQ(head.at("groups").at("none").size(), report.at("rows").size());
}

// Planned memory holds 8 caches of the type f32[1, 256, 1, 32] and the activations.
TEST_F(TokenPage, SeparatesCacheFromActivations) {
  const json memory = head().at("memory");
  std::map<std::string, double> parts;
  for (const json& part : memory.at("parts")) parts[part[0]] = part[1];
  EXPECT_EQ(parts.at("cache"), 8 * 256 * 32 * 4);
  EXPECT_EQ(parts.at("activations") + parts.at("cache"), memory.at("planned"));
  EXPECT_EQ(parts.at("packed"), memory.at("packed_weights"));
  EXPECT_EQ(memory.at("cache_spans"), json::parse(R"([["attention 0 to attention 3", 4, 65536]])"));
}

constexpr char kReadTokens[] = R"(
const all = (query) => [...document.querySelectorAll(query)];
const texts = (query) => all(query).map((element) => element.textContent);
const cells = (row) => [...row.children].map((cell) => cell.textContent);
seen.title = document.title;
seen.subtitle = document.getElementById('subtitle').textContent;
seen.cards = Object.fromEntries(all('#token-cards .card').map((card) => [card.children[0].textContent, cells(card).slice(1)]));
seen.memory = texts('#token-memory-legend b');
seen.notes = texts('#token-notes li');
seen.columns = texts('#phases thead tr:last-child th');
seen.foot = all('#phases tfoot tr').map(cells);
seen.views = {};
for (const button of all('#phases-views button')) {
  button.click();
  const more = document.getElementById('phases-more');
  if (!more.hidden) more.click();
  seen.views[button.dataset.by] = all('#phases tbody tr').map(cells);
}
document.querySelector('#phases-views button').click();
all('#phases th button').find((button) => button.textContent === 'cache').click();
seen.most_cache = cells(document.querySelector('#phases tbody tr'));
seen.fits = [...new Set(all('#growth .fit').map((line) => line.dataset.name))];
seen.legend = texts('#growth-legend li');
seen.dots = document.querySelector('#growth .tokens').getAttribute('d').split('M').length - 1;
seen.growth = document.getElementById('growth-text').textContent;
const plot = document.querySelector('#growth svg svg'), crossing = document.getElementById('growth-crossing');
seen.crossing = crossing && Number(crossing.getAttribute('cx')) / Number(plot.getAttribute('width'));
seen.bars = document.querySelector('#steps path').getAttribute('d').split('M').length - 1;
const kept = all('#steps .kept');
seen.kept = kept.length;
kept[1].click();
seen.pressed = kept.map((button) => button.getAttribute('aria-pressed'));
seen.chosen = kept[1].getAttribute('aria-label');
seen.timeline = document.getElementById('timeline-what').textContent;
seen.parts = all('#timeline-parts-legend li').map((item) => [item.textContent.split(' ')[0], item.querySelector('b').textContent]);
seen.blocks = all('#timeline .block').length;
seen.images = document.images.length;
seen.ids = all('[id]').length - new Set(all('[id]').map((element) => element.id)).size;
document.getElementById('theme').click();
)";

// The totals of all rows of the report that have the same op.
struct OpSums {
  double prefill_ns = 0, decode_ns = 0, prefill_calls = 0, decode_calls = 0;
  double weights = 0, cache = 0, slope = 0;
};
std::map<std::string, OpSums> sums_by_op(const json& report) {
  std::map<std::string, OpSums> sums;
  for (const json& row : report.at("rows")) {
    OpSums& of = sums[row.at("groups").at("op")];
    of.prefill_ns += row.at("prefill_ns").get<double>();
    of.decode_ns += row.at("decode_ns").get<double>();
    of.prefill_calls += row.at("prefill_calls").get<double>();
    of.decode_calls += row.at("decode_calls").get<double>();
    of.weights += row.at("weight_bytes").get<double>();
    of.cache += row.at("cache_bytes").get<double>();
    if (row.contains("growth")) of.slope += row["growth"].at("a_position_ns").get<double>();
  }
  return sums;
}

constexpr double kPeak = 20e9;  // assumed memory bandwidth of the machine, bytes/s
// Columns of the table. Each phase has the columns "calls", "total", "a token" and "%".
enum Column : uint8_t {
  kName,
  kPrefillCalls,
  kDecodeCalls = 5,
  kWeights = 9,
  kCache,
  kRate,
  kOfPeak,
  kGrowth
};

void expect_op(const json& cells, const OpSums& of, const json& report) {
  const std::string name = cells[kName];
  SCOPED_TRACE(name);
  const auto phase = [&](const char* key, size_t column, double calls, double ns) {
    const json& facts = report.at("phases").at(key);
    EXPECT_EQ(cells[column], std::to_string(static_cast<uint64_t>(calls)));
    expect_shown(cells[column + 1], ns, "total");
    expect_shown(cells[column + 2], ns / facts.at("tokens").get<double>(), "a token");
    expect_shown(cells[column + 3], 100 * ns / facts.at("wall_ns").get<double>(), "%");
  };
  phase("prefill", kPrefillCalls, of.prefill_calls, of.prefill_ns);
  phase("decode", kDecodeCalls, of.decode_calls, of.decode_ns);
  if (of.weights > 0) expect_shown(cells[kWeights], of.weights, "weights");
  if (of.cache > 0) expect_shown(cells[kCache], of.cache, "cache");
  EXPECT_EQ(cells[kWeights] == "", of.weights == 0);
  EXPECT_EQ(cells[kCache] == "", of.cache == 0);
  const double bytes = of.weights + of.cache;
  EXPECT_EQ(cells[kRate] == "", bytes < 1000);
  if (bytes >= 1000) {
    const double rate = bytes * 199 / of.decode_ns;  // bytes/ns
    expect_shown(cells[kRate], rate, "GB/s");
    expect_shown(cells[kOfPeak], 100 * rate * 1e9 / kPeak, "of peak");
  }
  const std::string growth = cells[kGrowth];
  const auto positions = report.at("fitted_positions").get<std::pair<double, double>>();
  expect_shown(growth.starts_with('+') ? growth.substr(1) : growth,
               of.slope * (positions.second - positions.first), "growth");
}

// Expects that the column's values add up to the wall time, to within rounding.
void expect_adds_up(const json& seen, size_t column) {
  double sum = 0, half = 0;
  for (const json* list : {&seen.at("views").at("op"), &seen.at("foot")}) {
    for (const json& cells : *list) {
      if (cells[kName] == "wall") continue;
      const ShownFigure figure = parse_shown(cells[column]);
      sum += figure.value;
      half += figure.half;
    }
  }
  const ShownFigure wall = parse_shown(seen.at("foot").back()[column]);
  EXPECT_NEAR(sum, wall.value, half + wall.half);
  EXPECT_LT(half, 0.02 * wall.value) << "the figures are too coarse to compare";
}

void expect_cards(const json& cards, const json& report) {
  for (const char* phase : {"prefill", "decode"}) {
    expect_shown(cards.at(phase + std::string(", tokens/s"))[0],
                 report.at("phases").at(phase).at("tokens_per_s"), phase);
  }
  const json& token = report.at("token_ns");
  const json& median = cards.at("a token, p50");
  expect_shown(median[0], token.at("p50"), "p50");
  const std::string others = median[1], between = " · p99 ";  // "p90 1.2 ms · p99 1.4 ms"
  const size_t p99 = others.find(between);
  expect_shown(others.substr(4, p99 - 4), token.at("p90"), "p90");
  expect_shown(others.substr(p99 + between.size()), token.at("p99"), "p99");
  expect_shown(cards.at("time to first token")[0], report.at("run").at("first_token_ns")[0],
               "first token");
}

void expect_outside(const json& rows, const json& report) {
  std::map<std::string, json> foot;
  for (const json& cells : rows) foot[cells[kName]] = cells;
  const auto expect_row = [&](const std::string& name, const json& times) {
    expect_shown(foot.at(name)[kPrefillCalls + 1], times.at("prefill_ns"), name);
    expect_shown(foot.at(name)[kDecodeCalls + 1], times.at("decode_ns"), name);
  };
  for (const auto& [name, part] : report.at("parts").items()) {
    const double ns = part.at("prefill_ns").get<double>() + part.at("decode_ns").get<double>();
    EXPECT_EQ(foot.contains(name), ns > 0) << name;
    if (ns > 0) expect_row(name, part);
  }
  EXPECT_TRUE(foot.contains("sampling"));
  for (const char* name : {"unattributed", "wall"}) expect_row(name, report.at(name));
}

TEST_F(TokenPage, BrowserShowsTheFiguresOfTheReport) {
  VITRINE_NEEDS_BROWSER();
  profile_.run.limits.emplace().bytes_per_s = kPeak;
  const json report = this->report();
  const json seen = drive(kReadTokens);
  EXPECT_EQ(seen.at("title"), "model.pte · forward");
  expect_cards(seen.at("cards"), report);

  const std::map<std::string, OpSums> sums = sums_by_op(report);
  const json& ops = seen.at("views").at("op");
  ASSERT_EQ(ops.size(), sums.size());
  for (const json& cells : ops) expect_op(cells, sums.at(cells[kName]), report);
  EXPECT_EQ(seen.at("views").at("none").size(), report.at("rows").size());
  EXPECT_EQ(seen.at("most_cache")[kName], "custom_sdpa");
  expect_outside(seen.at("foot"), report);
  for (const size_t phase : {kPrefillCalls, kDecodeCalls}) expect_adds_up(seen, phase + 1u);
}

TEST_F(TokenPage, BrowserShowsGrowthAndSteps) {
  VITRINE_NEEDS_BROWSER();
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(kReadTokens, window);
    EXPECT_EQ(seen.at("ids"), 0) << "duplicate ids";
    EXPECT_EQ(seen.at("fits").size(), 9u) << "one line for a token and eight for op types";
    EXPECT_EQ(seen.at("legend").size(), 9u);
    EXPECT_EQ(seen.at("dots"), 199);
    EXPECT_THAT(seen.at("growth").get<std::string>(),
                HasSubstr("over " + std::to_string(profile_.usual_steps) + " of 199 tokens"));
    EXPECT_EQ(seen.at("bars"), 199);
    EXPECT_EQ(seen.at("kept"), profile_.kept.front().profile.run_names.size() - 1)
        << "all kept steps except the prefill";
    EXPECT_THAT(seen.at("timeline").get<std::string>(),
                HasSubstr(seen.at("chosen").get<std::string>() + ","));
    expect_heading(seen.at("timeline"), seen.at("chosen"));
    EXPECT_GT(seen.at("blocks"), 100);
    expect_parts_of(seen.at("chosen"), seen.at("parts"));
    for (size_t i = 0; i < seen.at("pressed").size(); ++i) {
      EXPECT_EQ(seen.at("pressed")[i], i == 1 ? "true" : "false");
    }
    const bool is_phone = window[0] == '3';
    const json columns =
        is_phone
            ? json({"op", "a token", "%", "a token", "%", "weights", "cache", "GB/s", "growth"})
            : json({"op", "calls", "total", "a token", "%", "calls", "total", "a token", "%",
                    "weights", "cache", "GB/s", "growth"});
    EXPECT_EQ(seen.at("columns"), columns);
    for (const json& cells : seen.at("foot")) EXPECT_EQ(cells.size(), columns.size());
  }
}

// The plot covers positions 5 to 203, so the crossing at 104 is in the middle of the plot.
TEST_F(TokenPage, MarksPositionWhereAttentionCostExceedsWeightCost) {
  VITRINE_NEEDS_BROWSER();
  profile_.attention.emplace().passes_weights = 104;
  const json seen = drive(kReadTokens);
  EXPECT_NEAR(seen.at("crossing").get<double>(), 0.5, 1e-9);
  EXPECT_THAT(seen.at("growth").get<std::string>(), HasSubstr("at position 104."));
}

class ShortTokenPage : public SampleProfile, public testing::WithParamInterface<int64_t> {
 protected:
  ShortTokenPage() : SampleProfile(GetParam()) {}
};

constexpr char kReadFew[] = R"(
seen.cards = [...document.querySelectorAll('#token-cards .card span')].map((card) => card.textContent);
seen.columns = document.querySelectorAll('#phases thead tr:last-child th').length;
seen.growth = !document.getElementById('growth-section').hidden;
seen.timeline = document.getElementById('timeline-what').textContent;
)";

// One token needs only prefill, so the page has no decode data. Three tokens are too few to
// estimate how the costs grow with the position.
TEST_P(ShortTokenPage, OmitsDecodeAndGrowthWithoutData) {
  VITRINE_NEEDS_BROWSER();
  const bool decodes = GetParam() > 1;
  const json seen = test::drive(report_token_html(profile_), "1280,900", kReadFew);
  EXPECT_EQ(seen.at("cards")[0], decodes ? "decode, tokens/s" : "prefill, tokens/s");
  EXPECT_EQ(seen.at("columns"), decodes ? 12 : 5);
  EXPECT_EQ(seen.at("growth"), false);
  EXPECT_THAT(seen.at("timeline").get<std::string>(), HasSubstr(" at "));
}

INSTANTIATE_TEST_SUITE_P(Tokens, ShortTokenPage, testing::Values(1, 3));

TEST_F(TokenPage, EscapesHostileNames) {
  const std::string evil = "</script><img src=x onerror=problems.push('run')>{{script}}";
  profile_.run.model = profile_.run.machine = evil;
  profile_.notes.push_back(evil);
  for (CacheBuffer& cache : profile_.caches) cache.layer = evil;
  for (inspector::ProfileRow& row : profile_.names.rows) {
    row.kernel = evil;
    row.source_ops = {evil};
    row.modules = {evil};
    row.source_lines = {evil};
    row.model_lines = {evil};
    row.main_op = 0;
  }
  const std::string page = report_token_html(profile_);
  EXPECT_THAT(page, testing::Not(HasSubstr("<img")));
  for (const char* reference : {"src=\"", "url(", "href=\"http", "fetch(", "innerHTML"}) {
    EXPECT_THAT(page, testing::Not(HasSubstr(reference)));
  }
  EXPECT_EQ(test::page_data(page, "head-data").at("run").at("model"), evil);
  VITRINE_NEEDS_BROWSER();
  const json seen = test::drive(page, "1280,900", kReadTokens);
  EXPECT_EQ(seen.at("images"), 0);
  EXPECT_EQ(seen.at("title"), evil + " · forward");
  EXPECT_THAT(seen.at("subtitle").get<std::string>(), HasSubstr(evil));
  EXPECT_EQ(seen.at("notes").back(), evil);
  EXPECT_EQ(seen.at("views").at("none")[0][2], evil);
}

// The number of steps exceeds the number of arguments that a JavaScript call accepts.
TEST_F(SampleProfile, PageShowsAllStepsOfLongRun) {
  VITRINE_NEEDS_BROWSER();
  constexpr size_t kSteps = 200'000;
  std::vector<StepWall>& walls = profile_.walls[kDecode];
  while (walls.size() < kSteps) {
    walls.push_back({.position = walls.size() + 5, .ns = 100'000 + walls.size() % 7});
  }
  profile_.first_token_ns.assign(kSteps, 1000);
  profile_.wall.line = CostLine{.at_start = 1e5, .per_position = 1};
  const json seen = test::drive(report_token_html(profile_), "1280,900", R"(
seen.bars = document.querySelector('#steps path').getAttribute('d').split('M').length - 1;
seen.dots = document.querySelector('#growth .tokens').getAttribute('d').split('M').length - 1;
)");
  EXPECT_EQ(seen.at("bars"), kSteps);
  EXPECT_EQ(seen.at("dots"), kSteps);
}

}  // namespace
}  // namespace vitrine::llm
