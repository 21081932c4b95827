// How far an output is from what PyTorch gave.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "test/corpus_check/case_file.h"
#include "vitrine/scalar_type.h"

namespace vitrine::corpus {

struct Comparison {
  double max_abs = 0;
  double max_rel = 0;  // of elements whose expected value is not 0
  double cosine = 1;
  std::string failure;  // empty: within tolerance
};

// Elementwise |actual - expected| <= atol + rtol * |expected|; integers and bools must be equal;
// NaN equals NaN and infinities equal themselves. With min_cosine, the cosine of the angle between
// the two, as vectors, must reach it too. Both spans hold the same number of `dtype` elements.
Comparison compare(std::span<const std::byte> actual, std::span<const std::byte> expected,
                   ScalarType dtype, const Tolerance& tolerance);

}  // namespace vitrine::corpus
