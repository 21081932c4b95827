// Tests executor_runner --verify and --debug_outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "test/support/corpus.h"
#include "test/support/expect_near.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "test/tools/npy_file.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kBundle = "formats/bundled_linear_relu_portable.bpte";

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}
std::vector<float> floats(const etdump::DebugValue& value) {
  return floats(etdump::row_major_bytes(std::get<etdump::DebugTensor>(value)));
}

TEST(VerifyTest, AcceptsOutputsThatMatchPyTorch) {
  EXPECT_THAT(executor_runner("--verify " + sample(kBundle)),
              Prints(AllOf(HasSubstr("f32[4,5]"), HasSubstr("2 of 2 outputs pass"),
                           Not(HasSubstr("FAIL")))));
}

// Writes a copy of the sample bundle, and adds `by` to one expected element of the copy.
void write_wrong_bundle(const std::filesystem::path& to, float by) {
  bundled::BundledProgram bundle = bundled::read_bundled_program(sample(kBundle));
  auto& tensor =
      std::get<bundled::BundledTensor>(bundle.suites.at(0).sets.at(1).expected_outputs.at(0));
  std::vector<std::byte> data(tensor.data.begin(), tensor.data.end());
  float element = 0;
  std::memcpy(&element, data.data() + 7 * sizeof element, sizeof element);
  element += by;
  std::memcpy(data.data() + 7 * sizeof element, &element, sizeof element);
  tensor.data = data;
  tools::write_file(to, bundled::write_bundled_program(bundle));
}

TEST(VerifyTest, ReportsFirstElementThatDiffers) {
  const ScratchFolder scratch;
  write_wrong_bundle(scratch / "wrong.bpte", 0.5f);
  const std::string command = "--verify " + (scratch / "wrong.bpte").string();
  EXPECT_THAT(executor_runner(command),
              Exits(2, testing::_,
                    HasSubstrs("1 of 2 outputs pass", "FAIL: 1 of 20 elements differ; [7]")));
  succeeded(executor_runner(command + " --test_set 0"));
  EXPECT_EQ(executor_runner(command + " --test_set 1").exit_code, 2);
  succeeded(executor_runner(command + " --atol 0.6"));
  EXPECT_EQ(executor_runner(command + " --min_sqnr 100").exit_code, 2);
  succeeded(executor_runner(command + " --min_sqnr 5"));
  EXPECT_EQ(executor_runner(command + " --min_sqnr 5 --atol 1e-3").exit_code, 2);
  EXPECT_EQ(executor_runner(command + " --test_set 2").exit_code, 1);
}

TEST(VerifyTest, JsonListsEveryCheck) {
  const ScratchFolder scratch;
  write_wrong_bundle(scratch / "wrong.bpte", 0.5f);
  const CommandResult result =
      executor_runner("--verify --format json --output " + (scratch / "report.json").string() +
                      " " + (scratch / "wrong.bpte").string());
  EXPECT_EQ(result.exit_code, 2);
  const nlohmann::json report = read_json(scratch / "report.json");
  expect_members(report, R"({"schema_version": 1, "passed": false, "test_sets": 2})");
  ASSERT_EQ(report.at("outputs").size(), 2u);
  EXPECT_EQ(report["outputs"][0].at("passed"), true);
  const auto& wrong = report["outputs"][1];
  expect_members(wrong, R"({"passed": false, "method": "forward", "test_set": 1, "output": 0,
                            "mismatches": 1, "elements": 20})");
  EXPECT_NEAR(wrong.at("max_abs").get<double>(), 0.5, 1e-5);
  EXPECT_NEAR(wrong.at("mean_abs").get<double>(), 0.5 / 20, 1e-5);
}

TEST(VerifyTest, VerifiesProgramsWithInputAndOutputFiles) {
  const std::string command = "--verify " + sample("linear_relu/model.pte") + " --inputs " +
                              sample("linear_relu/input_0.bin") + " --expected_output ";
  succeeded(executor_runner(command + sample("linear_relu/expected_0.bin")));
  EXPECT_EQ(executor_runner(command + sample("linear_relu/input_0.bin")).exit_code, 2);
  EXPECT_THAT(executor_runner(command + sample("linear_relu/expected_0.bin") + "," +
                              sample("linear_relu/expected_0.bin")),
              Exits(1, HasSubstr("2 expected outputs were given, but the method has 1")));
}

TEST(VerifyTest, AcceptsNumpyFilesForPlainProgram) {
  const ScratchFolder scratch;
  const std::string elements = read_text(sample("linear_relu/expected_0.bin"));
  const auto verify = [&](const std::string& dtype, const std::string& shape) {
    const std::string file = (scratch / "expected.npy").string();
    std::ofstream(file, std::ios::binary) << npy_file(dtype, shape, elements);
    return executor_runner("--verify " + sample("linear_relu/model.pte") + " --inputs " +
                           sample("linear_relu/input_0.bin") + " --expected_output " + file);
  };
  EXPECT_THAT(verify("<f4", "4, 5"), Prints(HasSubstr("1 of 1 outputs pass")));
  for (const auto& [dtype, shape, message] : {std::tuple("<f4", "5, 4", "expected f32[5,4]"),
                                              std::tuple("<i4", "4, 5", "expected i32[4,5]")}) {
    EXPECT_THAT(verify(dtype, shape), Exits(2, testing::_, HasSubstr(message)));
  }
  EXPECT_THAT(verify("<f4", "4, 6"),
              Exits(1, HasSubstr("expected 96 bytes of elements, found 80")));
}

TEST(VerifyTest, ReportsMissingTestSets) {
  EXPECT_THAT(executor_runner("--verify " + sample("linear_relu/model.pte")),
              Exits(1, HasSubstr("--expected_output")));
  EXPECT_THAT(executor_runner("--verify --method_name nope " + sample(kBundle)),
              Exits(1, HasSubstr("has no test sets of method nope")));
}

TEST(VerifyTest, RejectsBundleWithWrongInputs) {
  const ScratchFolder scratch;
  bundled::BundledProgram bundle = bundled::read_bundled_program(sample(kBundle));
  const auto write = [&] {
    tools::write_file(scratch / "x.bpte", bundled::write_bundled_program(bundle));
    return executor_runner("--verify " + (scratch / "x.bpte").string());
  };
  auto& inputs = bundle.suites.at(0).sets.at(0).inputs;
  const bundled::BundledValue good = inputs.at(0);
  inputs = {good, good};
  EXPECT_THAT(write().err,
              HasSubstr("forward, test set 0: the test set has 2 inputs, but the method has 1"));
  auto other = std::get<bundled::BundledTensor>(good);
  other.dtype = ScalarType::kInt;
  inputs = {other};
  EXPECT_THAT(write().err, HasSubstr("input 0 is i32[4,16]"));
  inputs = {int64_t{3}};
  EXPECT_EQ(write().exit_code, 1);
}

TEST(VerifyCorpusTest, BundlesFromExecuTorchPass) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t bundles = 0;
  for (const std::filesystem::path& bundle : files_below(corpus, ".bpte")) {
    EXPECT_THAT(executor_runner("--verify " + bundle.string()),
                Prints(HasSubstr("2 of 2 outputs pass")))
        << bundle;
    ++bundles;
  }
  EXPECT_GE(bundles, 8u);
}

TEST(BundleTest, RunUsesInputsOfTestSet) {
  const ScratchFolder scratch;
  const bundled::BundledProgram bundle = bundled::read_bundled_program(sample(kBundle));
  for (const size_t set : {size_t{0}, size_t{1}}) {
    succeeded(executor_runner(sample(kBundle) + " --test_set " + std::to_string(set) +
                              " --output_file " + (scratch / "y").string() + " --etdump_path " +
                              (scratch / "t").string()));
    const auto& expected =
        std::get<bundled::BundledTensor>(bundle.suites.at(0).sets.at(set).expected_outputs.at(0));
    expect_near(read_floats(scratch / "y-0.bin"), floats(expected.data), 1e-5, 0);
    const etdump::EtDump dump = etdump::read_etdump(scratch / "t");
    EXPECT_EQ(dump.blocks.back().bundled_input_index, static_cast<int32_t>(set));
  }
  EXPECT_EQ(executor_runner(sample(kBundle) + " --test_set 7").exit_code, 1);
  EXPECT_EQ(executor_runner("--test_set 0 " + sample("add_mul/model.pte")).exit_code, 1);
}

struct DebugRun {
  etdump::EtDump dump;
  const etdump::Block& run() const { return dump.blocks.back(); }
};

DebugRun debug_run(const std::string& name) {
  const ScratchFolder scratch;
  succeeded(executor_runner(sample(name + "/model.pte") + " --inputs " +
                            sample(name + "/input_0.bin") + " --debug_outputs --etdump_path " +
                            (scratch / "t.etdp").string()));
  DebugRun run{etdump::read_etdump(scratch / "t.etdp")};
  etdump::read_debug_data(run.dump, scratch / "t.etdp.data");
  return run;
}

TEST(DebugOutputsTest, TraceHasOutputsOfKernelsAndMethod) {
  const DebugRun run = debug_run("digits_portable");
  std::vector<int32_t> kernels;
  for (const etdump::ProfileEvent& event : run.run().profile_events) {
    if (event.name == "OPERATOR_CALL") kernels.push_back(event.instruction_id);
  }
  std::vector<int32_t> kept;
  for (const etdump::DebugEvent& event : run.run().debug_events) {
    if (!event.is_output) kept.push_back(event.instruction_id);
  }
  EXPECT_FALSE(kernels.empty());
  EXPECT_EQ(kept, kernels);
  const etdump::DebugEvent& output = run.run().debug_events.back();
  EXPECT_TRUE(output.is_output);
  expect_near(floats(output.value), read_floats(sample("digits_portable/expected_0.bin")), 1e-4, 0);
}

// The delegate has two linear layers; a relu is fused into the first one.
TEST(DebugOutputsTest, TraceHasValuesOfDelegates) {
  const DebugRun run = debug_run("linear_relu");
  const std::vector<etdump::DebugEvent>& events = run.run().debug_events;
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].name, "operator 0 result 0");
  EXPECT_EQ(events[1].name, "operator 1 result 0");
  EXPECT_THAT(floats(events[0].value), testing::Each(testing::Ge(0)));
  // The second layer, the delegate and the method return the same values.
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(events[i].is_output, i == 3);
    expect_near(floats(events[i].value), read_floats(sample("linear_relu/expected_0.bin")), 1e-5,
                0);
  }
}

TEST(DebugOutputsTest, ReportsOutputsThatDoNotFit) {
  const ScratchFolder scratch;
  EXPECT_THAT(
      executor_runner(sample("digits_portable/model.pte") + " --debug_outputs --etdump_path " +
                      (scratch / "t").string() + " --debug_buffer_size 100 --debug_buffer_path " +
                      (scratch / "values").string()),
      Exits(0, HasSubstr("did not fit")));
  EXPECT_LE(std::filesystem::file_size(scratch / "values"), 100u);
}

TEST(DebugOutputsTest, DebugOutputsOptionNeedsATraceAndRejectsProfiling) {
  EXPECT_NE(executor_runner("--debug_outputs " + sample("add_mul/model.pte")).exit_code, 0);
  EXPECT_NE(executor_runner("--debug_outputs --profile --etdump_path /dev/null " +
                            sample("add_mul/model.pte"))
                .exit_code,
            0);
}

}  // namespace
}  // namespace vitrine::test
