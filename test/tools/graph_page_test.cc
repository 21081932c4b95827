// Tests the data in the page of a graph. graph_page_browser_test.cc tests the page in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "inspector/report/report_graph.h"
#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/inspect.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/picture.h"
#include "tools/pte_inspect/program_graph.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using inspector::GraphPicture;
using Document = nlohmann::json;

// Returns the data in the page of a graph.
Document data_of(const fs::path& file, const fs::path& record = {}, const fs::path& source = {}) {
  tools::InspectOptions options;
  options.files = {file};
  options.report.format = tools::ReportFormat::kHtml;
  if (!record.empty()) options.etrecords = {record};
  options.source = source;
  return page_data(tools::inspect(options).text);
}

// Throws if no node has this label.
const Document& find_node(const Document& data, const std::string& label) {
  for (const Document& node : data.at("nodes")) {
    if (node.at("label") == label) return node;
  }
  throw std::out_of_range(label);
}

std::string fact(const Document& node, const std::string& name) {
  if (!node.contains("facts")) return "";
  for (const Document& row : node.at("facts")) {
    if (row[0] == name) return row[1];
  }
  return "";
}

size_t count_kind(const Document& data, const std::string& kind) {
  size_t count = 0;
  for (const Document& node : data.at("nodes")) count += node.at("kind") == kind ? 1 : 0;
  return count;
}

// Expects that every parent and both ends of every edge exist, and that every node has an edge.
void expect_connected(const Document& data) {
  const size_t count = data.at("nodes").size();
  std::set<size_t> parents, ends;
  for (const Document& node : data.at("nodes")) {
    if (node.contains("parent")) parents.insert(node.at("parent").get<size_t>());
  }
  for (const Document& edge : data.at("edges")) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_LT(edge[i].get<size_t>(), count);
      ends.insert(edge[i].get<size_t>());
    }
    ASSERT_LT(edge[2].get<size_t>(), data.at("types").size());
  }
  for (const size_t parent : parents) ASSERT_LT(parent, count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(ends.contains(i) || parents.contains(i)) << data.at("nodes")[i];
  }
}

TEST(GraphPage, ConnectsTheNodesOfAnXnnpackDelegate) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const fs::path folder = samples_dir() / "mv2_025_xnnpack";
  const Document data = data_of(folder / "model.pte", folder / "etrecord.bin");
  expect_connected(data);
  EXPECT_EQ(count_kind(data, "delegate"), 1u);
  EXPECT_EQ(count_kind(data, "input"), 1u);
  EXPECT_EQ(count_kind(data, "output"), 1u);
  EXPECT_NO_THROW(find_node(data, "XNNPACK"));
  // MobileNetV2 has 52 convolutions and 1 linear layer.
  size_t convolutions = 0;
  for (const Document& node : data.at("nodes")) {
    const std::string ops = fact(node, "source ops") + " " + fact(node, "source op");
    if (node.at("kind") == "op" && ops.find("convolution") != std::string::npos) ++convolutions;
  }
  EXPECT_EQ(convolutions, 52u);
  EXPECT_EQ(find_node(data, "input 0").at("note"), "f32[1,3,128,128]");
}

TEST(GraphPage, ShowsKernelsWithTheirSourceOps) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const fs::path folder = samples_dir() / "digits_portable";
  const Document data = data_of(folder / "model.pte", folder / "etrecord.bin");
  expect_connected(data);
  EXPECT_EQ(count_kind(data, "delegate"), 0u);
  const Document& convolution = find_node(data, "convolution");
  EXPECT_EQ(convolution.at("backend"), "kernels");
  EXPECT_EQ(fact(convolution, "kernel"), "aten::convolution.out");
  EXPECT_EQ(fact(convolution, "source op"), "aten.convolution.default");
  EXPECT_THAT(fact(convolution, "schema"),
              testing::StartsWith("aten.convolution.default(Tensor input, Tensor weight, Tensor? "
                                  "bias, int[] stride"));
  EXPECT_FALSE(fact(convolution, "source line").empty());
}

TEST(GraphPage, WarnsIfSourceOpsAreUnknown) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const Document data = data_of(samples_dir() / "digits_portable/model.pte");
  ASSERT_EQ(data.at("notes").size(), 1u);
  EXPECT_THAT(data.at("notes")[0].get<std::string>(), testing::HasSubstr("--etrecord"));
}

TEST(GraphPage, ShowsTheInsideOfDelegatesOfOtherBackends) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const Document data = data_of(samples_dir() / "formats" / "vulkan_conv_relu_linear.pte");
  expect_connected(data);
  const Document& linear = find_node(data, "linear");
  EXPECT_EQ(linear.at("constant_bytes"), 4 * (10 * 128 + 10));
  EXPECT_EQ(data.at("nodes")[linear.at("parent").get<size_t>()].at("kind"), "delegate");
}

TEST(GraphPage, DrawsExportedModels) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const Document data = data_of(samples_dir() / "conv_relu_tan/model.pt2");
  expect_connected(data);
  const Document& convolution = find_node(data, "conv2d");
  EXPECT_FALSE(fact(convolution, "weight").empty());
  EXPECT_FALSE(fact(convolution, "source line").empty());
  EXPECT_EQ(count_kind(data, "output"), 1u);
}

// The model conv_relu_tan has convolutions, which XNNPACK supports, and a tan, which it does not.
TEST(GraphPage, ExplainsWhyXnnpackDoesNotSupportACall) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  const fs::path folder = samples_dir() / "conv_relu_tan";
  constexpr const char* kNoTan =
      "does not take it: the XNNPACK backend does not support aten.tan.default";
  const Document model = data_of(folder / "model.pt2");
  EXPECT_EQ(fact(find_node(model, "tan"), "XNNPACK backend"), kNoTan);
  EXPECT_EQ(find_node(model, "tan").at("backend"), "kernels");
  EXPECT_EQ(fact(find_node(model, "conv2d"), "XNNPACK backend"), "takes it");
  EXPECT_EQ(find_node(model, "conv2d").at("backend"), "XnnpackBackend");

  const Document program = data_of(sample("add_mul/model.pte"), sample("add_mul/etrecord.bin"),
                                   sample("add_mul/model.pt2"));
  EXPECT_EQ(find_node(program, "mul").at("backend"), "kernels");
  EXPECT_EQ(fact(find_node(program, "mul"), "XNNPACK backend"), "takes it");
}

TEST(ReasonText, ListsTheOpsOfEachReasonOnce) {
  EXPECT_EQ(tools::reason_text({}), "");
  EXPECT_EQ(tools::reason_text({{"aten.a.default", ""}}), "takes it");
  EXPECT_EQ(tools::reason_text({{"aten.a.default", "no"}, {"aten.a.default", "no"}}),
            "does not take it: no");
  EXPECT_EQ(tools::reason_text({{"a", "no"}, {"b", ""}, {"c", "no"}, {"a", "no"}}),
            "does not take a, c: no\ntakes b");
}

TEST(GraphPage, ShowsTheSourceOpsThatAPayloadSpecifies) {
  const tools::Json payload = tools::Json::parse(
      R"({"tensors": [{"type": "f32[4]"}, {"type": "f32[4]"}],
          "graphs": [{"name": "main", "inputs": [0], "outputs": [1], "operators": [
            {"name": "mul", "arguments": [], "inputs": [0], "outputs": [1], "debug_handles": [7, 8]}
          ]}]})");
  tools::ProgramGraph method;
  method.name = "forward";
  method.values = {"f32[4]", "f32[4]"};
  method.constants = {false, false};
  method.inputs = {0};
  method.outputs = {1};
  tools::GraphInstruction& call = method.instructions.emplace_back();
  call.name = "CoreMLBackend";
  call.is_delegate = true;
  call.instruction = 0;
  call.inputs = {0};
  call.outputs = {1};
  call.tensors = {0, 1};
  call.payload = tools::graphs_of_payload(payload);
  etrecord::EtRecord record;
  etrecord::EdgeGraph& graph = record.methods["forward"].graph;
  for (const etrecord::DebugHandle handle : {6u, 7u}) {  // the record lacks handle 8
    etrecord::EdgeNode& node = graph.nodes.emplace_back();
    node.target = handle == 7 ? "aten.mul.Tensor" : "aten.add.Tensor";
    node.module_path = "head";
    graph.nodes_of_handle[handle] = {graph.nodes.size() - 1};
  }
  const GraphPicture picture = tools::picture_of_program({method}, &record);
  const auto mul = std::ranges::find(picture.nodes, "mul", &GraphPicture::Node::label);
  ASSERT_NE(mul, picture.nodes.end());
  EXPECT_EQ(mul->sources, std::vector<std::string>{"aten.mul.Tensor head"});
  EXPECT_EQ(mul->module_path, "head");
}

TEST(GraphPage, ShowsTimesOfTheNodesInADelegate) {
  const AlignedBytes bytes = read_file_bytes(samples_dir() / "linear_relu/model.pte");
  const auto methods = tools::graphs_of_program(*tools::load_program({"a.pte", bytes}));
  const auto& nodes = methods.at(0).instructions.at(0).payload.at(0).instructions;
  ASSERT_EQ(nodes.size(), 2u);
  inspector::Profile profile;
  profile.method = "forward";
  const auto add_row = [&](const std::string& identifier, double ns) {
    inspector::ProfileRow& row = profile.rows.emplace_back();
    row.where = inspector::Where::kDelegate;
    row.identifier = identifier;
    row.time.p50 = ns;
  };
  add_row(std::to_string(nodes[1].debug_handle), 30);
  add_row(std::to_string(nodes[0].debug_handle), 10);
  add_row("not a node", 5);
  const GraphPicture picture = tools::picture_of_program(methods, nullptr, &profile);
  std::vector<double> times;
  for (const GraphPicture::Node& node : picture.nodes) {
    if (node.kind == GraphPicture::Kind::kOp) times.push_back(node.time_ns);
    if (node.kind == GraphPicture::Kind::kDelegate) {
      EXPECT_EQ(node.time_ns, 5);
    }
  }
  EXPECT_EQ(times, (std::vector<double>{10, 30})) << "in the order of the payload";
  profile.method = "another";
  for (const GraphPicture::Node& node :
       tools::picture_of_program(methods, nullptr, &profile).nodes) {
    EXPECT_EQ(node.time_ns, 0) << "times of another method";
  }
}

TEST(ModelExplorer, HasTheNodesAndEdgesOfTheGraph) {
  tools::InspectOptions options;
  options.files = {samples_dir() / "digits_portable/model.pte"};
  options.etrecords = {samples_dir() / "digits_portable/etrecord.bin"};
  options.task = tools::Task::kGraphModelExplorer;
  const Document graphs = Document::parse(tools::inspect(options).text);
  ASSERT_EQ(graphs.size(), 1u);
  std::set<std::string> ids;
  for (const Document& node : graphs[0].at("nodes")) {
    EXPECT_TRUE(ids.insert(node.at("id")).second) << "ids are unique";
  }
  size_t edges = 0, convolutions = 0;
  for (const Document& node : graphs[0].at("nodes")) {
    convolutions += node.at("label") == "convolution" ? 1 : 0;
    for (const Document& edge : node.at("incomingEdges")) {
      EXPECT_TRUE(ids.contains(edge.at("sourceNodeId").get<std::string>()));
      ++edges;
    }
  }
  EXPECT_GT(edges, ids.size() / 2);
  EXPECT_GT(convolutions, 0u);
}

TEST(GraphPage, RejectsFilesWithoutAGraph) {
  EXPECT_THROW(data_of(samples_dir() / "digits_portable/etrecord.bin"), HostError);
}

TEST(GraphPage, RejectsGraphsThatAreTooLarge) {
  VITRINE_NEEDS_GRAPH_LAYOUT();
  GraphPicture picture;
  picture.nodes.resize(100'001);
  EXPECT_THROW(inspector::report_graph_html(picture), HostError);
}

TEST(SchemaText, PrintsPyTorchSchemaNotation) {
  EXPECT_EQ(tools::schema_text("aten.relu.default"), "aten.relu.default(Tensor self) -> Tensor");
  EXPECT_EQ(tools::schema_text("aten.add.Tensor"),
            "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(tools::schema_text("no.such.op"), "");
}

}  // namespace
}  // namespace vitrine::test
