// Compares executor_runner --profile with two reference files. xnn_nodes.json lists the nodes of
// each payload in order, with the edge ops of each node. debug_handle_map.json lists the debug
// handles that each delegate covers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/machine_limits.h"
#include "tools/common/memory_plan.h"
#include "tools/common/multiply_add.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kInsertedHandle = 65535;

std::vector<std::string> strings(const json& list, const char* field) {
  std::vector<std::string> result;
  for (const json& item : list) result.push_back(item.at(field));
  return result;
}

json profile(const fs::path& folder, const std::string& method, const std::string& extra = "") {
  const CommandResult result = succeeded(executor_runner(
      "--profile --format json --num_executions 3 --method_name " + method + " --etrecord " +
      (folder / "etrecord.bin").string() + " " + extra + " " + (folder / "model.pte").string()));
  return result.exit_code == 0 ? json::parse(result.out) : json::object({{"rows", json::array()}});
}

// Expects that the rows of one delegate match the nodes of its payload, in the same order. A node
// that XNNPACK fused or removed has no row. Its ops must be among the folded ops of the rows.
void check_partition(const std::vector<json>& rows, const json& nodes) {
  std::multiset<std::string> folded;
  for (const json& row : rows) {
    for (const json& op : row.at("folded_ops")) folded.insert(op.get<std::string>());
  }
  size_t next = 0;
  for (const json& node : nodes) {
    const bool inserted = node.at("debug_handle") == kInsertedHandle;
    const bool matches =
        next < rows.size() &&
        (inserted ? rows[next].contains("inserted_for")
                  : rows[next].at("source_ops") == json(strings(node.at("source"), "target")) &&
                        !rows[next].at("debug_handles").empty() &&
                        rows[next].at("debug_handles")[0] == node.at("debug_handle"));
    if (!matches) {
      for (const std::string& target : strings(node.at("source"), "target")) {
        EXPECT_TRUE(folded.contains(target)) << "no row has " << node.dump();
      }
      continue;
    }
    if (inserted) {
      EXPECT_FALSE(rows[next].at("inserted_for").empty());
      EXPECT_TRUE(rows[next].at("source_ops").empty());
    } else {
      EXPECT_EQ(rows[next].at("modules"), json(strings(node.at("source"), "module")));
      EXPECT_FALSE(rows[next].contains("inserted_for"));
    }
    ++next;
  }
  EXPECT_EQ(next, rows.size()) << "the payload has no node for some rows";
}

// Expects that each debug handle in `delegated` belongs to at least one row. A handle without a
// node in the payload was folded, and must belong to exactly one row.
void check_handles(const std::vector<json>& rows, const json& nodes, const json& delegated) {
  std::map<int, int> rows_of_handle;
  for (const json& row : rows) {
    std::set<int> once;
    for (const json& handle : row.at("debug_handles")) once.insert(handle.get<int>());
    for (const int handle : once) ++rows_of_handle[handle];
  }
  std::set<int> in_payload;
  for (const json& node : nodes) in_payload.insert(node.at("debug_handle").get<int>());
  for (const json& item : delegated) {
    const int handle = item;
    EXPECT_GE(rows_of_handle[handle], 1) << "handle " << handle << " is in no row";
    if (!in_payload.contains(handle)) {
      EXPECT_EQ(rows_of_handle[handle], 1) << "folded handle " << handle;
    }
  }
}

void check_sums(const json& result) {
  double sum = result.at("unattributed_ns");
  for (const json& row : result.at("rows")) sum += row.at("avg_ns").get<double>();
  const double wall = result.at("wall_ns").at("avg");
  EXPECT_NEAR(sum, wall, wall * 1e-3);
}

void check_case(const fs::path& folder, const std::string& extra = "") {
  const json reference = read_json(folder / "xnn_nodes.json");
  for (const auto& [method, delegates] : reference.at("methods").items()) {
    const json result = profile(folder, method, extra);
    check_sums(result);
    std::map<int, std::vector<json>> partitions;
    std::map<int, int> instructions;
    for (const json& row : result.at("rows")) {
      if (row.at("where") != "delegate") continue;
      partitions[row.at("partition")].push_back(row);
      instructions[row.at("partition")] = row.at("instruction");
    }
    ASSERT_EQ(partitions.size(), delegates.size());
    for (const json& delegate : delegates) {
      const int index = delegate.at("delegate_index");
      SCOPED_TRACE(method + ", delegate " + std::to_string(index));
      check_partition(partitions[index], delegate.at("nodes"));
      if (!fs::exists(folder / "debug_handle_map.json")) continue;
      const json handles = read_json(folder / "debug_handle_map.json");
      check_handles(partitions[index], delegate.at("nodes"),
                    handles.at(method).at(std::to_string(instructions[index])));
    }
  }
}

class SampleJoinTest : public testing::TestWithParam<const char*> {};
TEST_P(SampleJoinTest, RowsMatchReference) { check_case(samples_dir() / GetParam()); }
INSTANTIATE_TEST_SUITE_P(ProfileJoin, SampleJoinTest,
                         testing::Values("mv2_025_xnnpack", "digits_xnnpack", "digits_xnnpack_q8"));

class CorpusJoinTest : public testing::TestWithParam<const char*> {};
TEST_P(CorpusJoinTest, RowsMatchReference) {
  VITRINE_CORPUS_CASE(folder, GetParam());
  check_case(folder);
}
INSTANTIATE_TEST_SUITE_P(
    ProfileJoin, CorpusJoinTest,
    testing::Values("bundled_linear_relu", "channels_last_conv", "conv_relu_tan_xnnpack",
                    "digits_xnnpack", "digits_xnnpack_q8", "dynamic_batch_xnnpack",
                    "encoder_layer_sdpa", "f16_conv", "kv_cache_xnnpack", "linear_relu", "mlp_dynq",
                    "multi_method", "multi_method_shared_xnnpack", "mv2_025_xnnpack", "mv2_xnnpack",
                    "softmax_layernorm_attention", "split_concat_pool"),
    [](const auto& test) { return std::string(test.param); });

TEST(ProfileJoinTest, RowsMatchReferenceForSmallerDynamicShape) {
  const fs::path folder = samples_dir() / "dynamic_batch_xnnpack";
  const json call = read_json(folder / "case.json").at("calls").at(1);
  std::string shape;
  for (const int size : call.at("inputs")[0].at("shape")) {
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  }
  check_case(folder, "--inputs " +
                         (folder / call.at("inputs")[0].at("file").get<std::string>()).string() +
                         ":" + shape);
}

// The corpus does not list the nodes of language models, so this check does not compare nodes. Each
// row of a delegate must have source ops, unless the lowering inserted its operator. If the model
// has a record, the rows must cover all debug handles of the delegates. Without a record, the
// profile must infer the source ops from the program.
void check_language_model(const fs::path& folder) {
  SCOPED_TRACE(folder.string());
  const bool has_record = fs::exists(folder / "etrecord.bin");
  std::string arguments = "--profile --format json --num_executions 2 ";
  if (has_record) arguments += "--etrecord " + (folder / "etrecord.bin").string() + " ";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ptd") arguments += "--data_path " + entry.path().string();
  }
  const json methods = read_json(folder / "debug_handle_map.json");
  for (const auto& [method, instructions] : methods.items()) {
    std::map<std::string, std::set<int>> handles;  // by instruction
    const json result = json_of(executor_runner(arguments + " --method_name " + method + " " +
                                                (folder / "model.pte").string()));
    check_sums(result);
    for (const json& row : result.at("rows")) {
      if (row.at("where") != "delegate") continue;
      const bool is_inserted = row.contains("inserted_for") && !row["inserted_for"].empty();
      EXPECT_EQ(row.at("join"), has_record || is_inserted ? "exact" : "inferred") << row;
      EXPECT_NE(is_inserted, !row.at("source_ops").empty()) << row;
      auto& of_call = handles[std::to_string(row.at("instruction").get<int>())];
      for (const json& handle : row.at("debug_handles")) of_call.insert(handle.get<int>());
    }
    if (!has_record) continue;
    for (const auto& [instruction, found] : handles) {
      for (const json& handle : instructions.at(instruction)) {
        EXPECT_TRUE(found.contains(handle.get<int>())) << handle << " of call " << instruction;
      }
    }
  }
}

TEST(ProfileJoinTest, LanguageModelRowsCoverDelegatedHandles) {
  VITRINE_NEEDS_CORPUS_LLM();
  size_t models = 0;
  for (const auto& entry : fs::directory_iterator(corpus_llm_dir())) {
    if (!fs::exists(entry.path() / "model.pte")) continue;
    // This model is rejected at load, because XNNPACK would compute it wrongly.
    if (entry.path().filename() == "linear_4w_only") continue;
    check_language_model(entry.path());
    ++models;
  }
  EXPECT_GT(models, 20U);
}

std::string profile(const std::string& arguments) {
  const std::filesystem::path model = samples_dir() / "mv2_025_xnnpack";
  const CommandResult result = succeeded(executor_runner(
      "--profile --num_executions 4 --etrecord " + (model / "etrecord.bin").string() + " " +
      arguments + " " + (model / "model.pte").string()));
  return result.out;
}

TEST(ProfileReports, AppliesTheFilterGroupByAndTopOptions) {
  for (const char* by : {"module", "op", "delegate", "line", "none"}) {
    const std::string table = profile(std::string("--top 5 --filter conv --group_by ") + by);
    EXPECT_NE(table.find("filtered out"), std::string::npos) << table;
    EXPECT_NE(table.find("100.0"), std::string::npos);
    const std::string csv = profile(std::string("--format csv --group_by ") + by);
    EXPECT_NE(csv.find("unattributed"), std::string::npos);
  }
  const std::string modules = profile("--group_by module");
  EXPECT_NE(modules.find("\n  features "), std::string::npos) << modules;
  const std::string lines = profile("--group_by line");
  EXPECT_NE(lines.find(".py:"), std::string::npos) << lines;
}

TEST(ProfileReports, ReportsTracingOverheadOnlyForFiveOrMoreRuns) {
  const std::string model =
      "--profile --warmup 0 " + (samples_dir() / "linear_relu/model.pte").string();
  EXPECT_THAT(executor_runner(model + " --num_executions 1"),
              Prints(testing::Not(HasSubstr("tracing"))));
  EXPECT_THAT(executor_runner(model + " --num_executions 5"), Prints(HasSubstr("tracing ")));
}

TEST(ProfileReports, JsonGroupsAddUpToWallTime) {
  const json result = json::parse(profile("--format json"));
  EXPECT_EQ(result.at("cold_runs"), 1);
  EXPECT_EQ(result.at("runs"), 4);
  const double wall = result.at("wall_ns").at("avg");
  for (const auto& [name, groups] : result.at("groups").items()) {
    double sum = result.at("unattributed_ns");
    for (const json& group : groups) sum += group.at("own_avg_ns").get<double>();
    EXPECT_NEAR(sum, wall, 1e-3 * wall) << name;
  }
  const json& plan = result.at("memory_plan");
  EXPECT_GT(plan.at("peak").at("bytes"), 0);
  uint64_t planned = 0;
  for (const json& bytes : plan.at("buffers")) planned += bytes.get<uint64_t>();
  EXPECT_LE(plan.at("peak").at("bytes"), planned);
  size_t costed = 0;
  for (const json& row : result.at("rows")) costed += row.at("cost").is_null() ? 0 : 1;
  EXPECT_GT(costed, 60u);
}

// ExecuTorch's planner gives overlapping memory only to tensors that are not live at the same time.
TEST(ProfileReports, TensorsThatShareMemoryAreNeverLiveAtTheSameTime) {
  VITRINE_CORPUS_CASE(corpus, "");
  for (const char* name :
       {"mv2_portable", "split_concat_pool_portable", "encoder_layer_sdpa_portable", "gru_portable",
        "kv_cache", "mutable_acc", "linear_relu_portable"}) {
    SCOPED_TRACE(name);
    const auto program =
        tools::check(Program::load(tools::check(map_file((corpus / name / "model.pte").c_str()))));
    const auto meta = tools::check(program->method_meta("forward"));
    const inspector::MemoryPlan plan = tools::memory_plan(meta);
    ASSERT_FALSE(plan.tensors.empty());
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      const inspector::PlannedTensor& a = plan.tensors[i];
      EXPECT_LE(a.offset + a.bytes, plan.buffers.at(a.buffer - 1));
      for (size_t k = i + 1; k < plan.tensors.size(); ++k) {
        const inspector::PlannedTensor& b = plan.tensors[k];
        const bool live_together = a.buffer == b.buffer && a.first <= b.last && b.first <= a.last;
        const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        // Two live tensors may have the same offset if one is a view of the other.
        EXPECT_FALSE(live_together && overlap && a.offset != b.offset)
            << "values " << a.value << " and " << b.value;
      }
    }
  }
}

TEST(ProfileReports, MachineLimitsAreMeasuredOnce) {
  const ScratchFolder scratch;
  const std::filesystem::path cache = scratch / "deep" / "limits.json";
  const inspector::MachineLimits first = tools::machine_limits(1, cache);
  if (!first.is_measured()) GTEST_SKIP() << "other programs keep the processor busy";
  EXPECT_GT(first.flops_per_s, 1e8);
  EXPECT_GT(first.bytes_per_s, 1e8);
  ASSERT_TRUE(std::filesystem::exists(cache));
  const inspector::MachineLimits second = tools::machine_limits(1, cache);
  EXPECT_EQ(second.flops_per_s, first.flops_per_s);
  EXPECT_EQ(second.bytes_per_s, first.bytes_per_s);
}

// The processor may lack multiply-add instructions for a narrow dtype. The test skips such dtypes.
TEST(ProfileReports, NarrowDtypesAllowMoreOperationsPerRound) {
  const tools::MultiplyAdd f32 = tools::multiply_add(ScalarType::kFloat);
  ASSERT_NE(f32.run, nullptr);
  for (const ScalarType dtype : {ScalarType::kHalf, ScalarType::kBFloat16, ScalarType::kChar}) {
    const tools::MultiplyAdd narrow = tools::multiply_add(dtype);
    if (narrow.run == nullptr) continue;
    narrow.run(100);
    EXPECT_GE(narrow.operations, 2 * f32.operations) << scalar_type_name(dtype);
  }
  EXPECT_EQ(tools::multiply_add(ScalarType::kDouble).run, nullptr);
}

}  // namespace
}  // namespace vitrine::test
