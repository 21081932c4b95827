// Tests executor_runner --debug_outputs --compare with two lowerings of one model and with a wrong
// weight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/record_builder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "vitrine/extended_header.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
namespace fbs = schema::program;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// `a` and `b` each contain the path of a model and the options for this model.
CommandResult compare_values(const std::string& a, const std::string& b,
                             const std::string& extra = "") {
  return executor_runner("--debug_outputs " + a + " --compare " + b + " --cpu_threads 1 " + extra);
}

// The weight of the convolution that instruction `index` calls.
struct Constant {
  size_t offset = 0;  // from the start of the file
  size_t bytes = 0;
};
Constant constant_of_instruction(const fs::path& model, uint32_t index) {
  const AlignedBytes bytes = read_file_bytes(model);
  const auto program = tools::check(Program::load(tools::check(view_buffer(bytes))));
  const auto header = tools::check(
      read_extended_header(std::span<const std::byte>(bytes).first<kProgramHeadBytes>()));
  const fbs::Program& root = ProgramAccess::root(*program);
  const fbs::ExecutionPlan& plan = *root.execution_plan()->Get(0);
  const auto* call = plan.chains()->Get(0)->instructions()->Get(index)->instr_args_as_KernelCall();
  const auto* weight =
      plan.values()->Get(static_cast<uint32_t>(call->args()->Get(1)))->val_as_Tensor();
  const auto* constants = root.constant_segment();
  Constant result;
  result.offset = header->segment_base +
                  root.segments()->Get(constants->segment_index())->offset() +
                  constants->offsets()->Get(weight->data_buffer_idx());
  result.bytes = 4;
  for (const int32_t size : *weight->sizes()) result.bytes *= static_cast<size_t>(size);
  return result;
}

// Indices of the instructions that call a convolution.
std::vector<uint32_t> convolutions_of(const fs::path& model) {
  const AlignedBytes bytes = read_file_bytes(model);
  const auto program = tools::check(Program::load(tools::check(view_buffer(bytes))));
  const fbs::ExecutionPlan& plan = *ProgramAccess::root(*program).execution_plan()->Get(0);
  const auto& instructions = *plan.chains()->Get(0)->instructions();
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const auto* call = instructions.Get(i)->instr_args_as_KernelCall();
    if (call == nullptr) continue;
    const auto* op = plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
    if (op->name()->str() == "aten::convolution") found.push_back(i);
  }
  return found;
}

TEST(ComparingValuesTest, FindsOpWithWrongWeight) {
  const std::string model = sample("digits_portable/model.pte");
  const std::vector<uint32_t> convolutions = convolutions_of(model);
  ASSERT_GE(convolutions.size(), 3u);
  const std::string record = sample("digits_portable/etrecord.bin");
  for (const uint32_t wrong : convolutions) {
    SCOPED_TRACE(wrong);
    const ScratchFolder scratch;
    std::vector<std::byte> bytes = tools::read_file(model);
    const Constant weight = constant_of_instruction(model, wrong);
    ASSERT_LE(weight.offset + weight.bytes, bytes.size());
    const float value = 3;
    std::memcpy(bytes.data() + weight.offset + weight.bytes / 2 / 4 * 4, &value, sizeof value);
    tools::write_file(scratch / "wrong.pte", bytes);
    const CommandResult result = compare_values(
        model + " --etrecord " + record,
        (scratch / "wrong.pte").string() + " --compare_etrecord " + record,
        "--format json --min_sqnr 60 --inputs " + sample("digits_portable/input_0.bin"));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    const json report = json::parse(result.out);
    ASSERT_FALSE(report.at("first_below").is_null());
    const size_t first = report.at("first_below");
    const json& value_of_wrong = report.at("values").at(first);
    EXPECT_EQ(value_of_wrong.at("op"), "convolution");
    EXPECT_EQ(value_of_wrong.at("rows_a"), json({wrong}));  // every instruction is a row
    for (size_t i = 0; i < first; ++i) EXPECT_EQ(report.at("values").at(i).at("different"), 0);
  }
}

TEST(ComparingValuesTest, FindsWrongOperatorInsideDelegate) {
  const ScratchFolder scratch;
  const std::string model = sample("linear_relu/model.pte");
  std::vector<std::byte> bytes = tools::read_file(model);
  // Bytes 3456 to 3616 hold the 40 weights of the second linear. This clears 20 of them.
  for (size_t i = 3456; i < 3536; ++i) bytes[i] = std::byte{0};
  tools::write_file(scratch / "wrong.pte", bytes);
  const std::string record = sample("linear_relu/etrecord.bin");
  const CommandResult result = succeeded(
      compare_values(model + " --etrecord " + record,
                     (scratch / "wrong.pte").string() + " --compare_etrecord " + record,
                     "--inputs " + sample("linear_relu/input_0.bin")));  // no limit was given
  EXPECT_THAT(result.out, HasSubstr("first below 40 dB  #2 linear"));
}

TEST(ComparingValuesTest, TwoLoweringsOfTheSameModelAgree) {
  EXPECT_THAT(compare_values(sample("digits_portable/model.pte") + " --etrecord " +
                                 sample("digits_portable/etrecord.bin"),
                             sample("digits_xnnpack/model.pte") + " --compare_etrecord " +
                                 sample("digits_xnnpack/etrecord.bin"),
                             "--min_sqnr 90 --inputs " + sample("digits_portable/input_0.bin")),
              Prints(HasSubstr("no op is below 90 dB")));
}

TEST(ComparingValuesTest, ComparesOutputsOfAllDelegatesAndKernels) {
  VITRINE_CORPUS_CASE(delegated, "encoder_layer_sdpa");
  const fs::path portable = corpus_dir() / "encoder_layer_sdpa_portable";
  const ScratchFolder scratch;
  tools::write_file(scratch / "portable.etrecord", record_of_portable(delegated, portable));
  const CommandResult result = succeeded(compare_values(
      (portable / "model.pte").string() + " --etrecord " + (scratch / "portable.etrecord").string(),
      (delegated / "model.pte").string() + " --compare_etrecord " +
          (delegated / "etrecord.bin").string(),
      "--format json --min_sqnr 80 --inputs " + (portable / "input_0.bin").string()));
  const json report = json::parse(result.out);
  // The tool compares a delegate if no other delegate has its debug handles, and a kernel if no
  // other kernel has its handle. Attention is one node of the exported graph, so 25 ops have the
  // same handle. The tool compares the kernel of such an op only if the op runs the same number of
  // times in both programs.
  for (const json& value : report.at("values")) {
    EXPECT_FALSE(value.contains("not_compared")) << value;
    EXPECT_NE(value.at("op"), "");
    for (const json& line : value.at("lines")) EXPECT_NE(line, "");
  }
  EXPECT_GE(report.at("values").size(), 16u) << result.out;
  EXPECT_THAT(report.at("notes").dump(), HasSubstr("instruction 13"));
  EXPECT_EQ(report.at("outputs").size(), 1u);
}

// The layers of a float and an int8 delegate are compared as real numbers.
TEST(ComparingValuesTest, ComparesValuesInsideTwoDelegates) {
  VITRINE_CORPUS_CASE(f32, "digits_xnnpack");
  const fs::path q8 = corpus_dir() / "digits_xnnpack_q8";
  EXPECT_THAT(
      compare_values(
          (f32 / "model.pte").string() + " --etrecord " + (f32 / "etrecord.bin").string(),
          (q8 / "model.pte").string() + " --compare_etrecord " + (q8 / "etrecord.bin").string(),
          "--inputs " + (f32 / "input_0.bin").string()),
      Prints(testing::AllOf(HasSubstr("compared 7 op outputs and 1 program output"),
                            Not(HasSubstr("to compare every op, lower both models")))));
}

TEST(ComparingValuesTest, RejectsInvalidOptions) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_EQ(executor_runner("--debug_outputs " + model).exit_code, 64);
  EXPECT_NE(compare_values(model, model, "--profile").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--fail_above 2").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--format timeline").exit_code, 0);
  const CommandResult small = compare_values(model, model, "--debug_buffer_size 8");
  EXPECT_THAT(small.err, testing::AnyOf(HasSubstr("did not fit"), HasSubstr("no outputs of ops")));
}

}  // namespace
}  // namespace vitrine::test
