#include "tools/common/progress.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "runtime/platform/clock.h"

namespace vitrine::tools {
namespace {

constexpr uint64_t kFirstNs = 2'000'000'000;
constexpr uint64_t kPauseNs = 200'000'000;  // minimum time between two texts

}  // namespace

std::string progress_text(const std::string& what, size_t done, size_t all, double elapsed_s) {
  if (done == 0 || all == 0) return what + ": 0 %";
  const double share = static_cast<double>(done) / static_cast<double>(all);
  const auto left = static_cast<int64_t>(std::ceil(elapsed_s * (1 - share) / share));
  const std::string time =
      left < 60 ? fmt::format("{} s", left) : fmt::format("{} min {:02} s", left / 60, left % 60);
  return fmt::format("{}: {:.0f} %, {} left", what, std::floor(100 * share), time);
}

Progress::Progress(std::string what)
    : what_(std::move(what)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_ns_(platform::now_ns()),
      last_ns_(start_ns_ + kFirstNs - kPauseNs) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (is_shown_) fmt::print(stderr, "\r\033[K");
  is_shown_ = false;
}

void Progress::update(size_t done, size_t all) {
  if (!is_terminal_) return;
  const uint64_t now = platform::now_ns();
  if (now < last_ns_ + kPauseNs) return;
  last_ns_ = now;
  is_shown_ = true;
  fmt::print(stderr, "\r\033[K{}",
             progress_text(what_, done, all, static_cast<double>(now - start_ns_) * 1e-9));
  std::fflush(stderr);
}

}  // namespace vitrine::tools
