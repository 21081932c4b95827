// executor_runner --debug_outputs --compare: lowerings of one model, and a wrong weight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "host/files.h"
#include "host/tool_error.h"
#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/record_builder.h"
#include "test/tools/command.h"
#include "vitrine/extended_header.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
namespace fbs = schema::program;
using nlohmann::json;
using testing::HasSubstr;

// `a` and `b`: models with their options; those of `b` in the form of --compare.
CommandResult compare_values(const std::string& a, const std::string& b,
                             const std::string& extra = "") {
  return executor_runner("--debug_outputs " + a + " --compare " + b + " --cpu_threads 1 " + extra);
}

// The constant of a float tensor with so many elements or more that instruction `index` is given.
struct Constant {
  size_t offset = 0;  // in the file
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

// Instructions that run a convolution.
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

TEST(ComparingValuesTest, AWrongWeightIsFoundAtItsOp) {
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
    // One weight of them, far off.
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

TEST(ComparingValuesTest, WhatADelegateHidesShowsAtItsBoundary) {
  const ScratchFolder scratch;
  const std::string model = sample("linear_relu/model.pte");
  std::vector<std::byte> bytes = tools::read_file(model);
  // 20 of its 40 weights of the second linear: bytes 3456 to 3616 of the file hold them.
  for (size_t i = 3456; i < 3536; ++i) bytes[i] = std::byte{0};
  tools::write_file(scratch / "wrong.pte", bytes);
  const std::string record = sample("linear_relu/etrecord.bin");
  const CommandResult result =
      compare_values(model + " --etrecord " + record,
                     (scratch / "wrong.pte").string() + " --compare_etrecord " + record,
                     "--inputs " + sample("linear_relu/input_0.bin"));
  EXPECT_EQ(result.exit_code, 0) << result.err;  // no limit was given
  EXPECT_THAT(result.out, HasSubstr("first below 40 dB  #1 linear"));
}

TEST(ComparingValuesTest, LoweringsOfOneModelAgree) {
  const CommandResult result = compare_values(
      sample("digits_portable/model.pte") + " --etrecord " + sample("digits_portable/etrecord.bin"),
      sample("digits_xnnpack/model.pte") + " --compare_etrecord " +
          sample("digits_xnnpack/etrecord.bin"),
      "--min_sqnr 90 --inputs " + sample("digits_portable/input_0.bin"));
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("no op is below 90 dB"));
}

// Seven delegates among kernels: what both sides have outside of delegates, and every boundary.
TEST(ComparingValuesTest, EveryBoundaryOfAnEncoderLayer) {
  VITRINE_CORPUS_CASE(delegated, "encoder_layer_sdpa");
  const fs::path portable = corpus_dir() / "encoder_layer_sdpa_portable";
  const ScratchFolder scratch;
  tools::write_file(scratch / "portable.etrecord", record_of_portable(delegated, portable));
  const CommandResult result = compare_values(
      (portable / "model.pte").string() + " --etrecord " + (scratch / "portable.etrecord").string(),
      (delegated / "model.pte").string() + " --compare_etrecord " +
          (delegated / "etrecord.bin").string(),
      "--format json --min_sqnr 80 --inputs " + (portable / "input_0.bin").string());
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const json report = json::parse(result.out);
  // The delegates of instructions 0, 2, 4 and 24 share no handle with others; of the kernels those
  // with one handle each, and those of the attention whose op runs as often on both sides.
  // Attention is one node of the exported graph: 25 ops have its handle.
  for (const json& value : report.at("values")) {
    EXPECT_FALSE(value.contains("not_compared")) << value;
    EXPECT_NE(value.at("op"), "");
    for (const json& line : value.at("lines")) EXPECT_NE(line, "");
  }
  EXPECT_GE(report.at("values").size(), 16u) << result.out;
  EXPECT_THAT(report.at("notes").dump(), HasSubstr("instruction 13"));
  EXPECT_EQ(report.at("outputs").size(), 1u);
}

TEST(ComparingValuesTest, NeedsWhatItCompares) {
  const std::string model = sample("digits_xnnpack/model.pte");
  EXPECT_EQ(executor_runner("--debug_outputs " + model).exit_code, 105);
  EXPECT_NE(compare_values(model, model, "--profile").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--fail_above 2").exit_code, 0);
  EXPECT_NE(compare_values(model, model, "--format html").exit_code, 0);
  // Values that do not fit are reported.
  const CommandResult small = compare_values(model, model, "--debug_buffer_size 8");
  EXPECT_THAT(small.err, testing::AnyOf(HasSubstr("did not fit"), HasSubstr("no outputs of ops")));
}

}  // namespace
}  // namespace vitrine::test
