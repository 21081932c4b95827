// Tests that damaged .pt2 files cause errors that name the position, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aot/graph/print.h"
#include "aot/import/import_error.h"
#include "aot/import/pt2.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using nlohmann::json;

ExportedProgram parse(const std::vector<std::byte>& bytes) {
  return parse_pt2(bytes, nullptr, "model.pt2");
}

ExportedProgram parse_json(const json& program) {
  return parse(test::write_zip(test::small_pt2(program.dump())));
}

struct DamagedArchive : testing::Test {
  json program = json::parse(test::small_program_json());
  json& graph() { return program["graph_module"]["graph"]; }
  void expect_error(const char* text) { EXPECT_ERROR(ImportError, parse_json(program), text); }
};

// PyTorch versions differ in how they write that a size is unbounded.
TEST_F(DamagedArchive, AcceptsInfiniteBounds) {
  for (const json& bound : {json("Infinity"), json(nullptr), json("a number")}) {
    program["range_constraints"]["s0"] = {{"min_val", 2}, {"max_val", bound}};
    std::string text = program.dump();
    if (bound == "a number") text.replace(text.find("\"a number\""), 10, "Infinity");
    const ExportedProgram imported = parse(test::write_zip(test::small_pt2(text)));
    EXPECT_EQ(imported.range_constraints.at("s0"), (Range{2, std::nullopt}));
  }
  program["range_constraints"]["s0"] = {{"min_val", 2}, {"max_val", 2.5}};
  expect_error("is not an integer");
}

TEST_F(DamagedArchive, ImportsUndamagedArchive) {
  const std::vector<std::byte> bytes = test::write_zip(test::small_pt2(program.dump()));
  const ExportedProgram imported = parse(bytes);
  EXPECT_EQ(format_graph(*imported.graph),
            "graph():\n"
            "    %p_w : [num_users=1] = placeholder[target=p_w]\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = "
            "(%x, %p_w), kwargs = {})\n"
            "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = "
            "(%add,), kwargs = {})\n"
            "    return (relu,)");
  EXPECT_EQ(imported.state_dict.at("w").storage.size(), 8U);
  // The weight is a view into the archive.
  EXPECT_GE(imported.state_dict.at("w").storage.data(), bytes.data());
  EXPECT_LT(imported.state_dict.at("w").storage.data(), bytes.data() + bytes.size());
}

// The weights belong to the program "model", so the import fails if it reads another program.
TEST_F(DamagedArchive, ImportsTheProgramNamedModelInAnyOrderOfMembers) {
  for (const size_t index : {0u, 5u}) {
    test::ArchiveMembers members = test::small_pt2(program.dump());
    const test::ArchiveMembers others = {{"m/models/a.json", "{}"}, {"m/models/b.json", "{}"}};
    members.insert(members.begin() + index, others.begin(), others.end());
    EXPECT_EQ(parse(test::write_zip(members)).state_dict.count("w"), 1U);
    std::erase_if(members,
                  [](const auto& member) { return member.first == "m/models/model.json"; });
    EXPECT_ERROR(ImportError, parse(test::write_zip(members)),
                 "contains the programs a, b, and none has the name \"model\"");
  }
}

TEST_F(DamagedArchive, ErrorsNameTheLocationOfAnInvalidValue) {
  struct Case {
    const char* pointer;  // of the replaced value
    json value;
    const char* error;
  };
  const json expression = {{"as_expr", {{"expr_str", "open('x')"}, {"hint", nullptr}}}};
  const Case cases[] = {
      {"/graph_module/graph/nodes/0/inputs/1/arg/as_tensor/name", "y",
       "model.pt2: m/models/model.json: "
       "graph_module.graph.nodes[0].inputs[1].arg.as_tensor.name: value \"y\" is not defined "
       "before its use"},
      {"/graph_module/graph/nodes/1/outputs/0/as_tensor/name", "add",
       "graph_module.graph.nodes[1].outputs[0].as_tensor.name: value \"add\" is defined twice"},
      {"/graph_module/graph/tensor_values/add/dtype", 99,
       "graph_module.graph.tensor_values.add.dtype: unknown dtype 99"},
      {"/graph_module/graph/nodes/0/inputs/0/arg",
       {{"as_magic", 1}},
       "nodes[0].inputs[0].arg: arguments of kind as_magic are not supported"},
      {"/graph_module/signature/input_specs/0",
       {{"magic", 1}},
       "signature.input_specs[0]: unknown kind magic"},
      {"/graph_module/graph/tensor_values/add/sizes/0", expression,
       "tensor_values.add.sizes[0].as_expr.expr_str: invalid expression at character"},
      {"/schema_version/major", 9, "schema_version: is 9, but only version 8 is supported"},
      {"/graph_module/graph/tensor_values/p_w/sizes/0",
       {{"as_int", 3}},
       "model.pt2: node p_w: is f32[3], but its data have the sizes [2]"},
  };
  const json valid = program;
  for (const auto& [pointer, value, error] : cases) {
    program = valid;
    program.at(json::json_pointer(pointer)) = value;
    expect_error(error);
  }
  program = valid;
  graph()["tensor_values"]["add"].erase("strides");
  expect_error("graph_module.graph.tensor_values.add: has no \"strides\"");
}

TEST_F(DamagedArchive, RejectsInvalidMembersAndDeepNesting) {
  const auto expect_rejected = [](const test::ArchiveMembers& members, const char* text) {
    EXPECT_ERROR(ImportError, parse(test::write_zip(members)), text);
  };
  test::ArchiveMembers members = test::small_pt2(program.dump());
  members[0].second.resize(4);
  expect_rejected(members,
                  "m/data/weights/model_weights_config.json: config.w.tensor_meta: reads element "
                  "1, but its record has only 1");
  members = test::small_pt2(program.dump());
  json config = json::parse(members[1].second);
  config["config"]["w"]["path_name"] = "../constants/x";
  members[1].second = config.dump();
  expect_rejected(members, "is not a valid record name");
  expect_rejected(test::small_pt2(std::string(100000, '[')), "is nested deeper than 200 levels");
  json inner = graph();
  for (int i = 0; i < 20; ++i) {
    json outer = graph();
    outer["nodes"][0]["inputs"][1]["arg"] = {{"as_graph", {{"name", "g"}, {"graph", inner}}}};
    inner = outer;
  }
  graph() = inner;
  EXPECT_THROW(parse_json(program), ImportError);
}

// Replaces one value of the JSON at a time, with each of the replacements. Each import must succeed
// or throw an ImportError.
TEST_F(DamagedArchive, SurvivesReplacedValues) {
  const json replacements = json::array({nullptr, -1, 1e300, "x", json::array(), json::object(),
                                         true, json::array({json::array()}), INT64_MIN});
  const json original = program;
  const json flat = original.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (const json& replacement : replacements) {
      program = original;
      program[json::json_pointer(pointer)] = replacement;
      try {
        parse_json(program);
      } catch (const ImportError&) {
      }
    }
  }
}

void try_damage(const std::vector<std::byte>& original) {
  // The archive's headers and directory are near its beginning and its end. The JSON is in between.
  test::for_each_random_damage(original, 1500, [](const auto& bytes, const auto&) {
    try {
      parse(bytes);
    } catch (const AotError&) {
    }
  });
  const auto expect_error = [](const auto& bytes, const auto& damage) {
    EXPECT_THROW(parse(bytes), ImportError) << damage;
  };
  test::for_each_truncation(original, expect_error, original.size() / 300 + 1);
}

TEST_F(DamagedArchive, SurvivesDamagedBytes) {
  try_damage(test::write_zip(test::small_pt2(program.dump())));
}
TEST_F(DamagedArchive, SurvivesDamagedCompressedBytes) {
  try_damage(test::write_zip(test::small_pt2(program.dump()), true));
}

std::vector<std::byte> repacked(const std::filesystem::path& file) {
  return test::write_zip(test::read_zip(file.string()));
}

TEST(DamagedCorpus, SurvivesDamagedArchivesWithoutRootFolder) {
  VITRINE_CORPUS_CASE(folder, "compat/v0.5.0/pt2_tied_buffers_constants");
  try_damage(repacked(folder / "model.pt2"));
}
TEST(DamagedCorpus, SurvivesDamagedSubgraphs) {
  VITRINE_CORPUS_CASE(folder, "cond_model");
  try_damage(repacked(folder / "model.pt2"));
}

}  // namespace
}  // namespace vitrine::aot
