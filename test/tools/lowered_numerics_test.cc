// Tests --numerics on models that the tests lower. The reference decomposes some operators of these
// models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "test/support/corpus.h"
#include "test/support/delegated_layers.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Lowers a model for XNNPACK and measures the errors of the program relative to the model. Returns
// the report.
json lower_and_measure(
    const fs::path& folder, const std::string& options, const fs::path& program,
    const std::function<void()>& damage = [] {}, const std::string& more_inputs = "") {
  const std::string model = (folder / "model.pt2").string();
  succeeded(run_tool(VITRINE_COMMAND, "lower " + model + " --backend xnnpack " + options + " -o " +
                                          program.string()));
  damage();
  const CommandResult result = succeeded(
      executor_runner("--numerics " + program.string() + " --reference " + model + " --inputs " +
                      (folder / "input_0.bin").string() + more_inputs + " --format json"));
  return json::parse(result.out);
}

// The input of the int8 layer is quantized before the layer, and its result is dequantized after
// it. The reference computes the layer as a permute and an addmm.
TEST(LoweredNumerics, MeasuresALinearLayerWhoseQuantizationIsSeparate) {
  const ScratchFolder scratch;
  const fs::path folder = samples_dir() / "ptq_two_batches";
  const json report = lower_and_measure(folder, "--quantize int8 --calibrate " + folder.string(),
                                        scratch / "int8.pte");
  const auto& rows = report.at("rows");
  const auto row = std::ranges::find_if(
      rows, [](const json& each) { return each.at("op") == "linear + dequantize + quantize"; });
  ASSERT_NE(row, rows.end());
  ASSERT_FALSE(row->at("made_here").is_null()) << *row;
  // The layer's result is the output of the model.
  EXPECT_NEAR(row->at("total").at("sqnr_db").get<double>(),
              report.at("outputs").at(0).at("sqnr_db").get<double>(), 1e-3);
}

// The reference decomposes hardswish. XNNPACK computes hardswish as one operator after the
// convolution.
TEST(LoweredNumerics, ReportsADamagedConvolutionBeforeAHardswish) {
  if (corpus_ptq_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_PTQ";
  const ScratchFolder scratch;
  const fs::path folder = corpus_ptq_dir() / "ptq_hardswish_se", program = scratch / "f32.pte";
  const json sound = lower_and_measure(folder, "", program);
  EXPECT_TRUE(sound.at("first_below").is_null()) << sound.at("first_below");
  const char* const modules[] = {"c1", "dw"};
  for (size_t index = 0; index < std::size(modules); ++index) {
    const json damaged = lower_and_measure(folder, "", program, [&] {
      DelegatedProgram delegated(program);
      const size_t at = delegated.layers[index].weights.offset;
      delegated.write(at, delegated.read<float>(at) + 10);
      tools::write_file(program, delegated.bytes);
    });
    ASSERT_FALSE(damaged.at("first_below").is_null()) << modules[index];
    const json row = damaged.at("rows").at(damaged.at("first_below").get<size_t>());
    EXPECT_EQ(row.at("module"), modules[index]) << row;
  }
}

TEST(LoweredNumerics, IgnoresTheInfinitiesOfAttentionMasks) {
  VITRINE_NEEDS_CORPUS_LLM();
  const ScratchFolder scratch;
  const fs::path folder = corpus_llm_dir() / "llama_kv_static";
  const json report = lower_and_measure(
      folder, "", scratch / "f32.pte", [] {}, "," + (folder / "input_1.bin").string());
  EXPECT_TRUE(report.at("first_not_finite").is_null()) << report.at("first_not_finite");
}

TEST(LoweredNumerics, FailBelowOptionIsRejectedIfTheReferenceIsDelegated) {
  const std::string program = sample("linear_relu/model.pte");
  const std::string record = sample("linear_relu/etrecord.bin");
  EXPECT_THAT(executor_runner("--numerics " + program + " --etrecord " + record + " --reference " +
                              program + " --reference_etrecord " + record + " --fail_below 30dB"),
              Exits(1, testing::HasSubstr("--fail_below: no operator was measured")));
}

}  // namespace
}  // namespace vitrine::test
