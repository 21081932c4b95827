#include "aot/lowering/delegation_info.h"

#include <gtest/gtest.h>

#include <sstream>

#include "aot/lowering/to_backend.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace vitrine::delegation {
namespace {

namespace fs = std::filesystem;

// Parses ExecuTorch's table and summary.
DelegationInfo read_info(const std::string& csv, const std::string& summary) {
  DelegationInfo info;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string type, delegated, non_delegated;
    std::getline(cells, type, ',');
    std::getline(cells, delegated, ',');
    std::getline(cells, non_delegated, ',');
    const OpCounts counts = {std::stoul(delegated), std::stoul(non_delegated)};
    if (type == "Total") {
      info.delegated_nodes = counts.delegated;
      info.non_delegated_nodes = counts.non_delegated;
    } else {
      info.by_op_type[type] = counts;
    }
  }
  info.subgraphs = std::stoul(summary.substr(summary.find(": ") + 2));
  return info;
}

// Compares only the layout. The numbers always match, because read_info() takes them from
// ExecuTorch's own tables. The corpus includes tables of other ExecuTorch versions.
TEST(DelegationInfo, TableLayoutMatchesExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t tables = 0;
  for (const fs::path& file : test::files_below(test::corpus_dir(), "delegation_summary.txt")) {
    const fs::path folder = file.parent_path();
    if (!fs::exists(folder / "delegation.csv")) continue;
    SCOPED_TRACE(folder.string());
    const std::string summary = test::read_text(file);
    const std::string csv = test::read_text(folder / "delegation.csv");
    const DelegationInfo info = read_info(csv, summary);
    EXPECT_EQ(format_csv(info), csv);
    EXPECT_EQ(format_summary(info) + "\n" + format_grid(info), summary);
    ++tables;
  }
  EXPECT_GT(tables, 100U);
  std::printf("%zu tables\n", tables);
}

TEST(DelegationInfo, CountsGetitemsAndIgnoresNumberSuffixesInNames) {
  aot::test::ProgramBuilder b;
  aot::Node* x = b.input("x");
  const std::vector<aot::Node*> parts = b.split(x, 2);
  aot::Node* sum = b.call("aten.add.Tensor", {parts[1], parts[2]});
  aot::Node* again = b.call("aten.add.Tensor", {sum, x});
  aot::ExportedProgram& program = b.finish({b.call("aten.erf.default", {again})});
  aot::to_backend(program,
                  aot::test::tagging({{"aten_add_tensor", "t"}, {"aten_add_tensor_1", "t"}}));
  const DelegationInfo info = delegation_info(*program.graph);
  EXPECT_EQ(format_summary(info),
            "Total delegated subgraphs: 1\n"
            "Number of delegated nodes: 2\n"
            "Number of non-delegated nodes: 5\n");
  EXPECT_EQ(format_csv(info),
            "op_type,occurrences_in_delegated_graphs,occurrences_in_non_delegated_graphs\n"
            "aten_add_tensor,2,0\n"
            "aten_erf_default,0,1\n"
            "aten_split_with_sizes_copy_default,0,1\n"
            "getitem,0,3\n"
            "Total,2,5\n");
}

TEST(DelegationInfo, IgnoresSubgraphsOfControlFlow) {
  aot::test::ProgramBuilder b;
  aot::Node* x = b.input("x");
  auto branch = std::make_unique<aot::Graph>();
  aot::Node* value = branch->placeholder("value");
  branch->set_output(aot::Argument::tuple({b.call_in(*branch, "aten.relu.default", {value})}));
  b.program.graph->subgraphs()["submodule_0"] = std::move(branch);
  aot::Node* attribute = b.program.graph->get_attr("submodule_0");
  aot::Node* cond =
      b.program.graph->call(aot::Target::of("cond", aot::Dialect::kHigherOrder), {x, attribute});
  cond->meta.value = aot::test::ProgramBuilder::spec();
  const DelegationInfo info = delegation_info(*b.finish({cond}).graph);
  EXPECT_EQ(info.non_delegated_nodes, 1U);
  EXPECT_EQ(info.subgraphs, 0U);
}

}  // namespace
}  // namespace vitrine::delegation
