#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
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
  const json report =
      json_of(numerics(program, reference, fmt::format("--prompt_ids {} --format json", kIds)));
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

// Only layer 2 is quantized. Layers 0 and 1 therefore have only the small errors of float kernels.
// Layers 2 and 3 have larger errors in the caches, the attention and the output.
TEST(LlmNumerics, FindsTheOnlyQuantizedLayer) {
  VITRINE_NEEDS_CORPUS_LLM();
  const ScratchFolder scratch;
  const std::string model = (corpus_llm_dir() / "kjv_f32/model.pt2").string();
  const std::string reference = (scratch / "reference.pte").string();
  const std::string program = (scratch / "program.pte").string();
  succeeded(run_tool(VITRINE_PTE_LOWER, model + " -o " + reference));
  succeeded(run_tool(VITRINE_PTE_LOWER, model +
                                            " --backend xnnpack --quantize int8_dynamic --keep "
                                            "'layers.0.*=float' --keep 'layers.1.*=float' --keep "
                                            "'layers.3.*=float' --keep output=float -o " +
                                            program));
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
  succeeded(numerics(program, reference, arguments + " --fail_below 20dB"));
}

TEST(LlmNumerics, ComparesOnlyCachesIfModuleNamesAreUnknown) {
  const std::string program = sample("kjv_8da4w/model.pte");
  EXPECT_THAT(numerics(program, program, fmt::format("--prompt_ids {} --width 80", kIds)),
              Prints(testing::AllOf(HasSubstr("attention 3             -        same        same"),
                                    HasSubstr("layers: no compared value belongs to a known layer"),
                                    HasSubstr("do not name keys and values"))));
}

TEST(LlmNumerics, CsvHasTheSameFiguresAsJson) {
  VITRINE_NEEDS_CORPUS_LLM();
  const std::string reference = (corpus_llm_dir() / "kjv_f32/model.pte").string();
  const std::string arguments = fmt::format("--prompt_ids {} --format ", kIds);
  const CommandResult csv =
      succeeded(numerics(sample("kjv_8da4w/model.pte"), reference, arguments + "csv"));
  const json report =
      json_of(numerics(sample("kjv_8da4w/model.pte"), reference, arguments + "json"));
  std::vector<std::string> lines;
  std::istringstream text(csv.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  size_t values = 1;  // the titles
  for (const json& layer : report.at("layers")) {
    values += (layer.at("attention").is_null() ? 0 : 1) + (layer.at("output").is_null() ? 0 : 1);
    for (const json& cache : layer.at("caches")) values += cache.at("by_positions").size();
  }
  ASSERT_EQ(lines.size(), values + report.at("positions").size());
  for (size_t i = 0; i < report.at("positions").size(); ++i) {
    const json& block = report.at("positions")[i];
    EXPECT_EQ(lines[values + i],
              fmt::format("logits,,{},{},{},{},{},{},{:.9g},{},{}", block.at("first").get<size_t>(),
                          block.at("last").get<size_t>(), block.at("mean_kl").get<double>(),
                          block.at("max_kl").get<double>(), block.at("max_kl_at").get<size_t>(),
                          block.at("same_top_1").get<size_t>(),
                          block.at("logits").at("sqnr_db").get<double>(),
                          block.at("logits").at("cosine").get<double>(),
                          block.at("logits").at("max_abs").get<double>()));
  }
}

// Simulates the clicks of a reader.
constexpr char kDrive[] = R"(
const all = (query) => [...document.querySelectorAll(query)];
seen.title = document.title;
seen.cards = all('.card').length;
seen.layers = all('#layers tbody tr').length;
seen.positions = all('#positions tbody tr').length;
seen.cells = all('#positions tbody tr')[0].children.length;
seen.panels = all('.panel').length;
seen.notes = all('#notes li').length;
document.querySelector('#layers th button').click();
all('#positions tbody tr')[0].click();
seen.detail = all('#positions tr.detail dt').map((fact) => fact.textContent).join();
const theme = document.documentElement.dataset.theme;
document.getElementById('theme').click();
seen.theme = [theme, document.documentElement.dataset.theme].sort().join();
)";

TEST(LlmNumerics, WritesAnHtmlPage) {
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const std::string program = sample("kjv_8da4w/model.pte");
  const std::string file = (scratch / "errors.html").string();  // the extension implies the format
  succeeded(numerics(program, program, fmt::format("--prompt_ids {} -o {}", kIds, file)));
  const std::string page = read_text(file);
  const json data = page_data(page);
  ASSERT_GT(data.at("layers").size(), 0u);
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(page, window, kDrive);
    for (const char* list : {"layers", "positions", "notes"}) {
      EXPECT_EQ(seen.at(list), data.at(list).size()) << list;
    }
    // Without names, no layer has an output, so there are only three cards. Equal programs have no
    // bars, so there are only two panels.
    expect_members(seen, R"({"title": "model.pte · numerics", "cards": 3, "cells": 8, "panels": 2,
                             "detail": "cache 1,cache 2,logits", "theme": "dark,light"})");
  }
}

TEST(LlmNumerics, RejectsInputsThatCannotBeCompared) {
  const std::string program = sample("kjv_8da4w/model.pte");
  const std::pair<const char*, const char*> cases[] = {
      {"--prompt_ids 1", "needs at least two tokens, found 1"},
      {"--prompt_ids 1,600", "id 600 is not in the vocabulary of 512"},
      {"--prompt_ids 1,2 --context 1", "do not fit into a context of 1"}};
  for (const auto& [arguments, error] : cases) {
    EXPECT_THAT(numerics(program, program, arguments), Exits(1, HasSubstr(error))) << arguments;
  }
  EXPECT_THAT(numerics(program, sample("add_mul/model.pte"), "--prompt_ids 1,2").err,
              HasSubstr("is not a decoder"));
  EXPECT_EQ(numerics(program, program, "--prompt_ids 1,2 --format svg").exit_code, 64);
  EXPECT_EQ(numerics(program, program, "--prompt_ids 1,2 --fail_below x").exit_code, 64);
}

}  // namespace
}  // namespace vitrine::test
