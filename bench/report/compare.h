// Two files of the suite's results side by side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace vitrine::bench {

struct Change {
  std::string id;
  double a_ns = 0;
  double b_ns = 0;
  double ratio = 1;  // b to a
  double noise = 0;  // of both
  bool is_noise() const { return within_noise(ratio, noise, 0); }
};

struct ResultsComparison {
  std::vector<Change> changes;  // of all figures that both have; the largest ratio first
  std::vector<std::string> only_a, only_b;
  std::vector<std::string> notes;  // other machine, compiler or flags
};

ResultsComparison compare_results(const Results& a, const Results& b);

// A figure is worse if its ratio exceeds `bound` and its change exceeds the noise.
bool is_worse(const Change& change, double bound);

// For people: what changed beyond the noise, worst first.
std::string comparison_text(const ResultsComparison& comparison, double bound);

inline constexpr int kWorse = 2;
// Prints the comparison. Returns 0, or kWorse if a figure of `b` is worse. HostError if a file
// cannot be read, or if the two have no figure in common.
int compare_files(const std::filesystem::path& a, const std::filesystem::path& b, double bound);

}  // namespace vitrine::bench
