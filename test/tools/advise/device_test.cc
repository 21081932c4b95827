// Tests advice for devices: the prediction of times on the device, and the check that a profile
// belongs to a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspector/report/report_json.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/advise/device_model.h"
#include "tools/advise/program_difference.h"
#include "tools/common/device_profile.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::test {
namespace {

using namespace vitrine::tools;  // NOLINT(google-build-using-namespace)
using inspector::Profile;
using inspector::ProfileRow;
using testing::HasSubstr;

constexpr double kWall = 1000;  // ns

ProfileRow row(const std::string& op, double share, const std::string& library = "optimized") {
  ProfileRow row;
  row.kernel = "aten::" + op + ".out";
  row.library = library;
  row.source_ops = {"aten." + op + ".default"};
  row.modules = row.source_lines = row.model_lines = {""};
  row.calls = 1;
  row.share = share;
  row.cost = inspector::Cost{.flops = 400, .bytes = 100, .is_float32 = true};
  return row;
}

Profile profile(std::vector<ProfileRow> rows) {
  Profile profile;
  profile.method = "forward";
  profile.runs = 1;
  profile.wall.p50 = kWall;
  profile.rows = std::move(rows);
  return profile;
}

inspector::MachineLimits limits(double flops_per_s, double bytes_per_s) {
  return {.flops_per_s = flops_per_s, .bytes_per_s = bytes_per_s, .threads = 1, .machine = "chip"};
}

Profile there() { return profile({row("convolution", 0.5), row("add", 0.5)}); }
Profile here() { return profile({row("convolution", 0.8), row("add", 0.2)}); }

void expect_ratio(const DevicePrediction& prediction, double low, double high) {
  EXPECT_NEAR(prediction.ratio.low, low * std::exp(-kBetweenMeasurements), 1e-9);
  EXPECT_NEAR(prediction.ratio.high, high * std::exp(kBetweenMeasurements), 1e-9);
}

TEST(DeviceModel, UnchangedRowsKeepTheTimeMeasuredOnTheDevice) {
  const DeviceModel model(there(), here());
  const DevicePrediction same = model.predict(here(), {0.9, 1.1});
  expect_ratio(same, 1, 1);
  EXPECT_EQ(same.kept, 2u);
  // The removed row runs the add, which takes half of the program's time on the device.
  const DevicePrediction removed = model.predict(profile({row("convolution", 1)}), {0.7, 0.9});
  expect_ratio(removed, 0.5, 0.5);
  EXPECT_EQ(removed.removed, 1u);
}

// On this machine, the new convolution takes 0.5 * 0.4 of the original program's time. The original
// convolution took 0.5 of the time on the device and 0.8 on this machine. The model therefore
// scales the new time by 0.5 / 0.8.
TEST(DeviceModel, PredictsNewRowsFromDeviceTimesOfTheSameOperator) {
  const DeviceModel model(there(), here());
  const Profile changed = profile({row("convolution", 0.5, "portable"), row("add", 0.5)});
  const double expected = 0.5 * 0.4 * 0.5 / 0.8;
  const DevicePrediction prediction = model.predict(changed, {0.4, 0.4});
  expect_ratio(prediction, 0.5 + expected / 1.5, 0.5 + expected * 1.5);
  EXPECT_EQ(prediction.added, 1u);
  EXPECT_NEAR(prediction.factor.low, 0.625 / 1.5, 1e-9);
}

TEST(DeviceModel, DifferenceInFlopsPerByteWidensTheIntervalOfNewDtypes) {
  Profile changed = profile({row("convolution", 0.5), row("add", 0.5)});
  changed.rows[0].cost->is_float32 = false;
  changed.rows[0].kernel = "int8";
  const double half = std::hypot(std::log(1.5), std::log(2.0));
  const auto factor = [&](const Profile& device, const Profile& host) {
    return DeviceModel(device, host).predict(changed, {0.4, 0.4}).factor.high / 0.625;
  };
  EXPECT_NEAR(factor(there(), here()), std::exp(half) * 2, 1e-9);  // the balance is unknown
  Profile device = there(), host = here();
  device.run.limits = limits(1e12, 1e10);
  host.run.limits = limits(1e12, 3e10);
  EXPECT_NEAR(factor(device, host), std::exp(half) * 3, 1e-9);
}

TEST(DeviceModel, NoFloatRowIsFasterThanTheDeviceCanCompute) {
  Profile device = there();
  device.run.limits = limits(1e9, 1e9);  // 400 FLOPs take 400 of 1000 ns
  const Profile changed = profile({row("convolution", 0.5, "portable"), row("add", 0.5)});
  const DevicePrediction prediction = DeviceModel(device, here()).predict(changed, {0.4, 0.4});
  expect_ratio(prediction, 0.5 + 0.4, 0.5 + 0.4);
}

TEST(DeviceModel, FewerKernelCallsCostLess) {
  const DeviceModel model(profile({row("convolution", 0.4), row("add", 0.4)}),
                          profile({row("convolution", 0.6), row("add", 0.3)}));
  // In the original program, the share of time outside of rows is 0.2 on the device and 0.1 on this
  // machine. One of two kernels remains, so the lower estimate is half of 0.2. On this machine, the
  // changed program spends 0.2 of its time outside of rows, which is 0.2 * 0.8 of the original
  // time. The upper estimate is twice this value, because the device's original share is twice this
  // machine's.
  const DevicePrediction prediction = model.predict(profile({row("convolution", 0.8)}), {0.8, 0.8});
  expect_ratio(prediction, 0.4 + 0.1, 0.4 + 0.2 * 0.8 * 2);
}

TEST(DeviceModel, OperatorsWithVaryingTimeRatiosWidenTheInterval) {
  // The operator "add" has two rows with equal weights. The ratio of the device's share of time to
  // this machine's share is 2 for one row and 1/2 for the other. The standard deviation of the
  // logarithms of these ratios is ln 2.
  const DeviceModel model(profile({row("add", 0.4), row("add", 0.2), row("mul", 0.4)}),
                          profile({row("add", 0.2), row("add", 0.4), row("mul", 0.4)}));
  const Interval factor = model.predict(profile({row("add", 1, "portable")}), {1, 1}).factor;
  const double half = std::hypot(std::log(1.5), 1.645 * std::log(2.0));
  EXPECT_NEAR(factor.high, std::exp(half), 1e-9);
  EXPECT_NEAR(factor.low, std::exp(-half), 1e-9);
}

TEST(DeviceProfile, ProgramsAreEqualIfDigestsOrRowsAreEqual) {
  EXPECT_EQ(program_difference(there(), here()), "");
  Profile other = profile({row("convolution", 0.8), row("mul", 0.2)});
  EXPECT_THAT(program_difference(there(), other), HasSubstr("row 2 is aten::add.out"));
  Profile device = there();
  device.run.model_digest = other.run.model_digest = "fnv1a64:1";
  EXPECT_EQ(program_difference(device, other), "");
  EXPECT_THAT(program_difference(there(), profile({row("convolution", 1)})),
              HasSubstr("the number of rows is 2 on the device, but 1 here"));
  other = here();
  other.run.inputs = {"f32[2]"};
  EXPECT_THAT(program_difference(there(), other), HasSubstr("the inputs are none on the device"));
  other = here();
  other.method = "decode";
  EXPECT_THAT(program_difference(there(), other), HasSubstr("the method is forward on the device"));
  other = here();
  other.rows[0].cost->flops *= 2;  // another size of image
  EXPECT_THAT(program_difference(there(), other),
              HasSubstr("row 1 (aten::convolution.out) are 500 on the device, but 900 here"));
  other = here();  // other widths with the same work in total
  other.rows[0].cost->flops += 100;
  other.rows[1].cost->flops -= 100;
  EXPECT_THAT(program_difference(there(), other), HasSubstr("500 on the device, but 600 here"));
}

TEST(DeviceProfile, ReadsNameAndCoresFromTheResultsOfTheDeviceScript) {
  const ScratchFolder scratch;
  Profile device = there();
  device.wall_samples = device.unattributed_samples = {{0, kWall}};
  for (ProfileRow& one : device.rows) one.samples = {{0, kWall / 2}};
  device.run.machine = "aarch64";
  write_file(scratch / "profile.json", inspector::report_json(device));
  EXPECT_EQ(read_device_profile(scratch / "profile.json", "--profile").name, "aarch64");
  write_file(scratch / "device.json", std::string(R"({"model_name": "Phone 9", "cores": [4, 5]})"));
  const DeviceProfile read = read_device_profile(scratch / "", "--profile");
  EXPECT_EQ(read.name, "Phone 9");
  EXPECT_EQ(read.processors, 2u);
  EXPECT_EQ(read.profile.rows.size(), 2u);
  device.runs = 0;
  device.wall_samples = device.unattributed_samples = {};
  for (ProfileRow& one : device.rows) one.samples = {};
  write_file(scratch / "profile.json", inspector::report_json(device));
  EXPECT_THROW(read_device_profile(scratch / "", "--profile"), ToolError);
}

CommandResult advise_for(const std::string& arguments) {
  return run_tool(VITRINE_COMMAND, "advise --force --seconds 0.3 " + arguments);
}

TEST(AdviseCommand, RejectsProfilesOfOtherPrograms) {
  const ScratchFolder scratch;
  const std::string json = (scratch / "p.json").string();
  const std::string model = sample("linear_relu/model.pt2");
  succeeded(run_tool(VITRINE_COMMAND, "profile --threads 1 --executions 3 -o " + json + " " +
                                          sample("add_mul/model.pte")));
  EXPECT_THAT(
      advise_for("--profile " + json + " " + model).err,
      HasSubstrs("the profile does not belong to the program of 'vitrine lower", "--baseline"));
  EXPECT_THAT(advise_for("--profile " + model + " " + model).err,
              HasSubstr("expected the profile of a device (JSON)"));
  EXPECT_EQ(advise_for("--profile " + json + " --apply 1 --verify " + model).exit_code, 64);
  EXPECT_EQ(advise_for("--profile " + json + " --no_trials " + model).exit_code, 64);
}

}  // namespace
}  // namespace vitrine::test
