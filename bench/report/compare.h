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
  double ratio = 1;  // b_ns / a_ns
  double noise = 0;  // the sum of both noises
  bool is_noise() const { return within_noise(ratio, noise, 0); }
};

struct ResultsComparison {
  std::vector<Change> changes;  // figures of both files, the largest ratio first
  std::vector<std::string> only_a, only_b;
  std::vector<std::string> notes;  // differences of machine, CPUs, compiler, flags and mode
};

ResultsComparison compare_results(const Results& a, const Results& b);

bool is_worse(const Change& change, double bound);

// Lists the changes beyond the noise, the worst first.
std::string comparison_text(const ResultsComparison& comparison, double bound);

inline constexpr int kWorse = 2;
// Prints the comparison. Returns 0, or kWorse if a figure of `b` is worse. Throws a HostError if a
// file cannot be read or the files have no common figure.
int compare_files(const std::filesystem::path& a, const std::filesystem::path& b, double bound);

}  // namespace vitrine::bench
