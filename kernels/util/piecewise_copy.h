// Copies a tensor in segments along each dimension, for pad and roll.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/util/element_copy.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// In one dimension, elements `to`, `to + 1`, ... of the result are copies of the input elements
// `from`, `from + step`, ...
struct Segment {
  int64_t to;
  int64_t from;
  int64_t length;
  int64_t step;  // 1, -1 (reversed) or 0 (one element repeated)
};

struct SegmentList {
  std::array<Segment, 3> items;
  size_t count = 0;

  void add(const Segment& segment) {
    if (segment.length > 0) items[count++] = segment;
  }
};

// Copies every combination of segments. `dimensions` has one list for each dimension of `self` and
// `out`, which have the same dtype. Elements of `out` outside all segments stay unchanged.
void copy_segments(KernelContext& context, const Tensor& self,
                   std::span<const SegmentList> dimensions, Tensor& out);

}  // namespace vitrine
