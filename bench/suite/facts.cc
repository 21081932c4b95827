#include "bench/suite/facts.h"

#include <sys/utsname.h>

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "bench/suite/build_facts.h"
#include "tools/common/machine_limits.h"
#include "vitrine/thread_pool.h"

namespace vitrine::bench {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

}  // namespace

std::map<std::string, std::string> run_facts() {
  utsname system{};
  uname(&system);
  double load = 0;
  getloadavg(&load, 1);
  return {{"machine", tools::machine_name()},
          {"cores", std::to_string(performing_core_count())},
          {"system", fmt::format("{} {}, {}", system.sysname, system.release, system.machine)},
          {"compiler", kCompiler},
          {"flags", kFlags},
          {"commit", kCommit},
          {"date", now()},
          {"load", fmt::format("{:.2f}", load)}};
}

}  // namespace vitrine::bench
