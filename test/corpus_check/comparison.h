// Compares an output with PyTorch's.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "test/corpus_check/case_file.h"
#include "vitrine/scalar_type.h"

namespace vitrine::corpus {

struct Comparison {
  double max_abs = 0;
  double max_rel = 0;  // over elements whose expected value is not 0
  double cosine = 1;
  std::string failure;  // empty: within tolerance
};

// Requires |actual - expected| <= atol + rtol * |expected| for each element, and equality for
// integers and bools. NaN equals NaN, and an infinity equals itself. If min_cosine is set, the
// cosine similarity of the two spans must be at least min_cosine. Both spans have the same number
// of elements.
Comparison compare(std::span<const std::byte> actual, std::span<const std::byte> expected,
                   ScalarType dtype, const Tolerance& tolerance);

}  // namespace vitrine::corpus
