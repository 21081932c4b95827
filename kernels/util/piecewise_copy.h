// Tensors whose elements along a dimension come from stretches of another: pads and roll.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/util/element_copy.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// `length` elements of a dimension of the result, from `to` on, come from `from`, `from + step`,
// ...
struct Segment {
  int64_t to;
  int64_t from;
  int64_t length;
  int64_t step;  // 1, -1 (mirrored) or 0 (one element repeated)
};

// The segments of one dimension, at most three.
struct SegmentList {
  std::array<Segment, 3> items;
  size_t count = 0;

  // Empty ones are left out.
  void add(const Segment& segment) {
    if (segment.length > 0) items[count++] = segment;
  }
};

// Copies every combination of segments, one list a dimension of `self` and `out`, which have the
// same dtype. Elements of `out` in no segment stay as they are.
void copy_segments(KernelContext& context, const Tensor& self,
                   std::span<const SegmentList> dimensions, Tensor& out);

}  // namespace vitrine
