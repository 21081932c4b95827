// Compares the errors of two programs, A and B, which are lowerings of the same model. Both were
// measured against the same reference on the same inputs.
//
// A pair consists of a row of A and a row of B that were measured against the same value of the
// reference.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "inspector/compare/numerics.h"

namespace vitrine::inspector {

// Two rows that belong together, as indices in Numerics::rows of A and of B. One index may be
// unset.
struct NumericsPair {
  std::optional<size_t> a, b;
};

struct NumericsComparison {
  std::vector<NumericsPair> pairs;  // in the reference's run order
  // The number of rows in A and in B that have no value of the reference to compare with.
  size_t unaligned_a = 0;
  size_t unaligned_b = 0;
};

NumericsComparison compare_numerics(const Numerics& a, const Numerics& b);

}  // namespace vitrine::inspector
