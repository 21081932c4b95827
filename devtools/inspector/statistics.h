// Statistics over runs.
#pragma once

#include <cstddef>
#include <vector>

#include "devtools/inspector/profile.h"

namespace vitrine::inspector {

// `samples` are those of the runs that have one; the other runs of `runs` count as zero. With
// fewer samples than runs no sample may be negative. Percentiles as numpy's default: rank
// p * (runs - 1), linear in between. All zero for zero runs.
TimeStatistics statistics_of(std::vector<double> samples, size_t runs);

}  // namespace vitrine::inspector
