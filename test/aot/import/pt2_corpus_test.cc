// Compares every imported .pt2 of the corpus with an independent reading of its JSON, and with the
// facts in the case's case.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Counts = std::map<std::string, size_t>;

json program_json(const test::ArchiveMembers& members) {
  for (const auto& [name, bytes] : members) {
    if (name.ends_with("models/model.json") || name == "serialized_exported_program.json") {
      std::string text = bytes;
      for (size_t at; (at = text.find(": -Infinity")) != std::string::npos;) {
        text.replace(at, 11, ": -1e300");
      }
      return json::parse(text, nullptr, false);
    }
  }
  return {};
}

void count_json(const json& graph, Counts& counts) {
  for (const json& node : graph["nodes"]) {
    ++counts[node["target"]];
    for (const json& input : node["inputs"]) {
      if (input["arg"].contains("as_graph")) count_json(input["arg"]["as_graph"]["graph"], counts);
    }
  }
}

void count_graph(const Graph& graph, Counts& counts) {
  for (const Node& node : graph.nodes()) {
    if (!node.is_call() || node.target() == getitem()) continue;
    std::string target = node.target().text();
    if (node.target().dialect() == Dialect::kPython) target = "_" + target;
    ++counts[target];
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) count_graph(*subgraph, counts);
}

std::string dtype_name(ScalarType dtype) {
  static const std::map<ScalarType, std::string> kNames = {
      {ScalarType::kFloat, "float32"},
      {ScalarType::kDouble, "float64"},
      {ScalarType::kHalf, "float16"},
      {ScalarType::kBFloat16, "bfloat16"},
      {ScalarType::kLong, "int64"},
      {ScalarType::kInt, "int32"},
      {ScalarType::kShort, "int16"},
      {ScalarType::kChar, "int8"},
      {ScalarType::kByte, "uint8"},
      {ScalarType::kBool, "bool"},
      {ScalarType::kComplexFloat, "complex64"}};
  const auto found = kNames.find(dtype);
  return found == kNames.end() ? "?" : found->second;
}

// Compares the dtype and the sizes with those of case.json. If a size is symbolic, its upper bound
// must not be less than the size in case.json.
void check_tensor(const ExportedProgram& program, const TensorSpec& spec, const json& value) {
  EXPECT_EQ(dtype_name(spec.dtype), value["dtype"].get<std::string>());
  const auto shape = value["shape"].get<std::vector<int64_t>>();
  // torch 2.6 records the states of an LSTM with an extra dim of size 1. Their sizes are not
  // compared.
  if (spec.sizes.size() == shape.size() + 1 && spec.sizes[1] == SymInt(1)) return;
  ASSERT_EQ(spec.sizes.size(), shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (spec.sizes[i].is_static()) {
      EXPECT_EQ(spec.sizes[i].value(), shape[i]);
    } else {
      EXPECT_LE(shape[i],
                upper_bound(spec.sizes[i], program.range_constraints).value_or(INT64_MAX));
    }
  }
}

json call_of(const fs::path& file, const std::string& method) {
  const fs::path path = file.parent_path() / "case.json";
  if (!fs::exists(path)) return {};
  const json facts = test::read_json(path);
  // The shapes that PyTorch wrote for these programs are known to be wrong.
  if (facts.contains("core_aten_check_error")) return {};
  for (const json& call : facts["calls"]) {
    if (call["method"] == method) return call;
  }
  return {};
}

void check_signature(const ExportedProgram& program, const json& call) {
  if (call.is_null()) return;
  size_t input = 0;
  for (const InputSpec& spec : program.signature.inputs) {
    if (spec.kind != InputSpec::Kind::kUserInput) continue;
    const Node* node = program.graph->find(spec.name);
    while (input < call["inputs"].size() && call["inputs"][input]["kind"] != "tensor") ++input;
    if (node->tensor() == nullptr) continue;
    ASSERT_LT(input, call["inputs"].size());
    check_tensor(program, *node->tensor(), call["inputs"][input++]);
  }
  size_t output = 0;
  for (const OutputSpec& spec : program.signature.outputs) {
    if (spec.kind != OutputSpec::Kind::kUserOutput) continue;
    const Node* node = spec.name.empty() ? nullptr : program.graph->find(spec.name);
    if (node == nullptr || node->tensor() == nullptr) {
      ++output;
      continue;
    }
    ASSERT_LT(output, call["outputs"].size());
    if (call["outputs"][output]["kind"] == "tensor") {
      check_tensor(program, *node->tensor(), call["outputs"][output]);
    }
    ++output;
  }
}

// Compares weights with the archive's records, which libzip reads. Checks only archives of the
// newer layout, which stores each weight in its own record.
void check_weights(const ExportedProgram& program, const test::ArchiveMembers& members) {
  const std::map<std::string, std::string> by_name(members.begin(), members.end());
  for (const auto& [member, bytes] : members) {
    if (!member.ends_with("_config.json")) continue;
    const bool is_weights = member.find("/weights/") != std::string::npos;
    const TensorMap& tensors = is_weights ? program.state_dict : program.constants;
    const json config = json::parse(bytes)["config"];
    EXPECT_EQ(config.size(), tensors.size());
    const std::string folder = member.substr(0, member.rfind('/') + 1);
    for (const auto& [name, payload] : config.items()) {
      const std::string& record = by_name.at(folder + payload["path_name"].get<std::string>());
      const TensorData& data = tensors.at(name);
      ASSERT_EQ(data.storage.size(), record.size());
      EXPECT_TRUE(std::ranges::equal(data.storage, std::as_bytes(std::span(record)))) << name;
    }
  }
}

TEST(Pt2Corpus, ImportMatchesJsonAndRecords) {
  VITRINE_NEEDS_CORPUS();
  size_t count = 0;
  for (const fs::path& file : test::files_below(test::corpus_dir(), ".pt2")) {
    SCOPED_TRACE(file.string());
    const test::ArchiveMembers members = test::read_zip(file.string());
    const json json_program = program_json(members);
    ASSERT_FALSE(json_program.is_null());
    try {
      const ExportedProgram program = import_pt2(file);
      Counts expected;
      Counts found;
      count_json(json_program["graph_module"]["graph"], expected);
      count_graph(*program.graph, found);
      EXPECT_EQ(found, expected);
      EXPECT_NE(format_graph(*program.graph), "");
      check_signature(program, call_of(file, test::method_of(file)));
      check_weights(program, members);
      lint(program.copy());
      ++count;
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 1000U);
}

}  // namespace
}  // namespace vitrine::aot
