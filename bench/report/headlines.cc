#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "bench/report/number_texts.h"
#include "bench/report/tables.h"

namespace vitrine::bench {
namespace {

// The geometric mean of the ratios of two variants' times, over all pairs of a section.
struct MeanRatio {
  double ratio = 1;
  size_t pairs = 0;
};
MeanRatio mean_ratio(const Results& results, const char* section, const char* variant,
                     const char* base) {
  double logarithms = 0;
  size_t pairs = 0;
  for (const Result& result : results.results) {
    if (result.section != section || result.variant != variant || !result.has_time()) continue;
    Result key = result;
    key.variant = base;
    const Result* other = results.find(key.id());
    if (other == nullptr || !other->has_time()) continue;
    logarithms += std::log(other->time.p50 / result.time.p50);
    ++pairs;
  }
  return {pairs == 0 ? 1 : std::exp(logarithms / static_cast<double>(pairs)), pairs};
}

void add_ratio(std::vector<Headline>& list, const Results& results, const char* what,
               const char* variant, const char* base) {
  const MeanRatio mean = mean_ratio(results, "models", variant, base);
  if (mean.pairs == 0) return;
  list.push_back({what, fmt::format("{:.2f} x", mean.ratio),
                  fmt::format("geometric mean of {} figures", mean.pairs)});
}

}  // namespace

std::vector<Headline> headlines(const Results& results) {
  std::vector<Headline> list;
  add_ratio(list, results, "optimised over portable", "optimized", "portable");
  add_ratio(list, results, "XNNPACK over optimised", "xnnpack", "optimized");
  add_ratio(list, results, "--optimize over optimised", "optimized-graph", "optimized");
  add_ratio(list, results, "--optimize over XNNPACK", "xnnpack-graph", "xnnpack");
  add_ratio(list, results, "our lowering over ExecuTorch's", "xnnpack", "executorch");
  double bare = 0;
  size_t count = 0;
  for (const Result& result : results.results) {
    if (result.limit != "bare XNNPACK" || !result.of_limit) continue;
    bare += *result.of_limit;
    ++count;
  }
  if (count != 0) {
    list.push_back({"of bare XNNPACK's speed", percent_text(bare / static_cast<double>(count)),
                    fmt::format("mean of {} figures", count)});
  }
  if (const Result* step = results.find("runtime/a step/untraced/1"); step != nullptr) {
    list.push_back({"a step of the executor", time_text(step->time.p50), "a one-element addition"});
  }
  for (const auto& [threads, rate] : results.copy_bytes_per_s) {
    if (threads != 1) continue;
    list.push_back({"copied on one thread", bytes_text(rate) + "/s", "read and written"});
  }
  return list;
}

std::vector<std::string> method_notes(const Results& results) {
  std::vector<std::string> notes = {
      "The variants of a subject run in turn in one process, each for a millisecond or one run at "
      "a "
      "time, so that a disturbance meets all of them.",
      "Every side is warmed up. The first run of a turn does not count if more follow.",
      "Outputs are compared before a figure counts: those of all variants with those of the "
      "portable kernels.",
      "Noise is half of the range of the medians of ten stretches of the runs, without the "
      "extremes: "
      "the median lies within it with 98 % probability. Smaller differences mean nothing.",
      "Arithmetic limits can exceed 100 % where a library's algorithm needs fewer operations, copy "
      "limits where data stay in caches."};
  const std::string load = fact(results, "load");
  if (std::strtod(load.c_str(), nullptr) > 0.5) {
    notes.push_back(
        fmt::format("The machine was not idle: its load average was {} when the run began.", load));
  }
  if (const std::string missing = fact(results, "operators without a case");
      !missing.empty() && missing != "unknown") {
    notes.push_back(
        fmt::format("Operators of XNNPACK that the suite has no case of: {}.", missing));
  }
  return notes;
}

}  // namespace vitrine::bench
