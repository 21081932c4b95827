// Tests pte_inspect on the files of the corpus and on damaged files. The tool must never crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/bundled_program/bundled_program.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/expect_error.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "test/support/read_json.h"
#include "test/support/scratch_folder.h"
#include "test/support/wide_decoder.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/description_text.h"
#include "tools/pte_inspect/inspect.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/program_graph.h"
#include "tools/pte_inspect/verification.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tools::Json;

Json describe(const fs::path& path) {
  const AlignedBytes bytes = read_file_bytes(path);
  return tools::describe_file({path.string(), bytes});
}

std::vector<fs::path> supported_files(const fs::path& folder) {
  static const std::set<std::string> kEndings = {".pte", ".ptd", ".bpte", ".pt2", ".etdp"};
  std::vector<fs::path> files = files_below(folder, "");
  std::erase_if(files, [](const fs::path& path) {
    return !kEndings.contains(path.extension().string()) &&
           !path.filename().string().starts_with("etrecord");
  });
  return files;
}

TEST(PteInspectTest, ListsOutputsThatNothingWrites) {
  const fs::path path = samples_dir() / "lost_output/model.pte";
  const Json json = describe(path);
  EXPECT_EQ(json["methods"][0]["unwritten_outputs"], Json::array({1}));
  EXPECT_THAT(tools::description_text(json, {}), HasSubstr("no instruction writes output 1\n"));
  const AlignedBytes bytes = read_file_bytes(path);
  const auto checks = tools::verify_file({path.string(), bytes}, nullptr);
  EXPECT_THAT(checks.back().error, HasSubstr("forward, outputs[1]: no instruction writes it"));
}

TEST(PteInspectTest, DescribesEveryFileOfCorpus) {
  VITRINE_CORPUS_CASE(folder, "");
  const std::map<std::string, std::string> kinds = {
      {".pte", "program (.pte)"},           {".ptd", "named data (.ptd)"},
      {".bpte", "bundled program (.bpte)"}, {".pt2", "exported model (.pt2)"},
      {".etdp", "trace (ETDump)"},          {".bin", "record (ETRecord)"}};
  for (const fs::path& file : supported_files(folder)) {
    const Json json = describe(file);
    EXPECT_EQ(json["kind"], kinds.at(file.extension().string())) << file;
    EXPECT_FALSE(tools::description_text(json, {}).empty());
    EXPECT_EQ(json.dump().find("\"error\""), std::string::npos) << file;
    if (!json.contains("methods")) continue;
    for (const Json& method : json["methods"]) {
      EXPECT_TRUE(method.value("unwritten_outputs", Json::array()).empty()) << file;
    }
  }
}

// ExecuTorch wrote the reference, xnn_nodes.json.
TEST(PteInspectTest, DelegateNodesMatchExecuTorch) {
  VITRINE_CORPUS_CASE(folder, "");
  size_t checked = 0;
  for (const fs::path& file : files_below(folder, "xnn_nodes.json")) {
    const fs::path model = file.parent_path() / "model.pte";
    if (!fs::exists(model)) continue;
    const nlohmann::json reference = read_json(file);
    const Json json = describe(model);
    for (const Json& method : json["methods"]) {
      const auto& methods = reference.at("methods");
      if (!methods.contains(method["name"].get<std::string>())) continue;
      for (const auto& delegate : methods.at(method["name"].get<std::string>())) {
        std::map<std::string, size_t> types;
        for (const auto& node : delegate.at("nodes")) {
          std::string type = node.at("type");
          if (type.starts_with("XNN")) type.erase(0, 3);
          ++types[type];
        }
        const Json& described = method["delegates"].at(delegate.at("delegate_index").get<size_t>());
        EXPECT_EQ(described["xnnpack"]["node_types"], Json(types)) << model;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 20u);
}

TEST(PteInspectTest, TakesInputNamesFromKeywordArgumentsOfTheModel) {
  const Json json = describe(sample("kjv_8da4w/model.pte"));
  for (const Json& method : json["methods"]) {
    if (method["name"] != "forward") continue;
    EXPECT_FALSE(method["inputs"][0].contains("name"));
    EXPECT_EQ(method["inputs"][1]["name"], "input_pos");
  }
  EXPECT_THAT(tools::description_text(json, {}), HasSubstr("input_pos i64["));
}

TEST(PteInspectTest, CountsOperatorCalls) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 64};
  const int x = forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 0}});
  const int y = forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}});
  const int w = forward.tensor({.sizes = {2}, .data = builder.constant(Bytes(8))});
  forward.inputs = {x};
  forward.outputs = {y};
  const int scale = forward.op("test::scale", "out");
  forward.kernel_call(scale, {x, forward.integer(2), y, y});
  forward.kernel_call(scale, {y, forward.integer(2), y, y});
  const AlignedBytes bytes = builder.build();
  const Json json = tools::describe_file({"a.pte", bytes});
  const Json& method = json["methods"][0];
  EXPECT_EQ(method["operators"],
            Json::parse(R"([{"name": "test::scale.out", "calls": 2, "dtypes": ["f32"]}])"));
  EXPECT_EQ(method["inputs"][0]["tensor"], "f32[2,3]");
  EXPECT_EQ(method["memory"][0]["bytes"], 64);
  EXPECT_EQ(method["memory"][0]["tensor_bytes"], 48);
  EXPECT_EQ(method["constants"]["bytes"], 8);
  EXPECT_EQ(method["values"]["Tensor"], 3);
  EXPECT_GE(w, 0);
  EXPECT_EQ(tools::operator_lines({json, json}), "test::scale.out\n");
  const std::string text =
      tools::graph_text(tools::graphs_of_program(*tools::load_program({"a.pte", bytes})).at(0));
  EXPECT_THAT(text, HasSubstr("[0] test::scale.out(%0 f32[2,3], 2) -> %1 f32[2,3]"));
}

TEST(PteInspectTest, ReadsPayloadsWithExternalScales) {
  const AlignedBytes bytes = wide_decoder();
  const tools::OpenedFile file{"wide.pte", bytes};
  for (const tools::CheckResult& check : tools::verify_file(file, nullptr)) {
    EXPECT_EQ(check.error, "") << check.name;
  }
  EXPECT_THAT(tools::graph_text(tools::graphs_of_program(*tools::load_program(file)).at(0)),
              HasSubstr("4096"));
  EXPECT_THAT(tools::describe_file(file).dump(), HasSubstr("4096"));
}

TEST(PteInspectTest, VerifyFindsOverlappingMemory) {
  for (const uint64_t offset : {16, 12}) {
    ProgramBuilder builder;
    MethodSpec& forward = builder.method("forward");
    forward.buffer_sizes = {0, 64};
    const int x = forward.tensor({.sizes = {4}, .planned = Planned{1, 0}});
    const int y = forward.tensor({.sizes = {4}, .planned = Planned{1, offset}});
    const int z = forward.tensor({.sizes = {4}, .planned = Planned{1, 32}});
    forward.inputs = {x};
    forward.outputs = {z};
    forward.kernel_call(forward.op("aten::full", "out"),
                        {forward.int_list({forward.integer(4)}), forward.integer(1), y, y});
    forward.kernel_call(forward.op("aten::add", "out"), {x, y, forward.integer(1), z, z});
    const std::vector<tools::CheckResult> checks =
        tools::verify_file({"a.pte", builder.build()}, nullptr);
    if (offset == 16) {
      EXPECT_EQ(checks.back().error, "");
    } else {
      EXPECT_THAT(checks.back().error,
                  HasSubstr("needs values[0] (bytes 0 to 16 of memory 1) as written by inputs[0], "
                            "but chains[0].instructions[0] (aten::full.out) has overwritten it "
                            "with values[1] (bytes 12 to 28 of memory 1)"));
    }
  }
}

TEST(PteInspectTest, BundleContainsTheProgram) {
  VITRINE_CORPUS_CASE(folder, "bundled_linear_relu");
  const AlignedBytes bundle = read_file_bytes(folder / "model.bpte");
  const AlignedBytes program = read_file_bytes(folder / "model.pte");
  const bundled::BundledProgram opened = bundled::parse_bundled_program(bundle, "model.bpte");
  EXPECT_TRUE(std::ranges::equal(opened.program, std::span<const std::byte>(program)));
  ASSERT_EQ(opened.suites.size(), 1u);
  EXPECT_EQ(opened.suites[0].method, "forward");
  EXPECT_EQ(opened.suites[0].sets.size(), 2u);
}

TEST(PteInspectTest, GraphvizEdgesConnectExistingNodes) {
  const AlignedBytes bytes = read_file_bytes(sample("digits_portable/model.pte"));
  const std::string dot =
      tools::graph_dot(tools::graphs_of_program(*tools::load_program({"digits", bytes})));
  std::set<std::string> nodes;
  size_t edges = 0;
  std::istringstream lines(dot);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (second == "->") {
      ++edges;
      EXPECT_TRUE(nodes.contains(first)) << line;
      while (third.ends_with(';')) third.pop_back();
      EXPECT_TRUE(nodes.contains(third)) << line;
    } else if (first.starts_with("g0_")) {
      nodes.insert(first);
    }
  }
  EXPECT_GE(edges, 14u);  // a chain of 14 kernels and the output; permute reads only a constant
}

TEST(PteInspectTest, VerifyFailsOnTruncatedProgram) {
  const fs::path model = sample("digits_xnnpack/model.pte");
  tools::InspectOptions options;
  options.files = {model};
  options.task = tools::Task::kVerify;
  EXPECT_EQ(tools::inspect(options).exit_code, 0);
  const ScratchFolder scratch;
  std::vector<std::byte> bytes = tools::read_file(model);
  bytes.resize(bytes.size() / 2);
  tools::write_file(scratch / "cut.pte", bytes);
  options.files = {scratch / "cut.pte"};
  const tools::Inspection cut = tools::inspect(options);
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.text, HasSubstrs("wrong", "cut.pte"));
}

TEST(PteInspectTest, VerifyReportsMissingExternalData) {
  VITRINE_CORPUS_CASE(folder, "ptd_weights");
  tools::InspectOptions options;
  options.files = {folder / "model.pte"};
  options.task = tools::Task::kVerify;
  EXPECT_THAT(tools::inspect(options).text, HasSubstr("0.weight"));
  options.data = {folder / "_default_external_constant.ptd"};
  EXPECT_EQ(tools::inspect(options).exit_code, 0);
}

TEST(PteInspectTest, PrintsTheProfileOfATraceInEveryFormat) {
  VITRINE_CORPUS_CASE(folder, "linear_relu_portable");
  tools::InspectOptions options;
  options.files = {folder / "etdump.etdp"};
  options.etrecords = {folder / "etrecord.bin"};
  EXPECT_THAT(tools::inspect(options).text, HasSubstr("addmm"));
  options.json = true;
  const Json json = Json::parse(tools::inspect(options).text);
  EXPECT_EQ(json["profile"]["rows"].size(), 5u);
  EXPECT_EQ(json["profile"]["rows"][2]["source_ops"][0], "aten.relu.default");
  options.json = false;
  options.has_format = true;
  options.report.format = tools::ReportFormat::kHtml;
  EXPECT_THAT(tools::inspect(options).text, HasSubstr("<!doctype html>"));
  options.report.format = tools::ReportFormat::kTimeline;
  EXPECT_TRUE(Json::parse(tools::inspect(options).text).contains("traceEvents"));
  options.report.format = tools::ReportFormat::kCsv;
  EXPECT_THAT(tools::inspect(options).text, HasSubstr("addmm"));
}

TEST(PteInspectTest, ComparesStoredTraces) {
  VITRINE_CORPUS_CASE(folder, "linear_relu_portable");
  tools::InspectOptions options;
  options.files = {folder / "etdump.etdp", folder / "etdump.etdp"};
  options.etrecords = {folder / "etrecord.bin"};
  options.task = tools::Task::kCompare;
  options.json = true;
  tools::Inspection result = tools::inspect(options);
  EXPECT_EQ(result.exit_code, 0);
  const Json json = Json::parse(result.text);
  EXPECT_EQ(json["aligned_by"], "debug handles");
  for (const Json& op : json["ops"]) EXPECT_EQ(op["rows_a"], op["rows_b"]);
  options.fail_above = 0.001;
  const bool can_decide = json["wall"]["ratio"]["verdict"] != "too_few_runs";
  EXPECT_EQ(tools::inspect(options).exit_code, can_decide ? 2 : 0);
}

TEST(PteInspectTest, ErrorForAnUnknownFileShowsItsFirstBytes) {
  const std::string text = "no model at all";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  EXPECT_ERROR(tools::ToolError, tools::describe_file({"notes.txt", bytes}), "notes.txt");
  EXPECT_ERROR(tools::ToolError, tools::describe_file({"notes.txt", bytes}), "6e 6f 20");
  EXPECT_THROW(tools::describe_file({"empty", {}}), tools::ToolError);
}

void inspect_damaged(const AlignedBytes& bytes, bool load) {
  const tools::OpenedFile file{"damaged", bytes};
  try {
    const Json json = tools::describe_file(file);
    tools::description_text(json, {});
    json.dump(1, ' ', false, Json::error_handler_t::replace);
    if (json.contains("segments") && json.contains("methods")) {
      const auto graphs = tools::graphs_of_program(*tools::load_program(file));
      for (const tools::ProgramGraph& graph : graphs) tools::graph_text(graph);
      tools::graph_dot(graphs);
      if (load) tools::verify_file(file, nullptr);
    }
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("damaged"));
  }
}

void inspect_damage(const AlignedBytes& sound, size_t cuts, size_t changes, bool load) {
  if (sound.empty()) return;
  const auto inspect = [&](const AlignedBytes& bytes, const auto&) {
    inspect_damaged(bytes, load);
  };
  for_each_truncation(sound, inspect, sound.size() / cuts + 1);
  for_each_random_damage(sound, changes, inspect);
}

TEST(PteInspectDamageTest, SurvivesDamagedSamples) {
  for (const fs::path& file : supported_files(samples_dir())) {
    const bool is_small = fs::file_size(file) < 100'000;
    inspect_damage(read_file_bytes(file), is_small ? 15 : 4, is_small ? 60 : 6, is_small);
  }
}

TEST(PteInspectDamageTest, SurvivesDamagedCorpusFiles) {
  VITRINE_CORPUS_CASE(folder, "");
  for (const fs::path& file : supported_files(folder)) {
    const auto size = fs::file_size(file);
    if (size > 4'000'000) continue;
    const bool is_small = size < 50'000;
    inspect_damage(read_file_bytes(file), 1, is_small ? 4 : 2, false);
  }
}

}  // namespace
}  // namespace vitrine::test
