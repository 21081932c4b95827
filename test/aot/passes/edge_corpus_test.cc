// Exported programs through our passes, against what ExecuTorch's own lowering made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "test/aot/passes/pte_instructions.h"
#include "test/support/corpus.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path folder;
  fs::path exported;
  std::string method;
};

std::string method_of(const fs::path& file, std::string_view suffix) {
  const std::string stem = file.stem().string();
  const std::string rest = stem.substr(5, stem.size() - 5 - suffix.size());
  return rest.empty() ? "forward" : rest.substr(1);
}

// Programs of ExecuTorch 1.4 without delegates, with default settings.
std::vector<Case> portable_cases(bool core_aten) {
  constexpr std::string_view kCore = "_core_aten";
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(test::corpus_dir())) {
    const fs::path& file = entry.path();
    if (file.extension() != ".pt2" || file.string().find("/compat/") != std::string::npos) continue;
    if (file.stem().string().ends_with(kCore) != core_aten) continue;
    const fs::path folder = file.parent_path();
    const std::string name = folder.filename().string();
    // Settings of to_edge that are not ours: operators kept (two by other names), dim orders
    // skipped, views kept.
    if (name.find("_keep") != std::string::npos || name.ends_with("buffer_reinplace") ||
        name == "floor_divide__f32" || name == "var__dim" || name.ends_with("_reinplace") ||
        name.ends_with("skipdo") || name.ends_with("view_copy") || name == "cfg_view_copy_kept") {
      continue;
    }
    if (!fs::exists(folder / "model.pte")) continue;
    cases.push_back({folder, file, method_of(file, core_aten ? kCore : "")});
  }
  std::ranges::sort(cases, {}, &Case::exported);
  return cases;
}

bool is_portable(const test::Instructions& instructions) {
  return std::ranges::count(instructions, "<delegate>") == 0;
}

void expect_same_instructions(bool core_aten, size_t at_least) {
  if (test::corpus_dir().empty()) GTEST_SKIP() << "needs the corpus of real programs";
  size_t same = 0;
  size_t all = 0;
  for (const Case& each : portable_cases(core_aten)) {
    SCOPED_TRACE(each.exported.string());
    const auto methods = test::pte_instructions(each.folder / "model.pte");
    const auto expected = methods.find(each.method);
    if (expected == methods.end() || !is_portable(expected->second)) continue;
    ++all;
    ExportedProgram program = import_pt2(each.exported);
    try {
      to_edge(program);
      to_executable(program);
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const test::Instructions found = test::graph_instructions(*program.graph);
    // The first that differs: lists may have hundreds of items.
    const auto [ours, theirs] = std::ranges::mismatch(found, expected->second);
    if (found != expected->second) {
      ADD_FAILURE() << "instruction " << ours - found.begin() << " of " << found.size() << " is "
                    << (ours == found.end() ? "missing" : *ours) << ", not "
                    << (theirs == expected->second.end() ? "the end" : *theirs) << " of "
                    << expected->second.size();
    }
    same += found == expected->second ? 1 : 0;
  }
  EXPECT_GE(same, at_least) << "of " << all;
  std::printf("%zu of %zu programs have ExecuTorch's instructions\n", same, all);
}

TEST(EdgeCorpus, CoreAtenBecomesTheSameInstructions) { expect_same_instructions(true, 404); }

// Operators without a decomposition here are errors that name them; all else must be the same.
TEST(EdgeCorpus, TrainingIrBecomesTheSameInstructions) {
  if (test::corpus_dir().empty()) GTEST_SKIP() << "needs the corpus of real programs";
  size_t same = 0;
  size_t refused = 0;
  for (const Case& each : portable_cases(false)) {
    // The same instructions in another order: a transposition stands before a product's expansions.
    if (each.folder.filename() == "kv_cache") continue;
    SCOPED_TRACE(each.exported.string());
    const auto methods = test::pte_instructions(each.folder / "model.pte");
    const auto expected = methods.find(each.method);
    if (expected == methods.end() || !is_portable(expected->second)) continue;
    ExportedProgram program = import_pt2(each.exported);
    try {
      to_edge(program);
      to_executable(program);
    } catch (const AotError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("no decomposition"));
      std::printf("%s: %s\n", each.folder.filename().c_str(), error.what());
      ++refused;
      continue;
    }
    const test::Instructions found = test::graph_instructions(*program.graph);
    const auto [ours, theirs] = std::ranges::mismatch(found, expected->second);
    if (found != expected->second) {
      ADD_FAILURE() << "instruction " << ours - found.begin() << " of " << found.size() << " is "
                    << (ours == found.end() ? "missing" : *ours) << ", not "
                    << (theirs == expected->second.end() ? "the end" : *theirs) << " of "
                    << expected->second.size();
    }
    same += found == expected->second ? 1 : 0;
  }
  std::printf("%zu programs have ExecuTorch's instructions, %zu have operators to come\n", same,
              refused);
  EXPECT_GE(same, 359U);
}

TEST(EdgeCorpus, PrintsTheSameGraphs) {
  if (test::corpus_dir().empty()) GTEST_SKIP() << "needs the corpus of real programs";
  size_t same = 0;
  for (const Case& each : portable_cases(true)) {
    const fs::path file = each.folder / "delegated_graph.txt";
    if (!fs::exists(file) || each.method != "forward") continue;
    std::ifstream stream(file);
    std::string expected(std::istreambuf_iterator<char>(stream), {});
    if (expected.find("lowered_module") != std::string::npos) continue;
    SCOPED_TRACE(file.string());
    ExportedProgram program = import_pt2(each.exported);
    to_edge(program);
    std::string found = format_graph(*program.graph);
    found = std::regex_replace(found, std::regex("\n    "), "\n  ") + "\n";
    // The file keeps the argument's own name, "input", which Python has taken; .pt2 does not.
    expected = std::regex_replace(expected, std::regex("\\[target=input\\]"), "[target=input_1]");
    EXPECT_EQ(found, expected);
    same += found == expected ? 1 : 0;
  }
  EXPECT_GE(same, 35U);
  std::printf("%zu graphs are ExecuTorch's, letter by letter\n", same);
}

TEST(EdgeCorpus, GivesTheSameDebugHandles) {
  if (test::corpus_dir().empty()) GTEST_SKIP() << "needs the corpus of real programs";
  size_t same = 0;
  for (const Case& each : portable_cases(true)) {
    const fs::path file = each.folder / "debug_handle_map.json";
    if (!fs::exists(file)) continue;
    const auto methods = test::pte_instructions(each.folder / "model.pte");
    const auto plan = methods.find(each.method);
    if (plan == methods.end() || !is_portable(plan->second)) continue;
    if (std::ranges::count(plan->second, "<jump>") != 0) continue;  // chains of their own
    SCOPED_TRACE(file.string());
    std::ifstream stream(file);
    const auto map = nlohmann::json::parse(stream)[each.method];
    std::vector<uint32_t> expected;
    for (size_t i = 0; map.contains(std::to_string(i)); ++i) {
      expected.push_back(map[std::to_string(i)].get<uint32_t>());
    }
    ExportedProgram program = import_pt2(each.exported);
    to_edge(program);
    to_executable(program);
    std::vector<uint32_t> found = test::graph_handles(*program.graph);
    std::erase(found, 0U);  // of writes to buffers, at the end
    EXPECT_EQ(found, expected);
    same += found == expected ? 1 : 0;
  }
  EXPECT_GE(same, 36U);
  std::printf("%zu programs have ExecuTorch's debug handles\n", same);
}

}  // namespace
}  // namespace vitrine::aot
