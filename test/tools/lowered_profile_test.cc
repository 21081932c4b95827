// Tests profiles of programs that pte_lower wrote. The profile reads names from the record that
// pte_lower stores in the program. Every operator that a delegate ran must have its source ops, and
// every debug handle of a delegate must belong to an operator.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "formats/etrecord/record_members.h"
#include "test/support/corpus.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns the exported models of a folder by method. Skips models that are decomposed (_core_aten).
std::map<std::string, fs::path> exported_methods(const fs::path& folder) {
  std::map<std::string, fs::path> methods;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("model") || !name.ends_with(".pt2") || name.ends_with("_core_aten.pt2")) {
      continue;
    }
    const std::string method = name.substr(5, name.size() - 9);
    methods[method.empty() ? "forward" : method.substr(1)] = entry.path();
  }
  return methods;
}

struct LoweredProgram {
  std::string program;
  // Debug handles and delegates, from a separate .etrecord file, which executor_runner does not
  // read. Both map each method to a JSON object. The object in `handles` has a member for each
  // instruction, and the object in `delegates` has a member for each delegate call.
  json handles;
  json delegates;
};

LoweredProgram lower(const std::map<std::string, fs::path>& methods, const std::string& backends,
                     const ScratchFolder& scratch) {
  LoweredProgram made;
  made.program = (scratch / "m.pte").string();
  const std::string record = (scratch / "m.etrecord").string();
  std::string command = backends + " -o " + made.program + " --etrecord " + record;
  for (const auto& [name, file] : methods) command += " --method " + name + "=" + file.string();
  const CommandResult result = succeeded(run_tool(VITRINE_PTE_LOWER, command));
  if (result.exit_code != 0) return made;
  const etrecord::RecordMembers members = etrecord::read_record_members(record);
  made.handles = json::parse(members.debug_handle_map);
  made.delegates = json::parse(members.delegate_map.value_or("{}"));
  return made;
}

// Checks the profile of a method, and returns the number of operators that delegates ran.
size_t check_profile(const std::string& program, const std::string& method, const json& handles,
                     const json& delegates, bool all_run) {
  const CommandResult run = succeeded(executor_runner(
      "--profile --format json --num_executions 2 --method_name " + method + " " + program));
  if (run.exit_code != 0) return 0;
  size_t operators = 0;
  std::map<std::string, std::set<uint32_t>> found;  // handles by instruction
  const json profile = json::parse(run.out);
  for (const json& row : profile.at("rows")) {
    if (row.at("where") != "delegate") continue;
    ++operators;
    EXPECT_EQ(row.at("join"), "exact") << row;
    // A layout change that the lowering inserted has no source op of its own.
    const bool is_inserted = row.contains("inserted_for") && !row["inserted_for"].empty();
    EXPECT_TRUE(is_inserted || !row.at("source_ops").empty()) << row;
    std::set<uint32_t>& of_call = found[std::to_string(row.at("instruction").get<int64_t>())];
    for (const json& handle : row.at("debug_handles")) of_call.insert(handle.get<uint32_t>());
  }
  for (const auto& [instruction, delegate] : delegates.items()) {
    const bool has_run = found.contains(instruction);
    EXPECT_TRUE(has_run || !all_run) << "the profile has no row of call " << instruction;
    if (!has_run) continue;
    for (const json& handle : handles.at(instruction)) {
      EXPECT_TRUE(found[instruction].contains(handle.get<uint32_t>()))
          << "handle " << handle << " of call " << instruction << " is in no row";
    }
  }
  return operators;
}

size_t check_case(const fs::path& folder, const std::string& backends, bool all_run = true) {
  SCOPED_TRACE(folder.string());
  const ScratchFolder scratch;
  const auto methods = exported_methods(folder);
  const LoweredProgram lowered = lower(methods, backends, scratch);
  size_t operators = 0;
  for (const auto& [method, delegates] : lowered.delegates.items()) {
    operators +=
        check_profile(lowered.program, method, lowered.handles.at(method), delegates, all_run);
  }
  return operators;
}

class LoweredProfileTest : public testing::TestWithParam<const char*> {};

TEST_P(LoweredProfileTest, OperatorsHaveSourceOps) {
  VITRINE_CORPUS_CASE(folder, GetParam());
  const bool is_dynamic = std::string_view(GetParam()) == "mlp_dynq";
  EXPECT_GT(check_case(folder, is_dynamic ? "--backend xnnpack-dynamic --backend xnnpack"
                                          : "--backend xnnpack"),
            0U);
}

INSTANTIATE_TEST_SUITE_P(
    Models, LoweredProfileTest,
    testing::Values("bundled_linear_relu", "channels_last_conv", "conv_relu_tan_xnnpack",
                    "digits_xnnpack", "digits_xnnpack_q8", "dynamic_batch_xnnpack",
                    "encoder_layer_sdpa", "f16_conv", "gru_portable", "kv_cache_xnnpack",
                    "linear_relu", "lstm_portable", "mlp_dynq", "mlp_qb4w", "multi_method",
                    "multi_method_shared_xnnpack", "mv2_025_xnnpack", "mv2_xnnpack",
                    "mv2_xnnpack_q8", "softmax_layernorm_attention", "split_concat_pool"),
    [](const auto& test) { return std::string(test.param); });

// Only one branch of the condition runs, so the profile lacks the delegates of the other branch.
TEST(LoweredProfileTest, OperatorsInBranchesHaveSourceOps) {
  VITRINE_CORPUS_CASE(folder, "cond_model");
  EXPECT_GT(check_case(folder, "--backend xnnpack-branches", false), 0U);
}

TEST(LoweredProfileTest, SingleOperatorProgramsHaveSourceOps) {
  VITRINE_CORPUS_CASE(folder, "ops_xnnpack");
  size_t cases = 0;
  size_t operators = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "model.pt2")) continue;
    const size_t found = check_case(entry.path(), "--backend xnnpack");
    cases += found > 0 ? 1 : 0;
    operators += found;
  }
  std::printf("%zu operators of %zu programs\n", operators, cases);
  EXPECT_GT(cases, 100U);
}

TEST(LoweredProfileTest, OperatorsOfLanguageModelsHaveSourceOps) {
  VITRINE_NEEDS_CORPUS_LLM();
  size_t operators = 0;
  for (const auto& entry : fs::directory_iterator(corpus_llm_dir())) {
    if (!entry.is_directory() || exported_methods(entry.path()).empty()) continue;
    operators += check_case(entry.path(), "--backend xnnpack-dynamic --backend xnnpack");
  }
  EXPECT_GT(operators, 1000U);
}

}  // namespace
}  // namespace vitrine::test
