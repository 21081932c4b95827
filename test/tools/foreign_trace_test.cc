// Tests profiles of traces from Vulkan delegates, which Vitrine does not run. ExecuTorch lowered
// the programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/support/trace_builder.h"
#include "tools/common/files.h"
#include "tools/pte_inspect/inspect.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

InspectOptions options_for(const fs::path& trace, const std::string& sample) {
  const fs::path folder = test::samples_dir() / "formats";
  InspectOptions options;
  options.files = {trace};
  options.programs = {folder / (sample + ".pte")};
  options.etrecords = {folder / (sample + ".etrecord")};
  options.report.format = ReportFormat::kJson;
  options.has_format = true;
  return options;
}

std::vector<std::string> main_ops(const json& profile) {
  std::vector<std::string> ops;
  for (const json& row : profile["rows"]) {
    if (row["phase"].is_null()) ops.push_back(row["source_ops"].at(row["main_op"].get<size_t>()));
  }
  return ops;
}

// The expected ops come from the graph that ExecuTorch printed, which lists each delegate's nodes.
TEST(ForeignTrace, FindsSourceOpsOfThreeVulkanDelegatesAndOfTheKernelsBetweenThem) {
  const fs::path trace = test::samples_dir() / "formats/vulkan_two_delegates.etdp";
  const json profile = json::parse(inspect(options_for(trace, "vulkan_two_delegates")).text);
  EXPECT_THAT(main_ops(profile),
              ElementsAre("aten.convolution.default", "aten.mean.dim", "aten.sort.default",
                          "aten.cumsum.default", "aten.sign.default"));
  ASSERT_EQ(profile["queues"].size(), 1u);
  const json& gpu = profile["queues"][0];
  EXPECT_THAT(main_ops(gpu),
              ElementsAre("aten.relu.default", "aten.addmm.default", "aten.addmm.default",
                          "aten.gelu.default", "aten.mul.Tensor", "aten.addmm.default",
                          "aten.addmm.default", "aten.tanh.default"));
  EXPECT_EQ(gpu["rows"][4]["modules"], json({"l"}));
  EXPECT_EQ(gpu["rows"][11]["modules"], json({"o"}));
}

TEST(ForeignTrace, FindsSourceOpsOfAQuantizedVulkanProgram) {
  // The payload has eleven operators. They are listed in delegate_map.json in the source of the
  // sample.
  constexpr const char* kPayload[] = {"quantized_decomposed.quantize_per_tensor.default",
                                      "et_vk.q8ta_conv2d.default",
                                      "et_vk.q8ta_conv2d_dw.default",
                                      "quantized_decomposed.dequantize_per_tensor.default",
                                      "aten.hardswish.default",
                                      "aten.max_pool2d_with_indices.default",
                                      "aten.view_copy.default",
                                      "quantized_decomposed.quantize_per_tensor.default",
                                      "et_vk.q8ta_linear_gemv.default",
                                      "quantized_decomposed.dequantize_per_tensor.default",
                                      "aten._log_softmax.default"};
  std::vector<test::TraceBuilder::Operator> events;
  for (size_t i = 0; i < std::size(kPayload); ++i) {
    events.push_back({.name = fmt::format(R"({{"operator": {{"name": "{}", "args": []}}, )"
                                          R"("delegate_node_id": {}, "kernel_name": "shader_{}", )"
                                          R"("operator_id": {}, "dispatch_id": {}}})",
                                          kPayload[i], i, i, i + 1, i),
                      .device = std::pair(uint64_t{1000 * i}, uint64_t{1000 * i + 10})});
  }
  test::TraceBuilder trace;
  trace.begin_run();
  trace.delegate(0, "", events);
  trace.end_run();
  const test::ScratchFolder scratch;
  write_file(scratch / "int8.etdp", trace.bytes());
  const json profile = json::parse(inspect(options_for(scratch / "int8.etdp", "vulkan_int8")).text);
  ASSERT_EQ(profile["queues"].size(), 1u);
  const std::string quantize = "quantized_decomposed.quantize_per_tensor.default";
  const std::string dequantize = "quantized_decomposed.dequantize_per_tensor.default";
  EXPECT_THAT(main_ops(profile["queues"][0]),
              ElementsAre(quantize, "aten.convolution.default", "aten.convolution.default",
                          dequantize, "aten.hardswish.default",
                          "aten.max_pool2d_with_indices.default", "aten.view_copy.default",
                          quantize, "aten.addmm.default", dequantize, "aten._log_softmax.default"));
  // The ReLU after the first convolution was fused into the convolution. No ReLU follows the second
  // convolution.
  const json& rows = profile["queues"][0]["rows"];
  EXPECT_THAT(rows[1]["folded_ops"].dump(), HasSubstr("aten.relu.default"));
  EXPECT_THAT(rows[2]["folded_ops"].dump(), testing::Not(HasSubstr("aten.relu.default")));
  EXPECT_EQ(rows[1]["modules"], json({"c"}));
  EXPECT_EQ(rows[2]["modules"], json({"d"}));
}

}  // namespace
}  // namespace vitrine::tools
