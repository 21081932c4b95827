#include "formats/etrecord/etrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/etrecord/edge_graph.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/read_json.h"
#include "test/support/record_builder.h"
#include "test/support/results.h"

namespace vitrine::etrecord {
namespace {

using test::edge_program_json;
using test::make_archive;
using test::Members;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Members sample() {
  return {{"ETRECORD_V0", ""},
          {"edge_dialect_exported_program/forward",
           edge_program_json(
               {{"aten_convolution_default", "aten.convolution.default", 1, {"x", "w"}, "a.0"},
                {"aten_relu_default", "aten.relu.default", 2, {"aten_convolution_default"}, ""}})},
          {"edge_dialect_exported_program/forward_state_dict", "not json, and not read"},
          {"edge_dialect_exported_program/forward_constants", ""},
          {"edge_dialect_exported_program/forward_example_inputs", ""},
          {"debug_handle_map", R"({"forward": {"0": [1, 2], "1": 2}})"},
          {"delegate_map",
           R"({"forward": {"0": {"name": "B", "delegate_map": {"7": [1], "x": [2, 1]}}}})"},
          {"instruction_id_to_num_outs_map", R"({"forward": {"0": 3}})"}};
}

Members sample_with(const std::string& member, const std::string& content) {
  Members members = sample();
  for (auto& [name, text] : members) {
    if (name == member) text = content;
  }
  return members;
}

Members sample_without(const std::string& member) {
  Members members = sample();
  std::erase_if(members, [&](const auto& entry) { return entry.first == member; });
  return members;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  return test::thrown<FormatError>([&] { parse_etrecord(bytes, "x.etrecord"); });
}

std::string error_with(const std::string& member, const std::string& content) {
  return error_of(make_archive(sample_with(member, content)));
}

// Records of 2023 store unset fields as null. For a union, they store all members, and only one
// member has a value.
TEST(EtRecord, TreatsNullMembersAsMissing) {
  const std::string x = R"({"as_none": null, "as_tensor": {"name": "x"}, "as_int": null,
      "as_ints": null, "as_tensors": null, "as_sym_int": null, "as_optional_tensors": null})";
  const std::string y = R"({"as_tensor": {"name": "y"}, "as_tensors": null, "as_sym_int": null})";
  const std::string program = R"({"graph_module": {
      "graph": {"inputs": [)" +
                              x + R"(], "outputs": [)" + y + R"(],
                "nodes": [{"target": "torch.ops.aten.relu.default", "name": null,
                           "inputs": [{"name": "self", "arg": )" +
                              x + R"(}],
                           "outputs": [)" +
                              y + R"(],
                           "metadata": {"debug_handle": "3", "stack_trace": null,
                                        "nn_module_stack": null}}],
                "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_expr": null, "as_int": 2}]},
                                  "y": {"dtype": 7, "sizes": null}}},
      "signature": {"input_specs": [{"user_input": {"arg": )" +
                              x + R"(},
                                     "parameter": null, "buffer": null}]}}})";
  const EtRecord record =
      parse_etrecord(make_archive(sample_with("edge_dialect_exported_program/forward", program)));
  const EdgeGraph& graph = record.methods.at("forward").graph;
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].name, "y");
  EXPECT_EQ(graph.nodes[0].debug_handle, 3u);
  ASSERT_EQ(graph.nodes[0].arguments.size(), 1u);
  const EdgeValue& input = graph.values[graph.nodes[0].arguments[0].values.at(0)];
  EXPECT_THAT(input.sizes, ElementsAre(2));
  EXPECT_FALSE(input.is_constant);
}

TEST(EtRecord, ReadsMapsAndGraph) {
  const EtRecord record = parse_etrecord(make_archive(sample()));
  ASSERT_EQ(record.methods.size(), 1u);
  const MethodRecord& method = record.methods.at("forward");
  EXPECT_THAT(method.handles_of_instruction.at(0), ElementsAre(1, 2));
  EXPECT_THAT(method.handles_of_instruction.at(1), ElementsAre(2));
  EXPECT_EQ(method.delegates.at(0).backend, "B");
  EXPECT_THAT(method.delegates.at(0).handles_of_id.at("7"), ElementsAre(1));
  EXPECT_THAT(method.delegates.at(0).handles_of_id.at("x"), ElementsAre(2, 1));
  EXPECT_EQ(method.num_outputs.at(0), 3);
  ASSERT_EQ(method.graph.nodes.size(), 2u);
  EXPECT_EQ(method.graph.nodes[0].name, "aten_convolution_default");
  EXPECT_EQ(method.graph.nodes[0].target, "aten.convolution.default");
  EXPECT_EQ(method.graph.nodes[0].module_path, "a.0");
  EXPECT_EQ(method.graph.nodes[0].module_class, "M");
  EXPECT_TRUE(method.graph.nodes[0].inputs.empty()) << "inputs of the program are not nodes";
  EXPECT_THAT(method.graph.nodes[1].inputs, ElementsAre(0));
  EXPECT_THAT(method.graph.nodes_of_handle.at(2), ElementsAre(1));
}

TEST(EtRecord, ReadsACompressedRecord) {
  EXPECT_EQ(parse_etrecord(make_archive(sample(), true)).methods.at("forward").graph.nodes.size(),
            2u);
}

TEST(EtRecord, AcceptsAbsentAndNullMaps) {
  EXPECT_EQ(error_of(make_archive(sample_without("delegate_map"))), "");
  EXPECT_EQ(error_of(make_archive(sample_without("instruction_id_to_num_outs_map"))), "");
  EXPECT_EQ(error_with("delegate_map", "null"), "");
  EXPECT_EQ(error_with("delegate_map", R"({"forward": null})"), "");
  EXPECT_EQ(
      error_with("delegate_map", R"({"forward": {"0": {"name": "B", "delegate_map": null}}})"), "");
}

TEST(EtRecord, ReportsMissingMembers) {
  EXPECT_THAT(error_of({}), HasSubstr("x.etrecord"));
  EXPECT_THAT(error_of(make_archive(sample_without("ETRECORD_V0"))),
              AllOf(HasSubstr("x.etrecord"), HasSubstr("ETRECORD_V0")));
  EXPECT_THAT(error_of(make_archive(sample_without("debug_handle_map"))),
              HasSubstr("debug_handle_map"));
  EXPECT_THAT(error_of(make_archive(sample_without("edge_dialect_exported_program/forward"))),
              HasSubstr("no edge program"));
  EXPECT_THROW(read_etrecord("/no/such/file"), FormatError);
}

TEST(EtRecord, ReportsThePathOfInvalidJson) {
  const std::string program = "edge_dialect_exported_program/forward";
  EXPECT_THAT(error_with("debug_handle_map", "{\"forward"), HasSubstr("is not JSON"));
  EXPECT_THAT(error_with("debug_handle_map", "[]"), HasSubstr("is not an object"));
  EXPECT_THAT(error_with("debug_handle_map", R"({"forward": {"x": 1}})"),
              AllOf(HasSubstr("forward.x"), HasSubstr("instruction")));
  EXPECT_THAT(error_with("debug_handle_map", R"({"forward": {"0": [1, -1]}})"),
              AllOf(HasSubstr("[1]"), HasSubstr("out of range")));
  EXPECT_THAT(error_with("debug_handle_map", R"({"forward": {"0": 18446744073709551615}})"),
              HasSubstr("out of range"));
  EXPECT_THAT(error_with("debug_handle_map", R"({"forward": {"0": 1.5}})"),
              HasSubstr("is not an integer"));
  EXPECT_THAT(error_with("delegate_map", R"({"forward": {"0": {"name": 3}}})"),
              HasSubstr("is not a string"));
  EXPECT_THAT(error_with(program, "{}"), HasSubstr("graph_module"));
  EXPECT_THAT(error_with(program, R"({"graph_module": {"graph": {"nodes": [7]}}})"),
              AllOf(HasSubstr(program), HasSubstr("nodes[0]")));
  EXPECT_THAT(
      error_with(program, R"({"graph_module": {"graph": {"nodes": [{"target": "a", "inputs": [],
          "outputs": [], "metadata": {"debug_handle": "seven"}}]}}})"),
      HasSubstr("metadata.debug_handle"));
}

TEST(EtRecord, AcceptsNanAndInfinityAsPythonWritesThem) {
  Members members = sample();
  std::string& program = members[1].second;
  program.insert(1, R"("a": [-Infinity, NaN,Infinity], "b": "NaN \" Infinity", )");
  EXPECT_EQ(error_of(make_archive(members)), "");
  program.insert(1, R"("c": Inf, )");
  EXPECT_THAT(error_of(make_archive(members)), HasSubstr("is not JSON"));
}

TEST(EtRecord, RejectsDeeplyNestedJson) {
  const std::string deep(1 << 20, '[');
  EXPECT_THAT(error_with("debug_handle_map", deep), HasSubstr("is nested deeper than 200 levels"));
  EXPECT_THAT(error_with("debug_handle_map", deep + std::string(deep.size(), ']')),
              HasSubstr("is nested deeper than 200 levels"));
}

// Each lowered module contains another lowered module, six levels deep.
TEST(EtRecord, RejectsDeeplyNestedLoweredModules) {
  nlohmann::json program = nlohmann::json::parse(edge_program_json({}));
  for (int depth = 0; depth < 6; ++depth) {
    const nlohmann::json module = {{"original_module", program}};
    program["graph_module"]["graph"]["nodes"] = nlohmann::json::array(
        {{{"target", "torch.ops.higher_order.executorch_call_delegate"},
          {"inputs", {{{"name", "m"}, {"arg", {{"as_string", module.dump()}}}}}},
          {"outputs", nlohmann::json::array()},
          {"metadata", nlohmann::json::object()}}});
  }
  EXPECT_THAT(error_with("edge_dialect_exported_program/forward", program.dump()),
              HasSubstr("nested too deep"));
}

TEST(EtRecord, RejectsZipBombs) {
  Members members = sample_with("debug_handle_map", std::string(8 << 20, ' ') + "{}");
  EXPECT_THAT(error_of(make_archive(members, true)), HasSubstr("the maximum is 200 times"));
}

TEST(EtRecord, RejectsEveryTruncation) {
  test::for_each_truncation(make_archive(sample()), [](const auto& bytes, const auto& damage) {
    EXPECT_NE(error_of(bytes), "") << damage;
  });
}

TEST(EtRecord, SurvivesFlippedBytes) {
  const std::vector<std::byte> sound = make_archive(sample());
  size_t rejected = 0;
  test::for_each_changed_byte(
      sound, [&](const auto& bytes, const auto&) { rejected += error_of(bytes).empty() ? 0 : 1; });
  EXPECT_GT(rejected, sound.size()) << "content is covered by checksums";
}

TEST(NormalizedModulePath, RemovesThePrefixOfTheRoot) {
  EXPECT_EQ(normalized_module_path(""), "");
  EXPECT_EQ(normalized_module_path("features.0.0"), "features.0.0");
  EXPECT_EQ(normalized_module_path("L['fn']"), "");
  EXPECT_EQ(normalized_module_path("L['s'].bn1"), "bn1");
  EXPECT_EQ(normalized_module_path("getattr(L['fn'], '0')"), "0");
  EXPECT_EQ(normalized_module_path("getattr(getattr(L['s'].a, '0').b, '12')"), "a.0.b.12");
  EXPECT_EQ(normalized_module_path("L['s"), "");
}

TEST(EtRecordCorpus, FindsTheNodesOfAllDebugHandles) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t records = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("etrecord") || entry.path().extension() != ".bin") continue;
    SCOPED_TRACE(entry.path().string());
    const EtRecord record = read_etrecord(entry.path());
    ++records;
    // Before ExecuTorch 1.0, getitem calls had their own debug handles. Records do not store the
    // nodes of these calls.
    const bool is_old = entry.path().string().find("/compat/") != std::string::npos;
    for (const auto& [method_name, method] : record.methods) {
      if (method.graph.nodes.empty()) continue;  // maps of methods whose graph was not recorded
      for (const auto& [instruction, handles] : method.handles_of_instruction) {
        for (const DebugHandle handle : handles) {
          EXPECT_TRUE(is_old || method.graph.nodes_of_handle.contains(handle))
              << method_name << " instruction " << instruction << " handle " << handle;
        }
      }
      for (size_t i = 0; i < method.graph.nodes.size(); ++i) {
        EXPECT_FALSE(method.graph.nodes[i].name.empty());
        EXPECT_FALSE(method.graph.nodes[i].target.starts_with("executorch."));
        for (const size_t input : method.graph.nodes[i].inputs) EXPECT_LT(input, i);
      }
    }
    const auto maps = entry.path().parent_path() / "debug_handle_map.json";
    if (name != "etrecord.bin" || !std::filesystem::exists(maps)) continue;
    const nlohmann::json expected_maps = test::read_json(maps);
    for (const auto& [method_name, instructions] : expected_maps.items()) {
      for (const auto& [instruction, handles] : instructions.items()) {
        const auto expected = handles.is_array() ? handles.get<std::vector<DebugHandle>>()
                                                 : std::vector{handles.get<DebugHandle>()};
        EXPECT_EQ(record.methods.at(method_name).handles_of_instruction.at(std::stoi(instruction)),
                  expected);
      }
    }
  }
  EXPECT_GE(records, 80u);
}

TEST(EtRecordCorpus, SourceNodesMatchAnIndependentReference) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t nodes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().filename() != "xnn_nodes.json") continue;
    const auto file = entry.path().parent_path() / "etrecord.bin";
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(file.string());
    const EtRecord record = read_etrecord(file);
    const nlohmann::json reference = test::read_json(entry.path());
    for (const auto& [method, delegates] : reference.at("methods").items()) {
      for (const auto& delegate : delegates) {
        for (const auto& node : delegate.at("nodes")) {
          if (node.at("source").empty()) continue;
          ++nodes;
          const EdgeGraph& graph = record.methods.at(method).graph;
          nlohmann::json sources = nlohmann::json::array();
          for (const size_t i :
               graph.nodes_of_handle.at(node.at("debug_handle").get<DebugHandle>())) {
            sources.push_back({{"target", graph.nodes[i].target},
                               {"name", graph.nodes[i].name},
                               {"module", graph.nodes[i].module_path}});
          }
          EXPECT_EQ(sources, node.at("source"));
        }
      }
    }
  }
  EXPECT_GE(nodes, 200u);
}

TEST(EtRecordCorpus, ExpandsLoweredModules) {
  VITRINE_CORPUS_CASE(corpus, "compat/v0.5.0/conv_relu_tan");
  const EtRecord record = read_etrecord(corpus / "etrecord.bin");
  const MethodRecord& method = record.methods.at("forward");
  std::vector<std::string> targets;
  for (const EdgeNode& node : method.graph.nodes) targets.push_back(node.target);
  EXPECT_THAT(targets,
              ElementsAre("aten.convolution.default", "aten.relu.default",
                          "aten.convolution.default", "aten.relu.default", "aten.tan.default"));
  EXPECT_EQ(method.graph.nodes[0].module_path, "conv_layer.conv1");
  EXPECT_EQ(method.graph.nodes[0].name, "lowered_module_0/aten_convolution_default");
  EXPECT_THAT(method.graph.nodes[1].inputs, ElementsAre(0));
  EXPECT_THAT(method.delegates.at(0).handles_of_id.at("0"), ElementsAre(6, 7));
}

TEST(EtRecordCorpus, OpensALargeRecordWithoutReadingTheWeights) {
  VITRINE_CORPUS_CASE(corpus, "mv2_xnnpack");
  const auto file = corpus / "etrecord.bin";
  ASSERT_GT(std::filesystem::file_size(file), 25u << 20);
  const auto start = std::chrono::steady_clock::now();
  const EtRecord record = read_etrecord(file);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(record.methods.at("forward").handles_of_instruction.at(0).size(), 204u);
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 5.0) << "generous: sanitizers and busy machines";
}

}  // namespace
}  // namespace vitrine::etrecord
