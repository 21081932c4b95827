#include "kernels/util/piecewise_copy.h"

#include <cstring>

#include "kernels/util/checks.h"

namespace vitrine {

namespace {

// Maximum number of elements whose offsets are kept on the stack. Larger outputs are copied with
// several threads instead.
constexpr int64_t kMaxSegmentElements = 1024;
// Shorter runs are copied element by element.
constexpr int64_t kMinBlock = 16;

// In bytes.
struct Offsets {
  int64_t from;
  int64_t to;
};
struct Block {
  Offsets first;
  size_t bytes;
};

// Replaces each of `count` offsets by the offsets of all elements along one dimension, and returns
// their number. Strides are in bytes.
size_t expand(const SegmentList& list, int64_t from_stride, int64_t to_stride, size_t count,
              Offsets* offsets) {
  size_t length = 0;
  for (size_t i = 0; i < list.count; ++i) length += static_cast<size_t>(list.items[i].length);
  Offsets* next = offsets + count * length;
  for (size_t i = count; i-- > 0;) {
    const Offsets first = offsets[i];
    for (size_t k = list.count; k-- > 0;) {
      const Segment& segment = list.items[k];
      const int64_t last = segment.length - 1;
      const int64_t step = segment.step * from_stride;
      int64_t from = first.from + segment.from * from_stride + last * step;
      int64_t to = first.to + (segment.to + last) * to_stride;
      for (int64_t n = 0; n <= last; ++n, from -= step, to -= to_stride) *--next = {from, to};
    }
  }
  return count * length;
}

template <size_t size>
void copy_rows(std::span<const Offsets> rows, std::span<const Offsets> elements,
               std::span<const Block> blocks, const Tensor& self, Tensor& out) {
  for (const Offsets& row : rows) {
    const std::byte* const from = self.unchecked_data<std::byte>() + row.from;
    std::byte* const to = out.unchecked_mutable_data<std::byte>() + row.to;
    for (const auto& [first, bytes] : blocks) std::memmove(to + first.to, from + first.from, bytes);
    for (const Offsets& element : elements)
      std::memmove(to + element.to, from + element.from, size);
  }
}

void copy_small(const Tensor& self, std::span<const SegmentList> dimensions, Tensor& out) {
  const auto size = static_cast<int64_t>(self.element_size());
  const auto stride = [size](const Tensor& tensor, size_t dim) {
    return tensor.strides()[dim] * size;
  };
  const size_t last = dimensions.size() - 1;
  // The rows come first, then the elements of a row. The product of their numbers is at most
  // kMaxSegmentElements, so their sum is at most one more.
  Offsets offsets[kMaxSegmentElements + 1];
  offsets[0] = {0, 0};
  size_t rows = 1;
  for (size_t i = 0; i < last; ++i) {
    rows = expand(dimensions[i], stride(self, i), stride(out, i), rows, offsets);
  }
  SegmentList short_segments;
  Block blocks[std::tuple_size_v<decltype(SegmentList::items)>];
  size_t block_count = 0;
  for (size_t i = 0; i < dimensions[last].count; ++i) {
    const Segment& segment = dimensions[last].items[i];
    if (segment.length >= kMinBlock && segment.step * stride(self, last) == size &&
        stride(out, last) == size) {
      blocks[block_count++] = {{segment.from * size, segment.to * size},
                               static_cast<size_t>(segment.length * size)};
    } else {
      short_segments.add(segment);
    }
  }
  Offsets* const elements = offsets + rows;
  *elements = {0, 0};
  const size_t element_count =
      expand(short_segments, stride(self, last), stride(out, last), 1, elements);
  const auto copy = size == 1   ? copy_rows<1>
                    : size == 2 ? copy_rows<2>
                    : size == 4 ? copy_rows<4>
                    : size == 8 ? copy_rows<8>
                                : copy_rows<16>;
  copy({offsets, rows}, {elements, element_count}, {blocks, block_count}, self, out);
}

}  // namespace

void copy_segments(KernelContext& context, const Tensor& self,
                   std::span<const SegmentList> dimensions, Tensor& out) {
  for (const SegmentList& list : dimensions) {
    if (list.count == 0) return;
  }
  if (!dimensions.empty() && out.numel() <= kMaxSegmentElements) {
    if (!check_data(context, {&self, &out})) return;
    return copy_small(self, dimensions, out);
  }
  std::array<size_t, kMaxRank> choice{};
  while (true) {
    Layout from(self);
    Layout to(out);
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const Segment& segment = dimensions[i].items[choice[i]];
      from.narrow(i, segment.from, segment.length, segment.step);
      to.narrow(i, segment.to, segment.length);
    }
    if (!copy_elements(context, self, from, out, to)) return;
    size_t dim = dimensions.size();
    while (dim > 0 && ++choice[dim - 1] == dimensions[dim - 1].count) choice[--dim] = 0;
    if (dim == 0) return;
  }
}

}  // namespace vitrine
