#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vitrine::tools {

// For an even number of values, returns the mean of the two middle values. Precondition: the list
// is not empty.
inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace vitrine::tools
