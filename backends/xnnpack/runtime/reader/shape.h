// The shape of an XNNPACK value: at most 6 dimensions. In a payload, each dimension is at least 1.
// At run time, a dimension of an argument may also be 0.
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstddef>
#include <span>

namespace vitrine::xnnpack {

inline constexpr size_t kMaxDims = XNN_MAX_TENSOR_DIMS;

struct Shape {
  size_t rank = 0;
  std::array<size_t, kMaxDims> dims{};

  size_t operator[](size_t dim) const { return dims[dim]; }
  size_t& operator[](size_t dim) { return dims[dim]; }
  // The `n`-th dimension from the end; 1 is the last.
  size_t back(size_t n) const { return dims[rank - n]; }
  std::span<const size_t> used() const { return {dims.data(), rank}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank != b.rank) return false;
    for (size_t i = 0; i < a.rank; ++i) {  // this loop is faster than a library call
      if (a.dims[i] != b.dims[i]) return false;
    }
    return true;
  }
};

// The shape must have been checked, so that the product does not overflow.
inline size_t count_elements(std::span<const size_t> dims) {
  size_t count = 1;
  for (const size_t dim : dims) count *= dim;
  return count;
}

}  // namespace vitrine::xnnpack
