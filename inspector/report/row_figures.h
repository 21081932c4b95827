// Figures of the rows of a profile, by which a graph colors its nodes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace vitrine::inspector {

struct Comparison;
struct Numerics;

struct RowFigures {
  std::string title;  // "change of time"; empty without figures
  std::string about;  // for the legend
  // True for changes of time in ns, B - A. False for SQNRs in dB, of which the lowest counts.
  bool is_change = false;
  std::vector<double> values;
  // The values of each row of the CPU's profile. Rows may share a value, which counts once in a box
  // around them.
  std::map<size_t, std::vector<size_t>> values_of_row;
};

// The changes of time, by the rows of B.
RowFigures change_figures(const Comparison& comparison);
// The errors that operators made, by the rows of the program.
RowFigures error_figures(const Numerics& numerics);

}  // namespace vitrine::inspector
