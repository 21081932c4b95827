#include "bench/suite/progress.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "runtime/platform/clock.h"

namespace vitrine::bench {
namespace {

std::string duration(double seconds) {
  const auto rounded = static_cast<int>(seconds + 0.5);
  return rounded < 60 ? fmt::format("{} s", rounded)
                      : fmt::format("{} min {:02} s", rounded / 60, rounded % 60);
}

}  // namespace

void Progress::add(std::string name, double seconds, std::function<void()> run) {
  steps_.push_back({std::move(name), seconds, std::move(run)});
}

void Progress::run() {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  double all = 0;
  for (const Step& step : steps_) all += step.seconds;
  double done = 0;
  const uint64_t start = platform::now_ns();
  for (const Step& step : steps_) {
    const double elapsed = static_cast<double>(platform::now_ns() - start) * 1e-9;
    // The ratio of the elapsed time to the estimate. Five seconds keep the ratio near 1 at the
    // start.
    const double pace = (elapsed + 5) / (done + 5);
    fmt::print(stderr, "{}[{:3.0f} %] {} left: {}{}", terminal ? "\r\033[K" : "", 100 * done / all,
               duration((all - done) * pace), step.name, terminal ? "" : "\n");
    std::fflush(stderr);
    step.run();
    done += step.seconds;
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
}

}  // namespace vitrine::bench
