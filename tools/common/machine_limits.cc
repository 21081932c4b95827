#include "tools/common/machine_limits.h"

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

#include "runtime/platform/clock.h"
#include "tools/common/files.h"
#include "tools/common/multiply_add.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;  // version of the cache file; version 1 may have wrong figures
constexpr int kTrials = 30;
constexpr double kMaxNs = 2e9;  // time limit for all trials of a figure
// Duration of a trial in ns. Short trials often run without interruption, even on a busy machine.
constexpr double kTrialNs = 4e6;
constexpr double kMinCpuShare = 0.97;
constexpr size_t kCopyBufferBytes = size_t{64} << 20;  // larger than most processors' caches
constexpr size_t kCopyBytes = size_t{1} << 20;

struct Trial {
  double ns = 0;             // time from the common start to the last end
  bool is_disturbed = true;  // a thread waited for a processor
};

// Runs work(thread, count) on all threads at the same time.
template <class Work>
Trial timed(uint32_t threads, size_t count, Work work) {
  std::atomic<uint32_t> waiting{threads};
  std::atomic<bool> go{false};
  std::atomic<bool> is_disturbed{false};
  std::vector<std::thread> pool;
  for (uint32_t i = 0; i < threads; ++i) {
    pool.emplace_back([&, i] {
      --waiting;
      while (!go) std::this_thread::yield();
      const uint64_t start = platform::now_ns();
      const uint64_t cpu_start = platform::thread_cpu_ns();
      work(i, count);
      const auto cpu = static_cast<double>(platform::thread_cpu_ns() - cpu_start);
      const auto wall = static_cast<double>(platform::now_ns() - start);
      if (cpu < kMinCpuShare * wall) is_disturbed = true;
    });
  }
  while (waiting != 0) std::this_thread::yield();
  const uint64_t start = platform::now_ns();
  go = true;
  for (std::thread& thread : pool) thread.join();
  return {static_cast<double>(platform::now_ns() - start), is_disturbed};
}

// Returns the best rate of the undisturbed trials, in units of work per ns, summed over all
// threads. Returns 0 if other programs disturbed all trials.
template <class Work>
double best_rate(uint32_t threads, Work work) {
  size_t count = 1;
  while (timed(threads, count, work).ns < kTrialNs &&
         count < std::numeric_limits<size_t>::max() / 2) {
    count *= 2;
  }
  double rate = 0;
  const uint64_t start = platform::now_ns();
  for (int done = 0; done < kTrials;) {
    if (static_cast<double>(platform::now_ns() - start) > kMaxNs) break;
    const Trial trial = timed(threads, count, work);
    if (trial.is_disturbed) continue;
    rate = std::max(rate, static_cast<double>(count) / trial.ns);
    ++done;
  }
  return rate * threads;
}

json read_cache(const std::filesystem::path& file) {
  json cache;
  try {
    const std::vector<std::byte> bytes = read_file(file);
    // libc++ lacks character traits for std::byte.
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    cache = json::parse(text, text + bytes.size(), nullptr, false);
  } catch (const ToolError&) {
    // A cache file that cannot be read counts as empty.
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
    // The next call measures the limits again.
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
    std::vector<char> from = std::vector<char>(kCopyBufferBytes, 1);
    std::vector<char> to = std::vector<char>(kCopyBufferBytes, 2);
    size_t at = 0;
  };
  std::vector<Buffers> buffers(limits.threads);
  limits.bytes_per_s =
      1e9 * 2 * static_cast<double>(kCopyBytes) *
      best_rate(limits.threads, [&](uint32_t thread, size_t count) {
        Buffers& own = buffers[thread];
        for (size_t i = 0; i < count; ++i) {
          std::memcpy(own.to.data() + own.at, own.from.data() + own.at, kCopyBytes);
          own.at = (own.at + kCopyBytes) % kCopyBufferBytes;
        }
      });
  return limits;
}

inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache_file,
                                        bool measure_again) {
  const std::string key = fmt::format("{}, {} threads", machine_name(), threads);
  json cache = cache_file.empty() ? json() : read_cache(cache_file);
  if (!measure_again && cache.is_object() && cache.at("machines").contains(key)) {
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
  if (!cache_file.empty() && limits.is_measured()) {
    cache["machines"][key] = {{"flops_per_s", limits.flops_per_s},
                              {"bytes_per_s", limits.bytes_per_s}};
    write_cache(cache_file, cache);
  }
  return limits;
}

std::optional<inspector::MachineLimits> limits_for_profile(uint32_t threads,
                                                           std::vector<std::string>& warnings) {
  inspector::MachineLimits limits = machine_limits(threads, default_cache_file());
  if (limits.is_measured()) return limits;
  warnings.emplace_back(
      "the limits of this machine could not be measured, because other programs are running: "
      "repeat "
      "--roofline on an idle machine");
  return std::nullopt;
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
