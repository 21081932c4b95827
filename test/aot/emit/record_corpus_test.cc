// Compares written ETRecords with those that ExecuTorch wrote for the same models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "aot/emit/record.h"
#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "formats/etrecord/etrecord.h"
#include "test/support/corpus.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using etrecord::EdgeNode;
using etrecord::MethodRecord;

std::vector<fs::path> portable_cases_with_record() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(vitrine::test::corpus_dir())) {
    const fs::path& folder = entry.path();
    if (!fs::exists(folder / "etrecord.bin") || !fs::exists(folder / "model.pt2")) continue;
    const etrecord::EtRecord record = etrecord::read_etrecord(folder / "etrecord.bin");
    const auto forward = record.methods.find("forward");
    if (forward != record.methods.end() && forward->second.delegates.empty()) {
      cases.push_back(folder);
    }
  }
  std::ranges::sort(cases);
  return cases;
}

MethodRecord record_of(const fs::path& exported) {
  Methods edge;
  Methods executable;
  ExportedProgram program = import_pt2(exported);
  to_edge(program);
  edge.emplace("forward", program.copy());
  to_executable(program);
  executable.emplace("forward", std::move(program));
  const EmittedProgram emitted = emit(executable);
  return etrecord::parse_etrecord(write_record(edge, emitted.debug_info)).methods.at("forward");
}

void expect_same_nodes(const MethodRecord& ours, const MethodRecord& theirs) {
  ASSERT_EQ(ours.graph.nodes.size(), theirs.graph.nodes.size());
  for (size_t i = 0; i < ours.graph.nodes.size(); ++i) {
    const EdgeNode& a = ours.graph.nodes[i];
    const EdgeNode& b = theirs.graph.nodes[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(a.debug_handle, b.debug_handle) << a.name;
    EXPECT_EQ(a.module_path, b.module_path) << a.name;
    EXPECT_EQ(a.module_class, b.module_class) << a.name;
    EXPECT_EQ(a.source_line, b.source_line) << a.name;
    EXPECT_EQ(a.inputs, b.inputs) << a.name;
    ASSERT_EQ(a.arguments.size(), b.arguments.size()) << a.name;
    for (size_t k = 0; k < a.arguments.size(); ++k) {
      EXPECT_EQ(a.arguments[k].name, b.arguments[k].name) << a.name;
      EXPECT_EQ(a.arguments[k].integers, b.arguments[k].integers) << a.name;
    }
  }
}

TEST(RecordCorpus, NodesAndDebugHandlesMatchExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t compared = 0;
  for (const fs::path& folder : portable_cases_with_record()) {
    SCOPED_TRACE(folder.string());
    const MethodRecord ours = record_of(folder / "model.pt2");
    const MethodRecord theirs =
        etrecord::read_etrecord(folder / "etrecord.bin").methods.at("forward");
    expect_same_nodes(ours, theirs);
    EXPECT_EQ(ours.handles_of_instruction, theirs.handles_of_instruction);
    ++compared;
  }
  std::printf("%zu records compared\n", compared);
  EXPECT_GE(compared, 1U);
}

}  // namespace
}  // namespace vitrine::aot
