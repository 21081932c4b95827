#include "bench/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text/number_texts.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {

ResultsComparison compare_results(const Results& a, const Results& b) {
  ResultsComparison comparison;
  for (const Result& result : a.results) {
    if (!result.has_time()) continue;
    const Result* other = b.find(result.id());
    if (other == nullptr || !other->has_time()) {
      comparison.only_a.push_back(result.id());
      continue;
    }
    comparison.changes.push_back({result.id(), result.time.p50, other->time.p50,
                                  other->time.p50 / result.time.p50,
                                  result.time.noise + other->time.noise});
  }
  for (const Result& result : b.results) {
    const Result* other = a.find(result.id());
    if (result.has_time() && (other == nullptr || !other->has_time())) {
      comparison.only_b.push_back(result.id());
    }
  }
  std::ranges::stable_sort(comparison.changes, std::greater(), &Change::ratio);
  for (const char* fact : {"machine", "pinned", "compiler", "flags", "mode"}) {
    const auto text = [&](const Results& results) {
      const auto found = results.facts.find(fact);
      return found == results.facts.end() ? std::string("unknown") : found->second;
    };
    if (text(a) == text(b)) continue;
    comparison.notes.push_back(fmt::format("{}: A has {}, B has {}", fact, text(a), text(b)));
  }
  return comparison;
}

bool is_worse(const Change& change, double bound) {
  return change.ratio > bound && !change.is_noise();
}

std::string comparison_text(const ResultsComparison& comparison, double bound) {
  std::string text;
  const auto time_text = [](double ns) { return inspector::unit_for(ns).with_name(ns); };
  size_t noise = 0;
  double logarithms = 0;
  for (const Change& change : comparison.changes) {
    logarithms += std::log(change.ratio);
    if (change.is_noise()) {
      ++noise;
      continue;
    }
    text += fmt::format("{:6.3f}  {:>10} -> {:>10}  noise {:4.1f} %  {}{}\n", change.ratio,
                        time_text(change.a_ns), time_text(change.b_ns), 100 * change.noise,
                        change.id, is_worse(change, bound) ? "  WORSE" : "");
  }
  const size_t count = comparison.changes.size();
  text += fmt::format("{} figures, {} of them unchanged within noise; geometric mean B/A {:.3f}\n",
                      count, noise,
                      std::exp(logarithms / static_cast<double>(std::max<size_t>(count, 1))));
  const auto missing = [&](const std::vector<std::string>& ids, const char* file) {
    if (!ids.empty())
      text += fmt::format("{} figures only in {}, such as {}\n", ids.size(), file, ids[0]);
  };
  missing(comparison.only_a, "A");
  missing(comparison.only_b, "B");
  for (const std::string& note : comparison.notes) text += fmt::format("note: {}\n", note);
  return text;
}

int compare_files(const std::filesystem::path& a, const std::filesystem::path& b, double bound) {
  const ResultsComparison comparison = compare_results(read_results(a), read_results(b));
  if (comparison.changes.empty()) {
    throw tools::ToolError(
        fmt::format("{} and {} have no figure in common", a.string(), b.string()));
  }
  const std::string text = comparison_text(comparison, bound);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const bool worse = std::ranges::any_of(
      comparison.changes, [&](const Change& change) { return is_worse(change, bound); });
  return worse ? kWorse : 0;
}

}  // namespace vitrine::bench
