#include "test/corpus_check/comparison.h"

#include <fmt/format.h>

#include "inspector/compare/tensor_difference.h"

namespace vitrine::corpus {

Comparison compare(std::span<const std::byte> actual, std::span<const std::byte> expected,
                   ScalarType dtype, const Tolerance& tolerance) {
  const bool exact = !is_floating(dtype) && !is_complex(dtype);
  const inspector::TensorDifference found = inspector::measure_difference(
      {dtype, actual}, {dtype, expected},
      exact ? inspector::Tolerance{} : inspector::Tolerance{tolerance.rtol, tolerance.atol});
  Comparison result{found.max_abs, found.max_rel, found.cosine, ""};
  if (found.first) {
    result.failure = fmt::format("element {} is {}, expected {}", found.first->element,
                                 found.first->actual, found.first->expected);
  } else if (tolerance.min_cosine > -1 && !(found.cosine >= tolerance.min_cosine)) {
    result.failure = fmt::format("cosine {:.4f} is below {}", found.cosine, tolerance.min_cosine);
  }
  return result;
}

}  // namespace vitrine::corpus
