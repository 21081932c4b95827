#include "tools/common/cpu_use.h"

#include <sched.h>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/platform/clock.h"
#include "runtime/platform/control_group.h"

namespace vitrine::tools {
namespace {

// Returns the time that ready threads waited for a processor: the sum of the second fields of the
// files /proc/self/task/<id>/schedstat.
double waited_ns() {
  double sum = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
       !error && task != end; task.increment(error)) {
    std::ifstream file(task->path() / "schedstat");
    double ran = 0;
    double waited = 0;
    if (file >> ran >> waited) sum += waited;
  }
  return sum;
}

CpuUse now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {.wall_ns = static_cast<double>(platform::now_ns()),
          .cpu_ns = static_cast<double>(cpu.tv_sec) * 1e9 + static_cast<double>(cpu.tv_nsec),
          .waited_ns = waited_ns()};
}

}  // namespace

CpuMeter::CpuMeter() : start_(now()) {}

CpuUse CpuMeter::read() const {
  const CpuUse end = now();
  return {.wall_ns = end.wall_ns - start_.wall_ns,
          .cpu_ns = end.cpu_ns - start_.cpu_ns,
          .waited_ns = std::max(end.waited_ns - start_.waited_ns, 0.0)};
}

size_t allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const size_t affinity = sched_getaffinity(0, sizeof set, &set) == 0
                              ? static_cast<size_t>(CPU_COUNT(&set))
                              : CPU_SETSIZE;
  return static_cast<size_t>(std::min<uint64_t>(affinity, platform::control_group_processors()));
}

std::string cpu_shortage(const CpuUse& use, size_t threads, size_t processors) {
  constexpr double kMinLossNs = 5e6;
  constexpr double kMinShare = 0.9;
  const double of_one = use.wall_ns > 0 ? use.cpu_ns / use.wall_ns : 1;
  const double waited = use.wall_ns > 0 ? use.waited_ns / use.wall_ns : 0;
  if (of_one < kMinShare && use.wall_ns - use.cpu_ns > kMinLossNs) {
    return fmt::format(
        "the process got {:.0f} % of a processor during its runs, because other programs or a "
        "quota took the rest; the times are too long: repeat on an idle machine",
        100 * of_one);
  }
  if (threads > processors) {
    return fmt::format("{} threads share {} processor{}; the times are too long: use fewer threads",
                       threads, processors, processors == 1 ? "" : "s");
  }
  if (waited > 1 - kMinShare && use.waited_ns > kMinLossNs) {
    return fmt::format(
        "threads waited for a processor during {:.0f} % of the runs, because of other programs; "
        "the times are too long: repeat on an idle machine",
        100 * waited);
  }
  return "";
}

}  // namespace vitrine::tools
