// Compares two results files, A and B.
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
  double noise = 0;  // the sum of the noise of both
  bool is_noise() const { return within_noise(ratio, noise, 0); }
};

struct ResultsComparison {
  std::vector<Change> changes;  // all figures that both files have, the largest ratio first
  std::vector<std::string> only_a, only_b;
  std::vector<std::string> notes;  // differences of machine, CPUs, compiler, flags and mode
};

ResultsComparison compare_results(const Results& a, const Results& b);

// Returns true if `change.ratio` exceeds `bound` and the change is not noise.
bool is_worse(const Change& change, double bound);

// Returns a text that lists the changes beyond the noise, the worst first.
std::string comparison_text(const ResultsComparison& comparison, double bound);

inline constexpr int kWorse = 2;
// Prints the comparison. Returns 0, or kWorse if a figure of `b` is worse. Throws a HostError if a
// file cannot be read, or if the files have no figure in common.
int compare_files(const std::filesystem::path& a, const std::filesystem::path& b, double bound);

}  // namespace vitrine::bench
