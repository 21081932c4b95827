// Compares the errors of two lowerings of a model, A and B. Both were measured against the same
// reference on the same inputs. A pair is a row of A and a row of B that were measured against the
// same value of the reference.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "inspector/compare/numerics.h"

namespace vitrine::inspector {

// Indices in Numerics::rows of A and of B. One index may be unset.
struct NumericsPair {
  std::optional<size_t> a, b;
};

struct NumericsComparison {
  std::vector<NumericsPair> pairs;  // in the reference's run order
  // The numbers of rows of A and B that were not measured against a value of the reference.
  size_t unaligned_a = 0;
  size_t unaligned_b = 0;
};

NumericsComparison compare_numerics(const Numerics& a, const Numerics& b);

}  // namespace vitrine::inspector
