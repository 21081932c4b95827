// Tests that executor_runner --debug_outputs gets the value of every operator inside delegates, and
// that capturing values does not change what programs compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/value_origin.h"
#include "test/support/corpus.h"
#include "test/support/delegated_layers.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns the bytes of BASE-0.bin, BASE-1.bin and so on.
std::vector<std::vector<std::byte>> outputs_of(const fs::path& base) {
  std::vector<std::vector<std::byte>> outputs;
  for (size_t i = 0;; ++i) {
    const fs::path file = base.string() + "-" + std::to_string(i) + ".bin";
    if (!fs::exists(file)) return outputs;
    outputs.push_back(tools::read_file(file));
  }
}

bool is_operator(const etdump::ProfileEvent& event) {
  return event.is_in_instruction() && event.is_delegate_event() &&
         event.delegate_debug_name != "xnnpack.plan";
}

class CapturedValuesTest : public testing::TestWithParam<const char*> {
 protected:
  // Returns the folder of the sample or corpus case that the parameter names.
  static fs::path folder() {
    const fs::path of_sample = samples_dir() / GetParam();
    return fs::exists(of_sample) || corpus_dir().empty() ? of_sample : corpus_dir() / GetParam();
  }
  static fs::path model() {
    const fs::path bundle = folder() / "model.bpte";
    return fs::exists(bundle) ? bundle : folder() / "model.pte";
  }
};

TEST_P(CapturedValuesTest, LeaveOutputsUnchangedAndCoverEachOperator) {
  if (!fs::exists(folder())) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS";
  const ScratchFolder scratch;
  const std::string run = model().string() + " --cpu_threads 2 --print_output none --output_file ";
  succeeded(executor_runner(run + (scratch / "plain").string()));
  succeeded(executor_runner(run + (scratch / "captured").string() +
                            " --debug_outputs --etdump_path " + (scratch / "trace.etdp").string()));
  const auto expected = outputs_of(scratch / "plain");
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(outputs_of(scratch / "captured"), expected);

  etdump::EtDump trace = etdump::read_etdump(scratch / "trace.etdp");
  etdump::read_debug_data(trace, scratch / "trace.etdp.data");
  std::map<int32_t, size_t> operators;
  std::map<int32_t, std::set<size_t>> with_values;
  for (const etdump::Block& block : trace.blocks) {
    if (block.name != "Execute") continue;
    for (const etdump::ProfileEvent& event : block.profile_events) {
      operators[event.instruction_id] += is_operator(event) ? 1 : 0;
    }
    for (const etdump::DebugEvent& event : block.debug_events) {
      const auto origin = etdump::parse_origin(event.name);
      if (!origin) continue;
      with_values[event.instruction_id].insert(origin->op);
      EXPECT_FALSE(std::get<etdump::DebugTensor>(event.value).data.empty());
    }
  }
  size_t all = 0;
  for (const auto& [instruction, count] : operators) {
    EXPECT_EQ(with_values[instruction].size(), count) << "instruction " << instruction;
    all += count;
  }
  EXPECT_GT(all, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, CapturedValuesTest,
                         testing::Values("bundled_linear_relu", "channels_last_conv",
                                         "conv_relu_tan_xnnpack", "digits_xnnpack",
                                         "digits_xnnpack_q8", "dynamic_batch_xnnpack",
                                         "encoder_layer_sdpa", "f16_conv", "kv_cache_xnnpack",
                                         "linear_relu", "mlp_dynq", "mlp_qb4w", "mv2_025_xnnpack",
                                         "mv2_xnnpack", "mv2_xnnpack_q8",
                                         "softmax_layernorm_attention", "split_concat_pool"),
                         [](const auto& test) { return std::string(test.param); });

std::string with_record(const std::string& folder, const std::string& option) {
  return sample(folder + "/model.pte") + " " + option + " " + sample(folder + "/etrecord.bin");
}

TEST(CapturedValues, MatchValuesOfPortableKernels) {
  const CommandResult result = succeeded(executor_runner(
      "--debug_outputs " + with_record("digits_portable", "--etrecord") + " --compare " +
      with_record("digits_xnnpack", "--compare_etrecord") +
      " --min_sqnr 90 --format json --inputs " + sample("digits_portable/input_0.bin")));
  const json report = json::parse(result.out);
  std::vector<std::string> ops;
  for (const json& value : report.at("values")) ops.push_back(value.at("op"));
  // The model has four convolutions, a mean and a linear layer. XNNPACK fuses each convolution with
  // the ops up to its activation, so only the result of the activation can be compared.
  EXPECT_EQ(ops,
            (std::vector<std::string>{"relu", "hardtanh", "hardtanh", "relu", "mean", "addmm"}));
}

TEST(CapturedValues, RevealTheLayerWithAWrongWeight) {
  DelegatedProgram program(sample("digits_xnnpack/model.pte"));
  ASSERT_EQ(program.layers.size(), 5u);
  const ScratchFolder scratch;
  for (const DelegatedLayer& layer : program.layers) {
    SCOPED_TRACE(layer.debug_handle);
    const size_t at = layer.weights.offset + layer.weights.bytes / 8 * 4;
    const auto before = program.read<float>(at);
    program.write(at, before + 5);
    tools::write_file(scratch / "wrong.pte", program.bytes);
    program.write(at, before);
    const std::string record = sample("digits_xnnpack/etrecord.bin");
    const CommandResult result = executor_runner(
        "--debug_outputs " + with_record("digits_xnnpack", "--etrecord") + " --compare " +
        (scratch / "wrong.pte").string() + " --compare_etrecord " + record +
        " --min_sqnr 100 --format json --inputs " + sample("digits_xnnpack/input_0.bin"));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    const json report = json::parse(result.out);
    ASSERT_FALSE(report.at("first_below").is_null());
    const size_t first = report.at("first_below");
    const json profile =
        json::parse(executor_runner("--profile " + with_record("digits_xnnpack", "--etrecord") +
                                    " --num_executions 1 --format json")
                        .out);
    const size_t row = report.at("values").at(first).at("rows_b").at(0);
    EXPECT_EQ(profile.at("rows").at(row).at("debug_handles").at(0), layer.debug_handle);
    for (size_t i = 0; i < first; ++i) {
      EXPECT_EQ(report.at("values").at(i).at("different"), 0) << i;
    }
  }
}

// Tests --numerics on programs that the tests lower. The reference runs some operators of the
// models as several simpler ops.

// Lowers a model for XNNPACK and measures the errors of the program relative to the model. Returns
// the report.
json lower_and_measure(
    const fs::path& folder, const std::string& options, const fs::path& program,
    const std::function<void()>& damage = [] {}, const std::string& more_inputs = "") {
  const std::string model = (folder / "model.pt2").string();
  succeeded(run_tool(VITRINE_COMMAND, "lower " + model + " --backend xnnpack " + options + " -o " +
                                          program.string()));
  damage();
  return json_of(executor_runner("--numerics " + program.string() + " --reference " + model +
                                 " --inputs " + (folder / "input_0.bin").string() + more_inputs +
                                 " --format json"));
}

// Separate ops quantize the input of the int8 layer and dequantize its result. The reference
// computes the layer as a permute and an addmm.
TEST(LoweredNumerics, MeasuresALinearLayerWithSeparateQuantizeOps) {
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

TEST(LoweredNumerics, RejectsTheOptionFailBelowIfTheReferenceIsDelegated) {
  const std::string program = sample("linear_relu/model.pte");
  const std::string record = sample("linear_relu/etrecord.bin");
  EXPECT_THAT(executor_runner("--numerics " + program + " --etrecord " + record + " --reference " +
                              program + " --reference_etrecord " + record + " --fail_below 30dB"),
              Exits(1, testing::HasSubstr("--fail_below: no operator was measured")));
}

}  // namespace
}  // namespace vitrine::test
