#include "inspector/join/device_queues.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "backends/profiles/foreign_profiles.h"
#include "backends/profiles/xnnpack_profile.h"
#include "inspector/compare/comparison.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/read_profile.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_csv.h"
#include "inspector/report/report_html.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_jsonl.h"
#include "inspector/report/report_table.h"
#include "inspector/report/report_timeline.h"
#include "test/support/expect_error.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using etrecord::EtRecord;
using test::HasSubstrs;
using test::TraceBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Op = TraceBuilder::Operator;

DelegateProfiles all_profiles() {
  static const std::array profiles = {&xnnpack_profile(), &vulkan_profile(),  &core_ml_profile(),
                                      &qnn_profile(),     &neutron_profile(), &ethos_u_profile(),
                                      &vgf_profile()};
  return profiles;
}

// Returns `op` with its begin and end on the device's own clock.
Op on_device(Op op, uint64_t start, uint64_t end) {
  op.device = std::pair(start, end);
  return op;
}

// Returns a dispatch whose name has the format of ExecuTorch 1.1 to 1.4. The dispatch begins at
// `start` on the GPU's clock and takes `ns`.
Op dispatch(const std::string& op, int operator_id, const std::string& kernel, int id,
            uint64_t start, uint64_t ns) {
  const std::string text =
      op.empty() ? "" : fmt::format(R"("operator": {{"name": "{}", "args": []}}, )", op);
  return on_device(
      {.name = fmt::format(R"({{{}"kernel_name": "{}", "operator_id": {}, "dispatch_id": {}}})",
                           text, kernel, operator_id, id)},
      start, start + ns);
}

// Two Vulkan delegates, with a CPU kernel between them. The name of a dispatch that copies a tensor
// contains the operator of the previous dispatch.
TraceBuilder two_delegates() {
  constexpr uint64_t kOrigin = 9'000'000'000'000;
  TraceBuilder trace;
  for (int run = 0; run < 3; ++run) {
    trace.delegate(
        0, "",
        {{.name = "ETVK_COPY_INPUTS", .ns = 1000},
         {.name = "ETVK_COMPUTE_GRAPH_EXECUTE", .ns = 20'000},
         dispatch("", 0, "nchw_to_image_texture3d_float", 0, kOrigin, 300),
         dispatch("aten.relu.default", 1, "relu_texture3d_float", 1, kOrigin + 400, 500),
         dispatch("aten.relu.default", 2, "image_to_nchw_texture3d_float", 2, kOrigin + 1000, 200),
         {.name = "ETVK_COPY_OUTPUTS", .ns = 2000},
         {.name = "ETVK_EXECUTE", .ns = 24'000}});
    trace.kernel(1, "aten::mean.out", 5000);
    trace.delegate(
        2, "",
        {{.name = "ETVK_COMPUTE_GRAPH_EXECUTE", .ns = 30'000},
         dispatch("aten.relu.default", 2, "nchw_to_image_texture3d_float", 0, kOrigin + 5000, 100),
         dispatch("aten.linear.default", 3, "linear_pack_texture3d_float", 1, kOrigin + 6000, 700),
         dispatch("aten.linear.default", 3, "linear_texture3d_float", 2, kOrigin + 7000, 1900),
         dispatch("aten.gelu.default", 4, "gelu_texture3d_float", 3, kOrigin + 9000, 250)});
    trace.end_run();
  }
  return trace;
}

// The first delegate runs relu, a kernel runs mean, and the second delegate runs permute, addmm and
// gelu.
EtRecord two_delegates_record() {
  // Vulkan's delegate maps contain positions, not debug handles. The join must ignore these maps,
  // although the positions 2 and 3 equal the handles of relu and mean.
  return test::record_of({{"relu", "aten.relu.default", 2, {"x"}, "act"},
                          {"mean", "aten.mean.dim", 3, {"relu"}, ""},
                          {"t", "aten.permute_copy.default", 4, {"w"}, "l"},
                          {"addmm", "aten.addmm.default", 4, {"b", "mean", "t"}, "l"},
                          {"gelu", "aten.gelu.default", 5, {"addmm"}, "g"}},
                         R"({"0": [2], "1": 3, "2": [4, 4, 5]})",
                         R"({"0": {"name": "VulkanBackend", "delegate_map": {"0": [3]}},
           "2": {"name": "VulkanBackend", "delegate_map": {"0": [2], "1": [3]}}})");
}

ProgramDelegates two_delegates_program() {
  return {{0, {"VulkanBackend", {"aten.relu.default"}}},
          {2, {"VulkanBackend", {"aten.linear.default", "aten.gelu.default"}}}};
}

Profile profile_of(TraceBuilder trace, const EtRecord* record,
                   const ProgramDelegates& program = {}) {
  ProfileOptions options;
  options.delegates = all_profiles();
  options.program = program;
  options.run.record = record == nullptr ? "" : "net.etrecord";
  return make_profile(trace.dump(), record, options);
}

const Profile& only_queue(const Profile& profile) {
  EXPECT_EQ(profile.queues.size(), 1u);
  return profile.queues.at(0);
}

double sum_of(const Profile& profile) {
  return std::accumulate(profile.rows.begin(), profile.rows.end(), profile.unattributed.p50,
                         [](double sum, const ProfileRow& row) { return sum + row.time.p50; });
}

std::vector<std::string> ops_of(const Profile& profile) {
  std::vector<std::string> ops;
  for (const ProfileRow& row : profile.rows) {
    std::string text = row.phase;
    for (const std::string& op : row.source_ops) text += (text.empty() ? "" : " ") + op;
    for (const std::string& op : row.folded_ops) text += " + " + op;
    ops.push_back(text);
  }
  return ops;
}

TEST(DeviceQueues, VulkanDispatchesAreJoinedToSourceOpsAndAddUpPerQueue) {
  const EtRecord record = two_delegates_record();
  const Profile profile = profile_of(two_delegates(), &record, two_delegates_program());
  EXPECT_THAT(ops_of(profile),
              ElementsAre("copy in", "run graph aten.relu.default", "copy out", "aten.mean.dim",
                          "run graph aten.permute_copy.default aten.addmm.default "
                          "aten.gelu.default"));
  EXPECT_DOUBLE_EQ(sum_of(profile), profile.wall.p50);
  EXPECT_GT(profile.unattributed.p50, 0);
  const Profile& gpu = only_queue(profile);
  EXPECT_EQ(gpu.queue, "Vulkan GPU");
  EXPECT_THAT(ops_of(gpu), ElementsAre("copy in", "aten.relu.default", "copy out", "copy in",
                                       "aten.addmm.default + aten.permute_copy.default",
                                       "aten.addmm.default", "aten.gelu.default"));
  EXPECT_EQ(gpu.rows[4].modules, std::vector<std::string>{"l"});
  EXPECT_EQ(gpu.rows[4].payload_operator, 0u);
  EXPECT_EQ(gpu.rows[6].payload_operator, 1u);
  EXPECT_EQ(gpu.rows[6].modules, std::vector<std::string>{"g"});
  EXPECT_DOUBLE_EQ(gpu.wall.p50, 300 + 500 + 200 + 100 + 700 + 1900 + 250);
  EXPECT_DOUBLE_EQ(sum_of(gpu), gpu.wall.p50);
  double share = 0;
  for (const ProfileRow& row : gpu.rows) share += row.share;
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(DeviceQueues, FindsOpsWithoutARecordOrAProgram) {
  const Profile profile = profile_of(two_delegates(), nullptr, two_delegates_program());
  EXPECT_THAT(ops_of(only_queue(profile)),
              ElementsAre("copy in", "aten.relu.default", "copy out", "copy in",
                          "aten.linear.default", "aten.linear.default", "aten.gelu.default"));
  const EtRecord record = two_delegates_record();
  for (const EtRecord* given : {&record, static_cast<const EtRecord*>(nullptr)}) {
    const Profile without_program = profile_of(two_delegates(), given);
    EXPECT_EQ(ops_of(only_queue(without_program))[5],
              given == nullptr ? "aten.linear.default" : "aten.addmm.default");
  }
}

// The names are from the payload of vk_int8_static. The nodes and handles are from its record.
TEST(DeviceQueues, QuantizedVulkanOperatorsAbsorbQuantizeAndDequantizeOps) {
  const EtRecord record = test::record_of(
      {{"dq_w", "quantized_decomposed.dequantize_per_channel.default", 1, {"w"}, ""},
       {"q", "quantized_decomposed.quantize_per_tensor.default", 4, {"x"}, ""},
       {"dq", "quantized_decomposed.dequantize_per_tensor.default", 4, {"q"}, ""},
       {"conv", "aten.convolution.default", 5, {"dq", "dq_w"}, "c"},
       {"relu", "aten.relu.default", 6, {"conv"}, "r"},
       {"q1", "quantized_decomposed.quantize_per_tensor.default", 6, {"relu"}, "r"},
       {"dq1", "quantized_decomposed.dequantize_per_tensor.default", 6, {"q1"}, "r"},
       {"swish", "aten.hardswish.default", 8, {"dq1"}, "h"}},
      R"({"0": [1, 4, 4, 5, 6, 6, 6, 8]})",
      R"({"0": {"name": "VulkanBackend", "delegate_map": {}}})");
  const std::vector<std::string> payload = {
      "quantized_decomposed.quantize_per_tensor.default", "et_vk.q8ta_conv2d.default",
      "quantized_decomposed.dequantize_per_tensor.default", "aten.hardswish.default"};
  TraceBuilder trace;
  std::vector<Op> events;
  for (int i = 0; i < 4; ++i) {  // other delegates built 40 operators before
    events.push_back(
        dispatch(payload[static_cast<size_t>(i)], 41 + i, fmt::format("shader{}", i), i, 1000, 10));
  }
  trace.delegate(0, "", events);
  const Profile profile = profile_of(std::move(trace), &record, {{0, {"VulkanBackend", payload}}});
  const std::vector<std::string> ops = ops_of(only_queue(profile));
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_THAT(ops[0], HasSubstr("quantize_per_tensor"));
  EXPECT_THAT(ops[1], testing::StartsWith("aten.convolution.default"));
  EXPECT_THAT(ops[1], HasSubstr("aten.relu.default"));
  EXPECT_THAT(ops[2], testing::StartsWith("quantized_decomposed.dequantize_per_tensor"));
  EXPECT_EQ(ops[3], "aten.hardswish.default");
  EXPECT_EQ(profile.queues[0].rows[2].modules, std::vector<std::string>{"r"});
  // The trace does not have events for the phases of the call, so the whole call is a single row
  // for the CPU.
  EXPECT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(profile.rows[0].phase, "call");
}

TEST(DeviceQueues, OldVulkanTracesAreJoinedByKernelNamesAlone) {
  TraceBuilder trace;
  trace.delegate(0, "",
                 {on_device({.name = "nchw_to_image_half_0"}, 5, 6),
                  on_device({.name = "conv2d_clamp_half_163"}, 7, 17),
                  on_device({.name = "gelu_half_164"}, 20, 24)});
  const Profile profile =
      profile_of(std::move(trace), nullptr,
                 {{0, {"VulkanBackend", {"et_vk.conv_with_clamp.default", "aten.gelu.default"}}}});
  EXPECT_THAT(ops_of(only_queue(profile)),
              ElementsAre("copy in", "et_vk.conv_with_clamp.default", "aten.gelu.default"));
  EXPECT_EQ(profile.queues[0].rows[1].kernel, "conv2d_clamp_half");
}

TEST(DeviceQueues, HostileVulkanEventsAreNotJoined) {
  const EtRecord record = two_delegates_record();
  TraceBuilder trace;
  std::vector<Op> events;
  const auto add = [&](std::string name) {
    events.push_back(on_device({.name = std::move(name)}, 90, 20));
  };
  add(R"({"operator": {"name": "aten.relu.default)");
  add(R"({"operator": {"name": "x", "args": []}, "operator_id": 99999999999999999999999, "dispatch_id": 1})");
  add(R"({"operator": {"name": "x", "args": []}, "operator_id": 18446744073709551615, "dispatch_id": 2})");
  add(R"({"operator": {"name": "aten.relu.default", "delegate_node_id": 4294967295, "dispatch_id": 3})");
  add(R"({Blit_Float_to_Half, "dispatch_id": 5})");
  add("{");
  add("_");
  add(std::string(1000, '9'));
  trace.delegate(0, "", events);
  trace.delegate(2147483647, "", events);  // an instruction that no program has
  const Profile profile = profile_of(std::move(trace), &record, two_delegates_program());
  for (const ProfileRow& row : only_queue(profile).rows) EXPECT_THAT(row.debug_handles, IsEmpty());
  EXPECT_THAT(profile.notes, Contains(HasSubstr("end before they start")));
  EXPECT_DOUBLE_EQ(profile.queues[0].wall.p50, 0);
  EXPECT_THAT(report_table(profile, {.width = 100}), HasSubstr("Vulkan GPU"));
  EXPECT_NO_THROW(report_html(profile));
}

Profile mapped_profile(const std::string& backend, const std::string& map,
                       const std::vector<Op>& events) {
  TraceBuilder trace;
  trace.delegate(0, "", events);
  const EtRecord record = test::record_of(
      {{"aten_mul_tensor", "aten.mul.Tensor", 1, {"x"}, "a"},
       {"aten_relu_default", "aten.relu.default", 2, {"aten_mul_tensor"}, "b"},
       {"aten_relu_default_1", "aten.relu.default", 3, {"aten_relu_default"}, "c"}},
      R"({"0": [1, 2, 3]})",
      fmt::format(R"({{"0": {{"name": "{}", "delegate_map": {}}}}})", backend, map));
  etdump::EtDump dump = trace.dump();
  // The Ethos-U backend logs events with a name and without an identifier.
  for (etdump::ProfileEvent& event : dump.blocks[0].profile_events) {
    if (event.delegate_debug_name.find("EthosU") == std::string_view::npos) continue;
    event.name = event.delegate_debug_name;
    event.delegate_debug_name = {};
  }
  return make_profile(dump, &record, {.delegates = all_profiles()});
}

TEST(DeviceQueues, CoreMlQueueHasEstimatedTimesAndExactJoins) {
  const std::string unit = R"({"preferredComputeUnit":"NE","estimatedCost":0.5})";
  const Profile profile = mapped_profile(
      "CoreMLBackend", R"({"y_cast_fp16:relu": [2], "t:mul": [1]})",
      {on_device({.name = "y_cast_fp16:ios17.relu", .metadata = unit}, 100, 140),
       on_device({.name = "t:mul", .metadata = unit}, 90, 100),
       on_device({.name = "aten_relu_default_1_cast_fp16:cast", .metadata = unit}, 140, 141)});
  EXPECT_EQ(profile.rows.size(), 1u);  // the call, which is measured
  const Profile& queue = only_queue(profile);
  EXPECT_THAT(queue.queue, HasSubstr("estimated"));
  EXPECT_THAT(ops_of(queue),
              ElementsAre("aten.relu.default", "aten.mul.Tensor", "aten.relu.default"));
  EXPECT_EQ(queue.rows[0].join, Join::kExact);
  EXPECT_EQ(queue.rows[0].modules, std::vector<std::string>{"b"});
  EXPECT_EQ(queue.rows[0].kernel, "relu on NE");
  EXPECT_EQ(queue.rows[2].modules, std::vector<std::string>{"c"});
  EXPECT_EQ(queue.rows[2].join, Join::kInferred);
}

TEST(DeviceQueues, QnnCyclesBecomeTicksAndOtherValuesBecomeFigures) {
  const auto cycles = [](const std::string& name, uint64_t value) {
    return on_device({.name = name}, 0, value);
  };
  const Profile profile = mapped_profile(
      "QnnBackend", "{}",
      {cycles("RPC (execute) time (us)", 777), cycles("Number of HVX threads used (count)", 4),
       cycles("Accelerator (execute) time (cycles)", 5000), cycles("Input OpId_2 (cycles)", 10),
       cycles("aten_mul_tensor:OpId_61 (cycles)", 3000),
       cycles("aten_relu_default_1_sha_concat:OpId_62 (cycles)", 1990)});
  const Profile& queue = only_queue(profile);
  EXPECT_TRUE(queue.has_ticks);
  EXPECT_DOUBLE_EQ(queue.wall.p50, 5000);
  EXPECT_THAT(ops_of(queue),
              ElementsAre("input", "aten.mul.Tensor + aten.relu.default", "aten.relu.default"));
  EXPECT_EQ(queue.rows[2].modules, std::vector<std::string>{"c"});
  EXPECT_DOUBLE_EQ(sum_of(profile), profile.wall.p50);
  EXPECT_THAT(profile.notes, Contains(HasSubstr("RPC (execute) time (us) 777")));
  const std::string table = report_table(profile, {.width = 100});
  EXPECT_THAT(table, HasSubstrs("p50 ticks", "3000"));
}

TEST(DeviceQueues, NeutronKernelsAreJoinedByTheDelegateMap) {
  const Profile profile =
      mapped_profile("NeutronBackend", R"({"0": [1], "1": [2, 3]})",
                     {on_device({.id = 0, .metadata = "\x07"}, 0, 40),
                      on_device({.id = 1, .metadata = "\x08"}, 40, 100),
                      on_device({.id = 2, .metadata = std::string(1, '\0')}, 0, 99'000)});
  EXPECT_THAT(ops_of(only_queue(profile)),
              ElementsAre("aten.mul.Tensor", "aten.relu.default aten.relu.default"));
  EXPECT_DOUBLE_EQ(only_queue(profile).wall.p50, 100);
}

TEST(DeviceQueues, EthosUAndVgfPhasesBecomeCpuRows) {
  const std::string name = "EthosUBackend::execute()";
  const Profile ethos = mapped_profile("EthosUBackend", "{}",
                                       {{.name = "+" + name + "handles.input.memcpy()", .ns = 10},
                                        {.name = "+" + name + "NPU", .ns = 900},
                                        {.name = name, .ns = 1000}});
  EXPECT_THAT(ethos.queues, IsEmpty());
  EXPECT_THAT(ops_of(ethos),
              ElementsAre("handles.input.memcpy()",
                          "NPU aten.mul.Tensor aten.relu.default aten.relu.default"));
  EXPECT_DOUBLE_EQ(sum_of(ethos), ethos.wall.p50);

  const Profile vgf = mapped_profile("VgfBackend", "{}",
                                     {{.name = "VGF_COPY_INPUTS", .ns = 10},
                                      {.name = "VGF_QUEUE_SUBMIT_AND_WAIT_FENCE", .ns = 80},
                                      {.name = "VGF_DISPATCH_AND_WAIT", .ns = 90},
                                      {.name = "VGF_EXECUTE", .ns = 100}});
  EXPECT_EQ(vgf.rows.size(), 2u);
  EXPECT_EQ(vgf.rows[1].phase, "run graph");
}

TEST(DeviceQueues, ReportsShowEachQueueSeparately) {
  const EtRecord record = two_delegates_record();
  const Profile profile = profile_of(two_delegates(), &record, two_delegates_program());
  for (const size_t width : {80, 100}) {
    const std::string table = report_table(profile, {.width = width});
    EXPECT_THAT(table, HasSubstrs("Vulkan GPU", "sum"));
  }
  const Profile stored = read_profile(report_json(profile), "profile", all_profiles());
  EXPECT_EQ(only_queue(stored).rows.size(), 7u);
  EXPECT_EQ(stored.rows[1].phase, "run graph");
  EXPECT_DOUBLE_EQ(stored.queues[0].wall.p50, profile.queues[0].wall.p50);

  const std::string rows = report_csv(profile);
  EXPECT_THAT(rows, HasSubstrs(",share,queue\r\n", ",Vulkan GPU\r\n"));
  const std::string lines = report_jsonl(profile, {});
  EXPECT_THAT(lines, HasSubstrs(R"("where":"device")", R"("queue":"Vulkan GPU")"));

  // The timeline places the first GPU event of a call at the start of the call.
  const auto timeline = nlohmann::json::parse(report_timeline(profile));
  double call = -1, first = -1;
  for (const auto& event : timeline["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["cat"] == "call" && call < 0) call = event["ts"];
    if (event["pid"] == 2 && first < 0) first = event["ts"];
  }
  EXPECT_GT(call, 0);
  EXPECT_DOUBLE_EQ(first, call);

  const Comparison same = compare_profiles(profile, stored, false);
  ASSERT_EQ(same.queues.size(), 1u);
  EXPECT_EQ(same.queues[0].comparison.aligned_rows_a, 7u);
  EXPECT_DOUBLE_EQ(same.queues[0].comparison.wall.change, 0);
  for (const std::string& text :
       {report_comparison(same, profile, stored, {.width = 100}),
        report_comparison_json(same, profile, stored), report_comparison_csv(same, profile, stored),
        report_comparison_html(same, profile, stored)}) {
    EXPECT_THAT(text, HasSubstr("Vulkan GPU"));
  }
}

}  // namespace
}  // namespace vitrine::inspector
