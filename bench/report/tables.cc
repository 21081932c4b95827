#include "bench/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "bench/report/number_texts.h"

namespace vitrine::bench {
namespace {

std::string optional_time(const std::optional<double>& ns) { return ns ? time_text(*ns) : ""; }
std::string optional_bytes(const std::optional<double>& size) {
  return size ? bytes_text(*size) : "";
}

// The same, done in another way; null if it was not measured.
const Result* other(const Results& results, const Result& result, const char* variant) {
  Result key = result;
  key.variant = variant;
  const Result* found = results.find(key.id());
  return found != nullptr && found->has_time() ? found : nullptr;
}

// "0.43", in parentheses if it may be chance; empty without the other figure.
std::string ratio_text(const Result* result, const Result* base) {
  if (result == nullptr || base == nullptr || result == base) return "";
  const double ratio = result->time.p50 / base->time.p50;
  const bool is_chance = within_noise(ratio, result->time.noise, base->time.noise);
  return is_chance ? fmt::format("({:.2f})", ratio) : fmt::format("{:.2f}", ratio);
}

PageTable models_table(const Results& results) {
  PageTable table{"Models",
                  "Times of a run. The ratio is to the optimised kernels on as many threads, in "
                  "parentheses if it may be chance.",
                  {{"model", false},
                   {"variant", false},
                   {"threads"},
                   {"p50"},
                   {"p90"},
                   {"p99"},
                   {"noise"},
                   {"ratio"},
                   {"of limit"},
                   {"limit", false}},
                  {}};
  for (const Result& result : results.results) {
    if (result.section != "models" || !result.has_time()) continue;
    table.rows.push_back({result.name, result.variant, std::to_string(result.threads),
                          time_text(result.time.p50), time_text(result.time.p90),
                          time_text(result.time.p99),
                          fmt::format("{:.1f} %", 100 * result.time.noise),
                          ratio_text(&result, other(results, result, "optimized")),
                          percent_text(result.of_limit), result.limit});
  }
  return table;
}

// The time for copying the file once, as a share of that for loading the method. Delegates pack
// their weights then; kernels leave theirs where they are.
std::optional<double> init_of_copy(const Results& results, const Result& result) {
  const auto rate = results.copy_bytes_per_s.find(result.threads);
  if (rate == results.copy_bytes_per_s.end() || result.delegates.value_or(0) == 0 ||
      result.init_ns.value_or(0) <= 0) {
    return std::nullopt;
  }
  return 2 * result.file_bytes.value_or(0) / rate->second * 1e9 / *result.init_ns;
}

PageTable start_table(const Results& results) {
  PageTable table{"Start and memory",
                  "Of a new process, with its files in the page cache: medians. Peak memory is "
                  "resident, the program's own pages and code included. The limit of init, where "
                  "delegates pack weights, is copying the file once.",
                  {{"model", false},
                   {"variant", false},
                   {"threads"},
                   {"load"},
                   {"init"},
                   {"init, of limit"},
                   {"first run"},
                   {"peak memory"},
                   {"file"}},
                  {}};
  for (const Result& result : results.results) {
    if (result.section != "models" || !result.first_ns) continue;
    table.rows.push_back({result.name, result.variant, std::to_string(result.threads),
                          optional_time(result.load_ns), optional_time(result.init_ns),
                          percent_text(init_of_copy(results, result)),
                          optional_time(result.first_ns), optional_bytes(result.peak_bytes),
                          optional_bytes(result.file_bytes)});
  }
  return table;
}

std::string crossing_text(const Crossing& crossing) {
  if (!crossing.work) return "never";
  return *crossing.work == 0 ? "always"
                             : fmt::format("{} {}", count_text(*crossing.work), crossing.unit);
}

}  // namespace

PageTable model_overview(const Results& results) {
  struct Variant {
    const char* name;
    const char* title;
  };
  static constexpr std::array<Variant, 6> kVariants = {{{"portable", "portable"},
                                                        {"optimized", "optimised"},
                                                        {"optimized-graph", "`--optimize`"},
                                                        {"xnnpack", "XNNPACK"},
                                                        {"xnnpack-graph", "`--optimize`"},
                                                        {"executorch", "ExecuTorch's file"}}};
  PageTable table{"Models", "", {{"model", false}, {"threads"}}, {}};
  for (const Variant& variant : kVariants) table.columns.push_back({variant.title});
  table.columns.push_back({"bare XNNPACK's speed"});
  table.columns.push_back({"noise"});
  for (const Result& result : results.results) {
    if (result.section != "models" || result.variant != "optimized" || !result.has_time()) continue;
    std::vector<std::string> row = {result.name, std::to_string(result.threads)};
    double noise = 0;
    for (const Variant& variant : kVariants) {
      const Result* found = other(results, result, variant.name);
      row.push_back(found == nullptr ? "" : time_text(found->time.p50));
      if (found != nullptr) noise = std::max(noise, found->time.noise);
    }
    const Result* delegated = other(results, result, "xnnpack");
    const bool is_alone = delegated != nullptr && delegated->limit == "bare XNNPACK";
    row.push_back(is_alone ? percent_text(delegated->of_limit) : "");
    row.push_back(percent_text(noise));
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable operators_table(const Results& results, std::optional<size_t> threads) {
  PageTable table{"Operators",
                  "From which size on XNNPACK takes less time than the optimised kernel, and "
                  "the figures at the largest size: ratios to the optimised kernel.",
                  {{"operator", false},
                   {"threads"},
                   {"delegation pays from"},
                   {"largest"},
                   {"optimised"},
                   {"portable"},
                   {"XNNPACK"},
                   {"of limit"},
                   {"limit", false}},
                  {}};
  for (const Crossing& crossing : crossings_of(results)) {
    if (threads && crossing.threads != *threads) continue;
    const Result* largest = nullptr;
    for (const Result& result : results.results) {
      if (result.section == "operators" && result.name == crossing.op &&
          result.threads == crossing.threads && result.variant == "optimized" &&
          result.has_time() && (largest == nullptr || result.work > largest->work)) {
        largest = &result;
      }
    }
    if (largest == nullptr) continue;
    table.rows.push_back({crossing.op, std::to_string(crossing.threads), crossing_text(crossing),
                          count_text(largest->work.value_or(0)), time_text(largest->time.p50),
                          ratio_text(other(results, *largest, "portable"), largest),
                          ratio_text(other(results, *largest, "xnnpack"), largest),
                          percent_text(largest->of_limit), largest->limit});
  }
  return table;
}

PageTable runtime_table(const Results& results) {
  PageTable table{"Runtime",
                  "On one thread.",
                  {{"what", false},
                   {"variant", false},
                   {"p50"},
                   {"p90"},
                   {"p99"},
                   {"noise"},
                   {"of limit"},
                   {"limit", false}},
                  {}};
  for (const Result& result : results.results) {
    if (result.section != "runtime" || !result.has_time()) continue;
    table.rows.push_back({result.name, result.variant, time_text(result.time.p50),
                          time_text(result.time.p90), time_text(result.time.p99),
                          fmt::format("{:.1f} %", 100 * result.time.noise),
                          percent_text(result.of_limit), result.limit});
  }
  return table;
}

namespace {

std::string agreement_text(const Result& result, double least_db) {
  if (!result.sqnr_db) return "";
  return std::isinf(least_db) ? "equal" : fmt::format("{:.0f} dB", least_db);
}

}  // namespace

PageTable counts_table(const Results& results) {
  PageTable table{"Counts",
                  "What does not depend on the machine, and the least agreement of the outputs "
                  "with those of the portable kernels.",
                  {{"model", false},
                   {"variant", false},
                   {"instructions"},
                   {"delegates"},
                   {"planned memory"},
                   {"file"},
                   {"outputs agree to"}},
                  {}};
  for (const Result& result : results.results) {
    if (result.section != "models" || !result.instructions) continue;
    double least = std::numeric_limits<double>::infinity();
    bool is_first = true;
    for (const Result& each : results.results) {
      if (each.section != "models" || each.name != result.name || each.variant != result.variant) {
        continue;
      }
      is_first = is_first && (&each == &result || each.threads > result.threads);
      least = std::min(least, each.sqnr_db.value_or(least));
    }
    if (!is_first) continue;
    table.rows.push_back({result.name, result.variant, fmt::format("{:.0f}", *result.instructions),
                          fmt::format("{:.0f}", result.delegates.value_or(0)),
                          optional_bytes(result.planned_bytes), optional_bytes(result.file_bytes),
                          agreement_text(result, least)});
  }
  return table;
}

namespace {

// "100 GFLOP/s"; empty if it was not measured.
std::string rate_text(const std::map<size_t, double>& by_threads, size_t threads,
                      const char* unit) {
  const auto rate = by_threads.find(threads);
  return rate == by_threads.end() ? "" : count_text(rate->second) + unit;
}

PageTable limits_table(const Results& results) {
  PageTable table{"Limits of this machine",
                  "Measured in the same run: memory copied, read and written together; "
                  "multiply-adds, two operations each, of the dtypes that the processor has "
                  "instructions for.",
                  {{"threads"}, {"copy"}, {"f32"}},
                  {}};
  for (const auto& [dtype, by_threads] : results.narrow_multiply_adds_per_s) {
    table.columns.push_back({dtype});
  }
  for (const auto& [threads, rate] : results.copy_bytes_per_s) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {std::to_string(threads), bytes_text(rate) + "/s",
           rate_text(results.multiply_adds_per_s, threads, "FLOP/s")};
    for (const auto& [dtype, by_threads] : results.narrow_multiply_adds_per_s) {
      row.push_back(rate_text(by_threads, threads, "OP/s"));
    }
  }
  return table;
}

PageTable gaps_table(const Results& results) {
  PageTable table{
      "Without a figure", "", {{"what", false}, {"variant", false}, {"why", false}}, {}};
  for (const Result& result : results.results) {
    if (result.has_time() || result.note.empty()) continue;
    std::vector<std::string> row = {result.name, result.variant, result.note};
    if (std::ranges::find(table.rows, row) == table.rows.end())
      table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<PageTable> page_tables(const Results& results) {
  std::vector<PageTable> tables = {models_table(results),    start_table(results),
                                   operators_table(results), runtime_table(results),
                                   counts_table(results),    limits_table(results),
                                   gaps_table(results)};
  std::erase_if(tables, [](const PageTable& table) { return table.rows.empty(); });
  return tables;
}

std::string fact(const Results& results, const std::string& name) {
  const auto found = results.facts.find(name);
  return found == results.facts.end() ? "unknown" : found->second;
}

std::string cores_text(const Results& results) {
  const std::string cores = fact(results, "cores");
  const std::string text = cores + (cores == "1" ? " core" : " cores");
  return results.facts.contains("pinned") ? text + ", pinned to " + fact(results, "pinned") : text;
}

}  // namespace vitrine::bench
