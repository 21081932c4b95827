// Compares printed graphs with those of ExecuTorch. The programs are lowered with ExecuTorch's
// partitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/import/pt2.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/delegated_graph.h"
#include "aot/lowering/delegation_info.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/partition_nodes.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "demo_backend/lowering.h"
#include "test/aot/lowering/printed_partitions.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace vitrine::delegation {
namespace {

namespace fs = std::filesystem;
using aot::Dialect;
using aot::ExportedProgram;
using aot::Node;
using aot::Target;

std::vector<fs::path> delegated_cases() {
  std::vector<fs::path> folders;
  for (const fs::path& file : test::files_below(test::corpus_dir(), "delegated_graph.txt")) {
    if (test::is_compat(file) || !fs::exists(file.parent_path() / "model.pt2")) continue;
    if (test::read_text(file).find("XnnpackBackend") == std::string::npos) continue;
    folders.push_back(file.parent_path());
  }
  return folders;
}

// Runs to_edge. Does not decompose the operators that the printed graph contains.
ExportedProgram edge_program(const fs::path& folder, const std::string& printed) {
  ExportedProgram program = aot::import_pt2(folder / "model.pt2");
  constexpr std::array<const char*, 6> kKept = {
      "aten.linear.default", "aten.max_pool2d.default", "aten.upsample_bilinear2d.vec",
      "aten.prelu.default",  "aten.hardswish.default",  "aten.hardtanh.default"};
  aot::EdgeOptions options;
  options.ops_to_keep.emplace_back();
  for (const char* op : kKept) {
    if (printed.find(std::string("_ops.") + op + "]") != std::string::npos) {
      options.ops_to_keep.back().targets.emplace_back(op);
    }
  }
  aot::to_edge(program, options);
  return program;
}

TEST(PrintedCorpus, PrintedGraphsMatchExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  size_t all = 0;
  for (const fs::path& folder : delegated_cases()) {
    SCOPED_TRACE(folder.string());
    const std::string printed = test::read_text(folder / "delegated_graph.txt");
    // This case has two partitioners, and the printed text does not show their order.
    if (folder.filename() == "mlp_dynq") continue;
    ++all;
    try {
      ExportedProgram program = edge_program(folder, printed);
      const auto delegates = aot::test::printed_delegates(printed);
      aot::to_backend(program, aot::test::PrintedPartitioner(delegates));
      const std::string found = format_delegated_graph(*program.graph);
      // The target of the input is "input" in the printed graph, but "input_1" in the .pt2 file,
      // because "input" is a Python builtin.
      const std::string expected =
          std::regex_replace(printed, std::regex("\\[target=input\\]"), "[target=input_1]");
      const DelegationInfo info = delegation_info(*program.graph);
      const bool is_same = found == expected &&
                           format_csv(info) == test::read_text(folder / "delegation.csv") &&
                           format_summary(info) + "\n" + format_grid(info) ==
                               test::read_text(folder / "delegation_summary.txt");
      same += is_same ? 1 : 0;
      if (!is_same) std::printf("%s: the printed graph differs\n", folder.filename().c_str());
    } catch (const aot::AotError& error) {
      std::printf("%s: %s\n", folder.filename().c_str(), error.what());
    }
  }
  std::printf("%zu of %zu printed graphs equal ExecuTorch's\n", same, all);
  // The remaining graphs differ from ExecuTorch's even before lowering.
  EXPECT_GE(same, 130U);
}

// For the nodes that ExecuTorch delegated, partition_nodes() must choose the same partitions as
// ExecuTorch.
TEST(PrintedCorpus, PartitionsMatchExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  for (const fs::path& folder : delegated_cases()) {
    SCOPED_TRACE(folder.string());
    const std::string printed = test::read_text(folder / "delegated_graph.txt");
    if (folder.filename() == "mlp_dynq") continue;  // has one partition per match
    try {
      ExportedProgram program = edge_program(folder, printed);
      auto delegates = aot::test::printed_delegates(printed);
      std::unordered_set<const Node*> supported;
      for (const auto& delegate : delegates) {
        for (const std::string& name : delegate.calls) {
          supported.insert(program.graph->find(name));
        }
      }
      const auto partitions = aot::partition_nodes(*program.graph, supported);
      ASSERT_EQ(partitions.size(), delegates.size());
      std::ranges::reverse(delegates);
      for (size_t i = 0; i < partitions.size(); ++i) {
        std::set<std::string> names;
        for (const Node* node : partitions[i].nodes) names.insert(node->name());
        EXPECT_EQ(names, delegates[i].calls);
      }
    } catch (const aot::AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// In ExecuTorch's print, the model is one delegate, whose only result is used without a getitem.
TEST(PrintedCorpus, DemoBackendGraphMatchesExecuTorch) {
  const std::filesystem::path folder = test::samples_dir() / "conv_relu_tan";
  ExportedProgram edge = aot::import_pt2(folder / "model.pt2");
  aot::to_edge(edge);
  ExportedProgram program = aot::delegate_program(aot::to_backend(demo::DemoLowering(), edge));
  Node* item = program.graph->find("getitem");
  item->replace_all_uses_with(item->args()[0].node());
  program.graph->erase(item);
  EXPECT_EQ(format_delegated_graph(*program.graph),
            test::read_text(folder / "delegated_graph.txt"));
  const DelegationInfo info = delegation_info(*program.graph);
  EXPECT_EQ(format_csv(info), test::read_text(folder / "delegation.csv"));
  EXPECT_EQ(format_summary(info) + "\n" + format_grid(info),
            test::read_text(folder / "delegation_summary.txt"));
}

// Expects the table that ExecuTorch's documentation shows for MobileNetV2. The documented graph
// contains a clone in place of dropout. All calls except this clone and the view before it are
// delegated.
TEST(PrintedCorpus, DelegatedNodeCountsOfMobileNetMatchTheDocumentation) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack");
  ExportedProgram program = edge_program(folder, test::read_text(folder / "delegated_graph.txt"));
  Node* linear = program.graph->find("aten_linear_default");
  Node* dropped = linear->args()[0].node();
  Node* clone = aot::insert_like(*linear, Target::of("aten.clone.default", Dialect::kEdge),
                                 {dropped}, {}, dropped->meta.value);
  linear->set_arg(0, clone);
  class AllButViewAndClone final : public aot::Partitioner {
   public:
    aot::PartitionResult partition(ExportedProgram& edge) const override {
      std::unordered_set<const Node*> supported;
      for (const Node& node : edge.graph->nodes()) {
        if (node.is_call() && !node.target().is("aten.view_copy.default") &&
            !node.target().is("aten.clone.default")) {
          supported.insert(&node);
        }
      }
      aot::PartitionResult result;
      for (const aot::NodePartition& partition : aot::partition_nodes(*edge.graph, supported)) {
        const std::string tag = "tag" + std::to_string(partition.id);
        for (Node* node : partition.nodes) node->meta.delegation_tag = tag;
        result.tags[tag] = {std::make_shared<aot::test::NamedBackend>("XnnpackBackend"), {}};
      }
      aot::tag_constants(edge);
      return result;
    }
  };
  aot::to_backend(program, AllButViewAndClone());
  const DelegationInfo info = delegation_info(*program.graph);
  EXPECT_EQ(format_summary(info),
            "Total delegated subgraphs: 2\n"
            "Number of delegated nodes: 203\n"
            "Number of non-delegated nodes: 4\n");
  EXPECT_EQ(format_csv(info),
            "op_type,occurrences_in_delegated_graphs,occurrences_in_non_delegated_graphs\n"
            "aten__native_batch_norm_legit_no_training_default,52,0\n"
            "aten_add_tensor,10,0\n"
            "aten_clone_default,0,1\n"
            "aten_convolution_default,52,0\n"
            "aten_hardtanh_default,35,0\n"
            "aten_linear_default,1,0\n"
            "aten_mean_dim,1,0\n"
            "aten_view_copy_default,0,1\n"
            "getitem,52,2\n"
            "Total,203,4\n");
}

}  // namespace
}  // namespace vitrine::delegation
