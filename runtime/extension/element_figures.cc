#include "runtime/extension/element_figures.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace vitrine {
namespace {

// The loops have no branches. They have several sums, because an addition takes longer than the
// processor needs to start the next one.
using Vector = double __attribute__((vector_size(16)));
using Mask = int64_t __attribute__((vector_size(16)));
constexpr size_t kWidth = sizeof(Vector) / sizeof(double);
constexpr size_t kVectors = 4;
constexpr size_t kStep = kVectors * kWidth;
using Vectors = std::array<Vector, kVectors>;

// For vectors with NaN, the results are arbitrary elements. SSE2 has an instruction that compilers
// do not choose, because it treats NaN and the sign of zero in its own way.
Vector lesser(Vector a, Vector b) {
#ifdef __SSE2__
  return _mm_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}
Vector greater(Vector a, Vector b) {
#ifdef __SSE2__
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

// Writes the elements, which are from 0 to 63, as integers.
void store_truncated(Vector vector, uint32_t* to) {
#ifdef __SSE2__
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_cvttpd_epi32(vector));
#else
  for (size_t i = 0; i < kWidth; ++i) to[i] = static_cast<uint32_t>(vector[i]);
#endif
}

// Calls visit(i, vector) for whole steps of elements, where i counts from 0 to kVectors - 1 again
// and again. Returns the elements after the last step. Inlined, because sums would otherwise be in
// memory instead of registers.
template <class Visit>
[[gnu::always_inline]] inline std::span<const double> visit_vectors(
    std::span<const double> elements, const Visit& visit) {
  const size_t end = elements.size() / kStep * kStep;
  for (size_t begin = 0; begin < end; begin += kStep) {
#pragma GCC unroll 4
    for (size_t i = 0; i < kVectors; ++i) {
      Vector vector;
      std::memcpy(&vector, &elements[begin + i * kWidth], sizeof vector);
      visit(i, vector);
    }
  }
  return elements.subspan(end);
}

double total(const Vectors& vectors) {
  const Vector sum = (vectors[0] + vectors[2]) + (vectors[1] + vectors[3]);
  return sum[0] + sum[1];
}

}  // namespace

Bounds bounds_of(std::span<const double> elements) {
  Bounds result;
  Vectors low;
  Vectors high;
  Vectors sum = {};
  std::array<Mask, kVectors> zeros = {};
  low.fill(Vector{result.low, result.low});
  high.fill(Vector{result.high, result.high});
  // Twice, because there are registers for eight vectors.
  visit_vectors(elements, [&](size_t i, Vector x) {
    low[i] = lesser(x, low[i]);
    high[i] = greater(x, high[i]);
  });
  const auto rest = visit_vectors(elements, [&](size_t i, Vector x) {
    sum[i] += x;
    zeros[i] -= x == 0;  // true is -1
  });
  result.sum = total(sum);
  for (size_t i = 0; i < kVectors; ++i) {
    for (size_t lane = 0; lane < kWidth; ++lane) {
      result.low = std::min(result.low, low[i][lane]);
      result.high = std::max(result.high, high[i][lane]);
      result.zeros += static_cast<uint64_t>(zeros[i][lane]);
    }
  }
  for (const double x : rest) result.add(x);
  return result;
}

double squares_of(std::span<const double> elements, double mean) {
  Vectors squares = {};
  const auto rest = visit_vectors(elements, [&](size_t i, Vector x) {
    const Vector difference = x - mean;
    squares[i] += difference * difference;
  });
  double sum = total(squares);
  for (const double x : rest) sum += (x - mean) * (x - mean);
  return sum;
}

void Histogram::add(std::span<const double> elements) {
  alignas(16) std::array<uint32_t, kMaxElements> bins;
  uint32_t* next = bins.data();
  const auto rest = visit_vectors(elements, [&](size_t, Vector x) {
    store_truncated(lesser((x - low_) * bins_per_unit_, Vector{kLastBin, kLastBin}), next);
    next += kWidth;
  });
  for (const double x : rest) {
    *next++ = static_cast<uint32_t>(std::min((x - low_) * bins_per_unit_, kLastBin));
  }
  // Neighbors are often in the same bin. A processor waits if it adds to a count twice in a row.
  size_t i = 0;
  for (; i + kParts <= elements.size(); i += kParts) {
    for (size_t part = 0; part < kParts; ++part) {
      ++counts_[part][bins[i + part]];
    }
  }
  for (; i < elements.size(); ++i) ++counts_[0][bins[i]];
}

std::array<uint64_t, ValueSummary::kBins> Histogram::counts() const {
  std::array<uint64_t, ValueSummary::kBins> sums = {};
  for (const auto& part : counts_) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
  }
  return sums;
}

}  // namespace vitrine
