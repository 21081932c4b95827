// Compares exported programs after our passes with the results of ExecuTorch's lowering.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "test/aot/passes/pte_instructions.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path folder;
  fs::path exported;
  std::string method;
};

// Returns the operators that ExecuTorch did not decompose in the case `name`, because
// `preserve_ops` named them. Other cases with "keep" in their names call operators of core ATen,
// which are never decomposed.
std::vector<std::string> preserved_in(const std::string& name) {
  struct Row {
    std::string_view name;
    const char* op;
  };
  constexpr Row kRows[] = {
      {"arange__keep", "aten.arange.default"},
      {"floor_divide__f32", "aten.floor_divide.default"},
      {"glu__keep", "aten.glu.default"},
      {"logit__keep", "aten.logit.default"},
      {"masked_fill__keep", "aten.masked_fill.Scalar"},
      {"ones__keep", "aten.ones.default"},
      {"pixel_shuffle__keep", "aten.pixel_shuffle.default"},
      {"pixel_unshuffle__keep", "aten.pixel_unshuffle.default"},
      {"reflection_pad1d__keep", "aten.reflection_pad1d.default"},
      {"reflection_pad2d__keep", "aten.reflection_pad2d.default"},
      {"reflection_pad3d__keep", "aten.reflection_pad3d.default"},
      {"replication_pad1d__keep", "aten.replication_pad1d.default"},
      {"replication_pad2d__keep", "aten.replication_pad2d.default"},
      {"replication_pad3d__keep", "aten.replication_pad3d.default"},
      {"roll__keep", "aten.roll.default"},
      {"rsub__keep", "aten.rsub.Scalar"},
      {"select_scatter__keep", "aten.select_scatter.default"},
      {"stack__keep", "aten.stack.default"},
      {"t__keep", "aten.t_copy.default"},
      {"transpose__keep", "aten.transpose_copy.int"},
      {"fill__Scalar_keep", "aten.fill.Scalar"},
      {"fill__Tensor_keep", "aten.fill.Tensor"},
      {"tril__keep", "aten.tril.default"},
      {"var__dim", "aten.var.dim"},
      {"zeros__keep", "aten.zeros.default"},
      {"diagonal__keep", "aten.diagonal_copy.default"},
      {"squeeze__dim_keep", "aten.squeeze_copy.dim"},
      {"unfold__keep", "aten.unfold_copy.default"},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return {row.op};
  }
  return {};
}

EdgeOptions edge_options(const fs::path& folder) {
  const std::string name = folder.filename().string();
  EdgeOptions options;
  options.skip_dim_order = name.ends_with("skipdo") || name == "empty_memory_format__keep";
  options.preserve_ops = preserved_in(name);
  return options;
}

ExecutableOptions executable_options(const fs::path& folder) {
  const std::string name = folder.filename().string();
  ExecutableOptions options;
  options.elide_views = name != "cfg_keep_view_copy" && name != "cfg_view_copy_kept";
  options.reinplace = name.ends_with("_reinplace");
  return options;
}

bool is_core_aten(const fs::path& file) { return file.stem().string().ends_with("_core_aten"); }

// The programs that ExecuTorch 1.4 lowered without delegates.
std::vector<Case> portable_cases(bool core_aten) {
  std::vector<Case> cases;
  for (const fs::path& file : test::files_below(test::corpus_dir(), ".pt2")) {
    if (test::is_compat(file) || is_core_aten(file) != core_aten) continue;
    const fs::path folder = file.parent_path();
    if (!fs::exists(folder / "model.pte")) continue;
    // A core ATen export no longer contains the operators that its case preserves.
    if (core_aten && !preserved_in(folder.filename().string()).empty()) continue;
    cases.push_back({folder, file, test::method_of(file)});
  }
  return cases;
}

bool is_portable(const test::Instructions& instructions) {
  return std::ranges::count(instructions, "<delegate>") == 0;
}

void expect_same_instructions(bool core_aten, size_t at_least) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  size_t all = 0;
  for (const Case& test : portable_cases(core_aten)) {
    SCOPED_TRACE(test.exported.string());
    const auto methods = test::pte_instructions(test.folder / "model.pte");
    const auto expected = methods.find(test.method);
    if (expected == methods.end() || !is_portable(expected->second)) continue;
    ++all;
    ExportedProgram program = import_pt2(test.exported);
    try {
      to_edge(program, edge_options(test.folder));
      to_executable(program, executable_options(test.folder));
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const auto found = test::graph_instructions(*program.graph);
    // Reports only the first difference, because lists may have hundreds of items.
    const auto [ours, theirs] = std::ranges::mismatch(found, expected->second);
    if (found != expected->second) {
      ADD_FAILURE() << "instruction " << ours - found.begin() << ": expected "
                    << (theirs == expected->second.end() ? "the end" : *theirs) << " (of "
                    << expected->second.size() << " instructions), found "
                    << (ours == found.end() ? "the end" : *ours) << " (of " << found.size() << ")";
    }
    same += found == expected->second ? 1 : 0;
  }
  EXPECT_GE(same, at_least) << "of " << all;
  std::printf("%zu of %zu programs have ExecuTorch's instructions\n", same, all);
}

TEST(EdgeCorpus, CoreAtenInstructionsMatchExecuTorch) { expect_same_instructions(true, 404); }

TEST(EdgeCorpus, TrainingIrInstructionsMatchExecuTorch) { expect_same_instructions(false, 359); }

void expect_same_graphs(bool core_aten, size_t at_least) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  for (const Case& test : portable_cases(core_aten)) {
    const fs::path file = test.folder / "delegated_graph.txt";
    if (!fs::exists(file) || test.method != "forward") continue;
    std::string expected = test::read_text(file);
    if (expected.find("lowered_module") != std::string::npos) continue;
    SCOPED_TRACE(test.exported.string());
    ExportedProgram program = import_pt2(test.exported);
    to_edge(program, edge_options(test.folder));
    std::string found = format_graph(*program.graph);
    found = std::regex_replace(found, std::regex("\n    "), "\n  ") + "\n";
    // The expected text has the target "input" for an input of this name. The .pt2 file has
    // "input_1" instead, because `input` is a Python builtin.
    expected = std::regex_replace(expected, std::regex("\\[target=input\\]"), "[target=input_1]");
    EXPECT_EQ(found, expected);
    same += found == expected ? 1 : 0;
  }
  EXPECT_GE(same, at_least);
  std::printf("%zu printed graphs equal ExecuTorch's\n", same);
}

TEST(EdgeCorpus, CoreAtenGraphsMatchExecuTorch) { expect_same_graphs(true, 38); }
TEST(EdgeCorpus, TrainingIrGraphsMatchExecuTorch) { expect_same_graphs(false, 38); }

// Lowering a program gives the same graph as lowering PyTorch's decomposition of the program.
TEST(EdgeCorpus, DecomposesLikePyTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  for (const fs::path& file : test::files_below(test::corpus_dir(), ".pt2")) {
    if (is_core_aten(file) || test::is_compat(file)) continue;
    const fs::path folder = file.parent_path();
    const fs::path decomposed = folder / (file.stem().string() + "_core_aten.pt2");
    if (!fs::exists(decomposed) || !preserved_in(folder.filename().string()).empty()) continue;
    SCOPED_TRACE(file.string());
    ExportedProgram ours = import_pt2(file);
    ExportedProgram theirs = import_pt2(decomposed);
    try {
      to_edge(ours, edge_options(folder));
      to_edge(theirs, edge_options(folder));
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const std::string found = format_graph(*ours.graph);
    const std::string expected = format_graph(*theirs.graph);
    EXPECT_EQ(found, expected);
    same += found == expected ? 1 : 0;
  }
  std::printf("%zu graphs equal PyTorch's decompositions\n", same);
  EXPECT_GE(same, 520U);
}

void expect_same_handles(bool core_aten, size_t at_least) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  for (const Case& test : portable_cases(core_aten)) {
    const fs::path file = test.folder / "debug_handle_map.json";
    if (!fs::exists(file)) continue;
    const auto methods = test::pte_instructions(test.folder / "model.pte");
    const auto plan = methods.find(test.method);
    if (plan == methods.end() || !is_portable(plan->second)) continue;
    if (std::ranges::count(plan->second, "<jump>") != 0) continue;  // has several chains
    SCOPED_TRACE(test.exported.string());
    const auto map = test::read_json(file)[test.method];
    std::vector<uint32_t> expected;
    for (size_t i = 0; map.contains(std::to_string(i)); ++i) {
      expected.push_back(map[std::to_string(i)].get<uint32_t>());
    }
    ExportedProgram program = import_pt2(test.exported);
    to_edge(program, edge_options(test.folder));
    to_executable(program, executable_options(test.folder));
    std::vector<uint32_t> found = test::graph_handles(*program.graph);
    std::erase(found, 0U);  // writes to buffers at the end have no handle
    EXPECT_EQ(found, expected);
    same += found == expected ? 1 : 0;
  }
  EXPECT_GE(same, at_least);
  std::printf("%zu programs have ExecuTorch's debug handles\n", same);
}

TEST(EdgeCorpus, CoreAtenDebugHandlesMatchExecuTorch) { expect_same_handles(true, 36); }
TEST(EdgeCorpus, TrainingIrDebugHandlesMatchExecuTorch) { expect_same_handles(false, 36); }

TEST(EdgeCorpus, LowersModelsFromOlderPyTorchVersions) {
  VITRINE_NEEDS_CORPUS();
  size_t count = 0;
  for (const fs::path& file : test::files_below(test::corpus_dir(), ".pt2")) {
    if (!test::is_compat(file)) continue;
    SCOPED_TRACE(file.string());
    ExportedProgram program = import_pt2(file);
    try {
      to_edge(program);
      to_executable(program);
      ++count;
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GE(count, 74U);
}

}  // namespace
}  // namespace vitrine::aot
