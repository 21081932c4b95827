// Tests the groupings and report formats of executor_runner on a real model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "test/support/corpus.h"
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

using nlohmann::json;
using testing::HasSubstr;

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
  const uint64_t planned =
      std::accumulate(plan.at("buffers").begin(), plan.at("buffers").end(), uint64_t{0},
                      [](uint64_t sum, const json& bytes) { return sum + bytes.get<uint64_t>(); });
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
        // Tensors with the same offset may be a view and its base.
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

// Instructions for narrow dtypes are used only if the processor has them.
TEST(ProfileReports, MultiplyAddBenchmarkHasMoreOperationsForNarrowDtypes) {
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
