// Computes figures for the rows of a profile. Graphs color their nodes by these figures.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace vitrine::inspector {

struct Comparison;
struct Numerics;

struct RowFigures {
  std::string title;  // for example "change of time"; empty without figures
  std::string about;  // text for the legend
  // True if `values` are differences between two times (B - A, in ns). False if they are SQNRs in
  // dB; a node then shows the lowest value of its rows.
  bool is_change = false;
  std::vector<double> values;
  // For each row of the CPU's profile, the indices of its values in `values`. Several rows may
  // share a value; a box that contains these rows counts the value once.
  std::map<size_t, std::vector<size_t>> values_of_row;
};

// Returns the differences in time (B - A) for the rows of B's profile.
RowFigures change_figures(const Comparison& comparison);
// Returns the operators' own errors (NumericsRow::made_here) for the rows of the program's profile.
RowFigures error_figures(const Numerics& numerics);

}  // namespace vitrine::inspector
