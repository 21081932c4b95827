// Tests the command line of pte_lower. Its programs must run, their profiles must have source ops,
// and error messages must contain the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/etrecord/etrecord.h"
#include "runtime/program/program_access.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/expect_near.h"
#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/load_check.h"
#include "vitrine/data_source.h"
#include "vitrine/flat_tensor.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CommandResult pte_lower(const std::string& arguments) {
  return run_tool(VITRINE_PTE_LOWER, arguments);
}

std::string model() { return sample("linear_relu/model.pt2"); }
std::string symbolic_model() { return sample("pt2_symint/model.pt2"); }

void expect_outputs(const std::string& program, const std::string& more = "", double atol = 1e-4) {
  expect_near(first_output(program + " --inputs " + sample("linear_relu/input_0.bin") + more),
              read_floats(sample("linear_relu/expected_0.bin")), atol);
}

class PteLowerTest : public testing::Test {
 protected:
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
};

TEST_F(PteLowerTest, EscapeSequencesInModelsDoNotReachTheTerminal) {
  std::string archive = read_text(model());
  const std::string_view op = "aten.linear.default";
  const size_t at = archive.find(op);
  ASSERT_NE(at, std::string::npos);
  archive.replace(at, op.size(), R"(aten.\u001b[31m.def)");
  tools::write_file(scratch / "m.pt2", archive);
  EXPECT_THAT(pte_lower((scratch / "m.pt2").string() + " -o " + program),
              Exits(1, AllOf(HasSubstr("aten.?[31m.def"), Not(HasSubstr("\x1b")))));
}

TEST_F(PteLowerTest, ProgramWithoutBackendMatchesPyTorch) {
  EXPECT_THAT(pte_lower(model() + " -o " + program),
              Exits(0, "", ""));  // progress is for terminals
  expect_outputs(program);
}

TEST_F(PteLowerTest, ProgramWithXnnpackMatchesPyTorch) {
  EXPECT_THAT(pte_lower(model() + " --backend xnnpack -o " + program + " --summary"),
              Prints(HasSubstr("Total delegated subgraphs: 1\n"
                               "Number of delegated nodes: 3\n"
                               "Number of non-delegated nodes: 1\n")));
  expect_outputs(program);
}

// Expects that every row of a delegate has source ops or is a layout change that the lowering
// inserted.
void expect_all_joined(const std::string& profile) {
  size_t operators = 0;
  const json parsed = json::parse(profile);
  for (const json& row : parsed["rows"]) {
    if (row["where"] != "delegate") continue;
    ++operators;
    EXPECT_EQ(row["join"], "exact") << row;
    EXPECT_FALSE(row["source_ops"].empty() && row["inserted_for"].empty()) << row;
  }
  EXPECT_GT(operators, 0U);
}

TEST_F(PteLowerTest, ProfileUsesRecordInsideProgramOrSeparateRecord) {
  const std::string lower = model() + " --backend xnnpack -o " + program;
  const std::string profile = "--profile --format json --num_executions 3 " + program;
  const std::string record = " --etrecord " + (scratch / "m.etrecord").string();
  succeeded(pte_lower(lower));
  const CommandResult run = succeeded(executor_runner(profile));
  expect_all_joined(run.out);
  EXPECT_THAT(run.out, HasSubstr("aten.linear.default"));
  succeeded(pte_lower(lower + " --no-debug-maps" + record));
  expect_all_joined(succeeded(executor_runner(profile + record)).out);
  const etrecord::EtRecord read = etrecord::read_etrecord(scratch / "m.etrecord");
  EXPECT_EQ(read.methods.at("forward").graph.nodes.size(), 3U);
}

TEST_F(PteLowerTest, ComparisonUsesRecordsInsidePrograms) {
  const std::string a = (scratch / "a.pte").string();
  const std::string b = (scratch / "b.pte").string();
  succeeded(pte_lower(model() + " -o " + a));
  succeeded(pte_lower(model() + " --backend xnnpack -o " + b));
  const std::string both = a + " --compare " + b + " --cpu_threads 1 --width 200";
  EXPECT_THAT(executor_runner("--profile --num_executions 2 " + both),
              Prints(HasSubstrs("names: a.pte", "names: b.pte",
                                "aligned by op and module: 5 of 5 rows of A")));
  EXPECT_THAT(executor_runner("--debug_outputs " + both),
              Prints(AllOf(HasSubstr("names: b.pte"), Not(HasSubstr("0 outputs compared")))));
}

// Each run is a separate process, in which objects have other addresses. The written files must not
// depend on addresses.
TEST_F(PteLowerTest, TwoRunsWriteSameBytes) {
  std::vector<std::string> models = {model(), symbolic_model()};
  for (const char* name : {"cond_model", "digits_xnnpack_q8", "kv_cache", "split_concat_pool"}) {
    const std::filesystem::path file = corpus_dir() / name / "model.pt2";
    if (!corpus_dir().empty() && exists(file)) models.push_back(file.string());
  }
  for (const std::string& file : models) {
    for (const char* backend : {"none", "xnnpack"}) {
      SCOPED_TRACE(file + " " + backend);
      for (const char* name : {"a", "b"}) {
        succeeded(pte_lower(file + " --backend " + backend + " -o " + (scratch / name).string() +
                            " --etrecord " +
                            (scratch / (std::string(name) + ".etrecord")).string()));
      }
      EXPECT_EQ(tools::read_file(scratch / "a"), tools::read_file(scratch / "b"));
      EXPECT_EQ(tools::read_file(scratch / "a.etrecord"), tools::read_file(scratch / "b.etrecord"));
    }
  }
}

TEST_F(PteLowerTest, OptionsOnlyOpAndExcludeOpFilterDelegation) {
  const std::string lower = model() + " --backend xnnpack --summary -o " + program;
  EXPECT_THAT(pte_lower(lower + " --exclude-op relu --explain"),
              Exits(0, HasSubstr("--optimize rewrites the graph"),
                    HasSubstrs("Total delegated subgraphs: 2\n",
                               "--only-op or --exclude-op forbids delegating the operator")));
  expect_outputs(program);
  EXPECT_THAT(pte_lower(lower + " --only-op aten.relu.default"),
              Prints(HasSubstr("Number of delegated nodes: 1\n")));
  expect_outputs(program);
}

TEST_F(PteLowerTest, ExternalConstantsOptionMovesAllWeightsToAPtdFile) {
  const std::string data = (scratch / "_default_external_constant.ptd").string();
  for (const char* backend : {"none", "xnnpack"}) {
    std::filesystem::remove(data);
    succeeded(pte_lower(model() + " --external-constants -o " + program + " --backend " + backend));
    expect_outputs(program, " --data_path " + data);
  }
  EXPECT_THAT(executor_runner(program), Exits(testing::Ne(0), HasSubstr("no named data for key")));
}

TEST_F(PteLowerTest, FoldConstantsOptionRemovesAPermutation) {
  const std::string options = " -o " + program + " --summary";
  ASSERT_THAT(pte_lower(model() + options).out, HasSubstr("permute"));
  EXPECT_THAT(pte_lower(model() + options + " --fold-constants"),
              Prints(Not(HasSubstr("permute"))));
  expect_outputs(program);
}

TEST_F(PteLowerTest, ExplainOptionListsOptimizations) {
  const std::string options = " --explain -o " + program;
  EXPECT_THAT(pte_lower(model() + options).out, Not(HasSubstr("Optimized")));
  EXPECT_THAT(pte_lower(model() + options + " --optimize"),
              Prints(HasSubstrs("Optimized:\n", "x call with constant inputs folded [")));
  expect_outputs(program);
}

TEST_F(PteLowerTest, SummaryCountsDelegatesInBranches) {
  VITRINE_CORPUS_CASE(folder, "cond_model");
  const std::string options = (folder / "model.pt2").string() + " --summary -o " + program;
  EXPECT_THAT(pte_lower(options + " --backend xnnpack").out, Not(HasSubstr("In branches")));
  // One branch delegates sin and add; the other delegates mul, cos and sub.
  EXPECT_THAT(
      pte_lower(options + " --backend xnnpack-branches"),
      Prints(HasSubstrs("Total delegated subgraphs: 1\n",
                        "In branches: 2 more delegated subgraphs, 5 more delegated nodes\n")));
}

TEST_F(PteLowerTest, LowersSeveralMethodsToOneProgram) {
  const CommandResult result =
      succeeded(pte_lower("--method encode=" + model() + " --method decode=" + model() + " -o " +
                          program + " --summary"));
  EXPECT_LT(result.out.find("decode\n"), result.out.find("encode\n"));
  for (const char* method : {"encode", "decode"}) {
    succeeded(executor_runner(program + " --method_name " + method));
  }
}

TEST_F(PteLowerTest, MetadataBecomesMethods) {
  succeeded(pte_lower(model() +
                      " --metadata get_max_seq_len=2048 --metadata get_eos_ids=2,7 --metadata "
                      "use_kv_cache=true --metadata get_head_dim=0.5 -o " +
                      program));
  const auto outputs = [&](const std::string& method) {
    return executor_runner("--print_output all --method_name " + method + " " + program).out;
  };
  EXPECT_THAT(outputs("get_max_seq_len"), HasSubstr("output 0: 2048"));
  EXPECT_THAT(outputs("get_eos_ids"), HasSubstr("output 0: 2\noutput 1: 7"));
  EXPECT_THAT(outputs("use_kv_cache"), HasSubstr("output 0: true"));
  EXPECT_THAT(outputs("get_head_dim"), HasSubstr("output 0: 0.5"));
  succeeded(executor_runner(program));
}

TEST_F(PteLowerTest, DynamicOptionNarrowsBounds) {
  const std::string wide = (scratch / "wide.pte").string();
  const std::string narrow = (scratch / "narrow.pte").string();
  succeeded(pte_lower(symbolic_model() + " -o " + wide));
  succeeded(pte_lower(symbolic_model() + " --dynamic x.0=1:2 -o " + narrow));
  EXPECT_THAT(executor_runner("--print_output summary " + wide).out, HasSubstr("output 0: f32[8"));
  EXPECT_THAT(executor_runner("--print_output summary " + narrow).out,
              HasSubstr("output 0: f32[2"));
}

// The tolerance is large because an int4 step is 1/15 of a group's range.
TEST_F(PteLowerTest, QuantizedOutputsAreCloseToFloatOutputs) {
  for (const char* backend : {"none", "xnnpack"}) {
    EXPECT_THAT(
        pte_lower(model() + " --quantize 8da4w:8 --backend " + backend + " --graph -o " + program),
        Exits(0, "", HasSubstr("parametrizations_weight_original0")));
    expect_outputs(program, "", 0.15);
  }
}

TEST_F(PteLowerTest, ReportsLayersThatAreNotQuantized) {
  EXPECT_THAT(
      pte_lower(model() + " --quantize 8da4w:16:affine -o " + program),
      Exits(0,
            "pte_lower: not quantized: 2.weight: its row length 8 is not a multiple of the group "
            "size 16\n"));
}

TEST_F(PteLowerTest, GraphOptionShowsGraphsInsideDelegates) {
  EXPECT_THAT(pte_lower(model() + " --backend xnnpack --graph --graphviz " +
                        (scratch / "m.dot").string() + " -o " + program),
              Prints(HasSubstr("    lowered graph():\n")));
  EXPECT_THAT(read_text(scratch / "m.dot"), HasSubstr("digraph"));
}

TEST_F(PteLowerTest, RejectsOutputsThatOverwriteInputsOrOtherOutputs) {
  const auto copy = scratch / "model.pt2";
  std::filesystem::copy_file(model(), copy);
  const auto size = std::filesystem::file_size(copy);
  EXPECT_THAT(pte_lower(copy.string() + " -o " + copy.string()),
              Exits(1, HasSubstr("model.pt2: is an input, which the output would overwrite")));
  EXPECT_EQ(std::filesystem::file_size(copy), size);

  EXPECT_THAT(pte_lower(copy.string() + " -o " + program + " --etrecord " + program).err,
              HasSubstr("m.pte: is given for two outputs"));
  EXPECT_FALSE(std::filesystem::exists(program));
}

TEST_F(PteLowerTest, ReportsInvalidCommandLines) {
  const auto expect_error = [this](const std::string& arguments, const char* error) {
    SCOPED_TRACE(arguments);
    EXPECT_THAT(pte_lower(arguments + " -o " + program),
                Exits(testing::Ne(0), HasSubstr(error), ""));
    EXPECT_FALSE(std::filesystem::remove(program)) << "a program was written";
  };
  const std::pair<std::string, const char*> commands[] = {
      {"", "no model was given"},
      {"/nowhere/model.pt2", "/nowhere/model.pt2"},
      {(samples_dir() / "linear_relu/input_0.bin").string(), "input_0.bin"},
      {"--method forward", "NAME=FILE"},
      {symbolic_model() + " --dynamic y.0=1:2", "x.0"},
      {symbolic_model() + " --dynamic x.0=1:1000", "not within the bounds of the export"},
  };
  for (const auto& [arguments, error] : commands) expect_error(arguments, error);
  const std::pair<std::string, const char*> options_of_the_model[] = {
      {"--backend tpu", "none, xnnpack"},
      {"--backend none --backend xnnpack", "none"},
      {"--backend xnnpack --backend-option bf16",
       "the chosen backends (xnnpack) have no such option"},
      {"--backend xnnpack --exclude-op con", "no such operator; its operators are aten."},
      {"--method forward=" + model(), "already the method forward"},
      {"--segment-alignment 100", "power of two"},
      {"--segment-alignment 0", "power of two"},
      {"--metadata get_n=many", "neither a number nor"},
      {"--metadata forward=1", "method forward is defined twice"},
      {"--dynamic x=1", "NAME=MIN:MAX"},
      {"--max-size x.0", "expected NAME=N"},
      {"--operator 'my::op(Tensor x)'", "expected \" -> \""},
      {"--operator 'my::op(Tensor x) -> Tensor'", "the model does not call my::op"},
      {"--dynamic input.0=1:2", "this size is always 4"},
      {"--quantize int7", "unknown scheme \"int7\""},
      {"--quantize int8", "static int8 needs calibration data (--calibrate)"},
      {"--calibrate .", "--calibrate needs --quantize int8"},
      {"--keep fc=float", "needs --quantize int8"},
      {"--quantize int8_dynamic --keep fcc=float",
       "\"fcc\" matches no module, module type or operator of the model"},
      {"--quantize 8da4w:8:best", "expected a group size, hqq or affine"},
      {"--quantize 8da4w:8:hqq:9", "unexpected \"9\" after the rule"},
      {"--quantize 8da4w:-8", "found \"-8\""},
      {"--quantize embedding", "2, 4 or 8 bits"},
      {"--quantize 8da4w,embedding:3:32", "2, 4 or 8 bits"},
      {"--quantize 8da4w:8,8da4w:8", "the scheme 8da4w is set twice"},
      {"--quantize ,", "unknown scheme \"\""},
      {"--quantize 8da4w:7",
       "is not a multiple of the group size 7; choose a group size that divides"},
      {"--quantize embedding:4", "no embedding has a float"},
      {"--attention custom_sdpa", "the model has no aten.scaled_dot_product_attention"},
      {"--attention flash", "flash"},
  };
  for (const auto& [options, error] : options_of_the_model) {
    expect_error(model() + " " + options, error);
  }
}

TEST_F(PteLowerTest, HelpHasAtMostEightyFiveLines) {
  EXPECT_LE(std::ranges::count(succeeded(pte_lower("--help")).out, '\n'), 85);
}

// Tests the load check: pte_lower loads each new program that has delegates, and refuses to write
// the program if it does not load.

TEST(LoadCheck, AcceptsProgramsThatLoad) {
  EXPECT_FALSE(tools::check_loading(samples_dir() / "linear_relu/model.pte", {}));
}

TEST(LoadCheck, RefusesADelegateThatDoesNotLoad) {
  EXPECT_THAT([] { tools::check_loading(samples_dir() / "lost_output/model.pte", {}); },
              testing::ThrowsMessage<tools::ToolError>(
                  HasSubstrs("the program does not load: ", "outputs[1]", "use --no-load-check")));
}

// Lowers ExecuTorch Native models (.ptn) whose graphs ExecuTorch wrote, and compares the results
// with PyTorch's.

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Writes the named data as a safetensors file.
std::string safetensors(const NamedDataMap& data) {
  nlohmann::ordered_json header;
  std::string content;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string key(data.key(i));
    const DataBuffer bytes = *data.get(key);
    const auto layout = *data.layout(key);
    EXPECT_TRUE(layout.has_value()) << key;
    const size_t begin = content.size();
    content += text_of(bytes.bytes());
    const bool is_long = layout->dtype == ScalarType::kLong;
    EXPECT_TRUE(is_long || layout->dtype == ScalarType::kFloat) << key;
    header[key] = {{"dtype", is_long ? "I64" : "F32"},
                   {"shape", std::vector<int32_t>(layout->sizes.begin(), layout->sizes.end())},
                   {"data_offsets", {begin, content.size()}}};
  }
  const std::string head = header.dump();
  const uint64_t size = head.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + head + content;
}

// The corpus does not have a .ptn file, so the test builds two. Their graphs are the payloads of
// the two NativeBackend delegates in model.pte, and their weights come from the .ptd file. The
// input of the second model is the output of the first.
TEST(NativeModel, LowersGraphsWrittenByExecuTorch) {
  const std::filesystem::path folder = corpus_foreign_dir() / "native_conv_relu_linear";
  if (corpus_foreign_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_FOREIGN";
  const auto program = *Program::load(*map_file((folder / "model.pte").c_str()));
  const auto weights = *load_flat_tensor(*map_file((folder / "native_weights.ptd").c_str()));
  const auto& delegates = *ProgramAccess::root(*program).execution_plan()->Get(0)->delegates();
  ASSERT_EQ(delegates.size(), 2U);
  for (const char* backend : {"", " --backend xnnpack"}) {
    const ScratchFolder scratch;
    std::string input = (folder / "input_0.bin").string();
    for (uint32_t i = 0; i < delegates.size(); ++i) {
      const DataBuffer graph = *ProgramAccess::payload(*program, *delegates.Get(i)->processed());
      const std::string model = (scratch / "model.ptn").string();
      tools::write_file(model, write_zip({{"program.ptg", text_of(graph.bytes())},
                                          {"program.safetensors", safetensors(*weights)}}));
      const std::string lowered = (scratch / "model.pte").string();
      succeeded(run_tool(VITRINE_PTE_LOWER, model + backend + " -o " + lowered));
      const std::string output = (scratch / ("output" + std::to_string(i))).string();
      succeeded(run_tool(VITRINE_EXECUTOR_RUNNER,
                         lowered + " --inputs " + input + " --output_file " + output));
      input = output + "-0.bin";
    }
    expect_near(read_floats(input), read_floats(folder / "expected_0.bin"));
  }
}

}  // namespace
}  // namespace vitrine::test
