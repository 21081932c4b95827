#include "host/machine_limits.h"

#include <sys/utsname.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "host/files.h"
#include "host/multiply_add.h"
#include "host/tool_error.h"
#include "runtime/platform/clock.h"

namespace vitrine::tools {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;  // of the cache
constexpr int kTrials = 9;
constexpr double kTrialNs = 40e6;
constexpr size_t kCopyBytes = size_t{64} << 20;  // beyond the last cache of most machines

// Runs work(thread, count) on all threads at once. Returns the time from the common start to the
// last end.
template <class Work>
double timed(uint32_t threads, size_t count, Work work) {
  std::atomic<uint32_t> waiting{threads};
  std::atomic<bool> go{false};
  std::vector<std::thread> pool;
  for (uint32_t i = 0; i < threads; ++i) {
    pool.emplace_back([&, i] {
      --waiting;
      while (!go) std::this_thread::yield();
      work(i, count);
    });
  }
  while (waiting != 0) std::this_thread::yield();
  const uint64_t start = platform::now_ns();
  go = true;
  for (std::thread& thread : pool) thread.join();
  return static_cast<double>(platform::now_ns() - start);
}

// The best of several trials, each long enough for the clock, in units of `count` per nanosecond.
template <class Work>
double best_rate(uint32_t threads, Work work) {
  size_t count = 1;
  double ns = timed(threads, count, work);
  while (ns < kTrialNs && count < std::numeric_limits<size_t>::max() / 2) {
    count *= 2;
    ns = timed(threads, count, work);
  }
  double rate = static_cast<double>(count) / ns;
  for (int i = 1; i < kTrials; ++i) {
    rate = std::max(rate, static_cast<double>(count) / timed(threads, count, work));
  }
  return rate * threads;
}

json read_cache(const std::filesystem::path& file) {
  json cache;
  try {
    cache = json::parse(read_file(file), nullptr, false);
  } catch (const ToolError&) {
    // As if there were none.
  }
  const bool is_ours = cache.is_object() && cache.value("version", json()) == json(kVersion) &&
                       cache.contains("machines") && cache.at("machines").is_object();
  return is_ours ? cache : json{{"version", kVersion}, {"machines", json::object()}};
}

void write_cache(const std::filesystem::path& file, const json& cache) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) return;
  try {
    write_file(file, cache.dump(1) + "\n");
  } catch (const ToolError&) {
    // Measured again next time.
  }
}

}  // namespace

std::string machine_name() {
  constexpr std::string_view kField = "model name";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(kField) && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
}

double measure_operations(uint32_t threads, ScalarType dtype) {
  constexpr size_t kRounds = 4096;
  const MultiplyAdd chains = multiply_add(dtype);
  if (chains.run == nullptr) return 0;
  return 1e9 * static_cast<double>(kRounds * chains.operations) *
         best_rate(std::max(threads, uint32_t{1}), [&](uint32_t, size_t count) {
           for (size_t i = 0; i < count; ++i) chains.run(kRounds);
         });
}

inspector::MachineLimits measure_machine_limits(uint32_t threads) {
  inspector::MachineLimits limits{.flops_per_s = measure_operations(threads, ScalarType::kFloat),
                                  .bytes_per_s = 0,
                                  .threads = std::max(threads, uint32_t{1}),
                                  .machine = machine_name()};
  struct Buffers {
    std::vector<char> from = std::vector<char>(kCopyBytes, 1);
    std::vector<char> to = std::vector<char>(kCopyBytes, 2);
  };
  std::vector<Buffers> buffers(limits.threads);
  limits.bytes_per_s = 1e9 * 2 * static_cast<double>(kCopyBytes) *
                       best_rate(limits.threads, [&](uint32_t thread, size_t count) {
                         Buffers& own = buffers[thread];
                         for (size_t i = 0; i < count; ++i) {
                           std::memcpy(own.to.data(), own.from.data(), kCopyBytes);
                           std::swap(own.to, own.from);
                         }
                       });
  return limits;
}

inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache_file) {
  const std::string key = fmt::format("{}, {} threads", machine_name(), threads);
  json cache = cache_file.empty() ? json() : read_cache(cache_file);
  if (cache.is_object() && cache.at("machines").contains(key)) {
    const json& entry = cache.at("machines").at(key);
    if (entry.is_object() && entry.contains("flops_per_s") && entry.contains("bytes_per_s") &&
        entry.at("flops_per_s").is_number() && entry.at("bytes_per_s").is_number()) {
      return {.flops_per_s = entry.at("flops_per_s").get<double>(),
              .bytes_per_s = entry.at("bytes_per_s").get<double>(),
              .threads = threads,
              .machine = machine_name()};
    }
  }
  inspector::MachineLimits limits = measure_machine_limits(threads);
  if (!cache_file.empty()) {
    cache["machines"][key] = {{"flops_per_s", limits.flops_per_s},
                              {"bytes_per_s", limits.bytes_per_s}};
    write_cache(cache_file, cache);
  }
  return limits;
}

std::filesystem::path default_cache_file() {
  std::filesystem::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return {};
  }
  return folder / "vitrine" / "machine_limits.json";
}

}  // namespace vitrine::tools
