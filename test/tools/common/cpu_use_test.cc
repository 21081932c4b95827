#include "tools/common/cpu_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace vitrine::tools {
namespace {

using testing::HasSubstr;

constexpr double kMs = 1e6;

TEST(CpuUse, ReportsAProcessThatGotAQuarterOfAProcessor) {
  EXPECT_THAT(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 100 * kMs}, 1, 4),
              HasSubstr("the process got 25 % of a processor"));
}

TEST(CpuUse, ReportsThreadsThatWaitedForAProcessor) {
  EXPECT_THAT(
      cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 500 * kMs, .waited_ns = 200 * kMs}, 2, 4),
      HasSubstr("during 50 % of the runs"));
}

TEST(CpuUse, ReportsMoreThreadsThanProcessors) {
  EXPECT_THAT(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 400 * kMs}, 2, 1),
              HasSubstr("2 threads share 1 processor; "));
}

TEST(CpuUse, AcceptsAProcessThatWaitedForAtMostOneTimeSlice) {
  EXPECT_EQ(cpu_shortage({.wall_ns = 400 * kMs, .cpu_ns = 396 * kMs, .waited_ns = 4 * kMs}, 1, 1),
            "");
  EXPECT_EQ(cpu_shortage({.wall_ns = 5 * kMs, .cpu_ns = 1 * kMs, .waited_ns = 4 * kMs}, 1, 1), "");
  EXPECT_EQ(cpu_shortage({}, 1, 1), "");
}

TEST(CpuUse, MeasuresASleepingProcess) {
  const CpuMeter meter;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const CpuUse use = meter.read();
  EXPECT_GE(use.wall_ns, 50 * kMs);
  EXPECT_LT(use.cpu_ns, use.wall_ns / 2);
  EXPECT_GE(allowed_processors(), 1u);
}

}  // namespace
}  // namespace vitrine::tools
