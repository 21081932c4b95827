#include "kernels/util/element_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/util/checks.h"
#include "kernels/util/parallel.h"
#include "kernels/util/transpose.h"

namespace vitrine {

namespace {

constexpr int64_t kStrip = 64;  // columns or rows of a strip, which has entire cache lines
constexpr int64_t kMaxElementSize = 16;
constexpr int64_t kFewElements = 128;
constexpr int64_t kMinPlanes = 8;  // with fewer planes, the threads share each plane

// Copies part to 2 * part bytes: the first and the last `part` bytes. Source and destination may
// overlap.
template <size_t part>
void copy_short_row(const void* from, void* to, int64_t bytes) {
  const int64_t last = bytes - static_cast<int64_t>(part);
  std::byte parts[2][part];
  std::memcpy(parts[0], from, part);
  std::memcpy(parts[1], static_cast<const std::byte*>(from) + last, part);
  std::memcpy(to, parts[0], part);
  std::memcpy(static_cast<std::byte*>(to) + last, parts[1], part);
}

template <size_t size>
void copy_bytes(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t count) {
  constexpr int64_t kSize = size;
  if (from_stride == 1 && to_stride == 1) {
    // Source and destination may overlap.
    const int64_t bytes = count * kSize;
    if (bytes >= 8 && bytes <= 16) return copy_short_row<8>(from, to, bytes);
    if (bytes > 16 && bytes <= 32) return copy_short_row<16>(from, to, bytes);
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  const std::byte* source = static_cast<const std::byte*>(from);
  std::byte* target = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < count; ++i) {
    std::byte element[size];
    std::memcpy(element, source + i * from_stride * kSize, size);
    std::memcpy(target + i * to_stride * kSize, element, size);
  }
}

ConvertRun copy_run(size_t bytes) {
  switch (bytes) {
    case 1:
      return copy_bytes<1>;
    case 2:
      return copy_bytes<2>;
    case 4:
      return copy_bytes<4>;
    case 8:
      return copy_bytes<8>;
    case 16:
      return copy_bytes<16>;
    default:
      return nullptr;
  }
}

// Offsets and strides are in elements.
struct Plane {
  const ElementMover& mover;
  const void* source;
  void* target;
  int64_t size;            // bytes of an element of the target
  int64_t tile;            // transpose_tile_size(size) if both have the same dtype, otherwise 0
  int64_t plane_elements;  // elements of the undivided plane
  int64_t from;
  int64_t to;
  int64_t rows;
  int64_t from_step;  // distance between rows
  int64_t to_step;
  int64_t count;
  int64_t from_stride;
  int64_t to_stride;

  // Returns the rows [begin, end) of the plane, or the columns [begin, end) if the plane has more
  // columns than rows.
  Plane part(int64_t begin, int64_t end) const {
    Plane result = *this;
    const bool by_rows = rows >= count;
    (by_rows ? result.rows : result.count) = end - begin;
    result.from += begin * (by_rows ? from_step : from_stride);
    result.to += begin * (by_rows ? to_step : to_stride);
    return result;
  }

  void copy() const {
    if (from_stride == to_stride) {
      copy_rows();
    } else if (from_stride == 0 && to_stride == 1 && count >= kStrip) {
      for (int64_t row = 0; row < rows; ++row) fill_row(row);
    } else if (tile == 0 || from_step != 1 || to_stride != 1 || rows < tile || count < tile) {
      copy_strips();
    } else {
      transpose();
    }
  }

 private:
  void copy_row(int64_t row, int64_t begin, int64_t end) const {
    mover.move(source, from + row * from_step + begin * from_stride, from_stride, target,
               to + row * to_step + begin * to_stride, to_stride, end - begin);
  }

  void copy_rows() const {
    if (tile != 0 && to_stride == 1) {
      const int64_t bytes = count * size;
      if (bytes >= 16 && bytes <= 32) return copy_short_rows<16>();
      if (bytes > 32 && bytes <= 64) return copy_short_rows<32>();
    }
    for (int64_t row = 0; row < rows; ++row) copy_row(row, 0, count);
  }

  // Copies contiguous rows of kPart to 2 * kPart bytes.
  template <size_t kPart>
  void copy_short_rows() const {
    const auto* in = static_cast<const std::byte*>(source) + from * size;
    auto* out = static_cast<std::byte*>(target) + to * size;
    for (int64_t row = 0; row < rows; ++row, in += from_step * size, out += to_step * size) {
      copy_short_row<kPart>(in, out, count * size);
    }
  }

  Plane swap_rows_and_columns() const {
    Plane result = *this;
    std::swap(result.rows, result.count);
    std::swap(result.from_step, result.from_stride);
    std::swap(result.to_step, result.to_stride);
    return result;
  }

  void fill_row(int64_t row) const {
    constexpr int64_t kMax = 512;
    std::byte* const first = static_cast<std::byte*>(target) + (to + row * to_step) * size;
    copy_row(row, 0, 1);
    for (int64_t done = 1, added = 0; done < count; done += added) {
      added = std::min({done, count - done, kMax});
      std::memcpy(first + done * size, first, static_cast<size_t>(added * size));
    }
  }

  // Copies columns in narrow strips, so that a strip stays in the cache until all of its rows are
  // copied. For short rows, swaps rows and columns.
  void copy_strips() const {
    if (count < std::min(rows, kStrip)) return swap_rows_and_columns().copy_strips();
    for (int64_t begin = 0; begin < count; begin += kStrip) {
      const int64_t end = std::min(begin + kStrip, count);
      for (int64_t row = 0; row < rows; ++row) copy_row(row, begin, end);
    }
  }

  void transpose() const {
    const int64_t tiled_rows = rows / tile * tile;
    const int64_t tiled_count = count / tile * tile;
    transpose_tiles(static_cast<const std::byte*>(source) + from * size, from_stride,
                    static_cast<std::byte*>(target) + to * size, to_step, tiled_rows, tiled_count,
                    static_cast<size_t>(size), plane_elements);
    for (int64_t row = tiled_rows; row < rows; ++row) copy_row(row, 0, tiled_count);
    for (int64_t i = tiled_count; i < count; ++i) {
      mover.move(source, from + i * from_stride, from_step, target, to + i * to_stride, to_step,
                 rows);
    }
  }
};

bool overlap(const Tensor& a, const Tensor& b) {
  const auto first_of_a = reinterpret_cast<uintptr_t>(a.raw_data());
  const auto first_of_b = reinterpret_cast<uintptr_t>(b.raw_data());
  return first_of_a < first_of_b + b.nbytes() && first_of_b < first_of_a + a.nbytes();
}

}  // namespace

std::optional<ElementMover> ElementMover::make(KernelContext& context, ScalarType from,
                                               ScalarType to) {
  ElementMover mover;
  const size_t size = element_size(from);
  mover.from_size_ = static_cast<int64_t>(size);
  mover.to_size_ = static_cast<int64_t>(from == to ? size : element_size(to));
  mover.run_ = from == to ? copy_run(size) : convert_run(from, to);
  if (mover.run_ == nullptr) {
    context.fail(ErrorCode::kInvalidArgument, "elements of dtype %s cannot be copied to dtype %s",
                 scalar_type_name(from), scalar_type_name(to));
    return std::nullopt;
  }
  return mover;
}

bool copy_elements(KernelContext& context, const Tensor& from, const Layout& from_layout,
                   Tensor& to, const Layout& to_layout) {
  if (!check_data(context, {&from, &to})) return false;
  const std::optional<ElementMover> mover = ElementMover::make(context, from.dtype(), to.dtype());
  if (!mover) return false;
  const BoxLoop<2> loop(to_layout.size_span(),
                        {to_layout.strides.data(), from_layout.strides.data()});
  const BoxLoop<2>::Offsets start{to_layout.offset, from_layout.offset};
  const auto size = static_cast<int64_t>(to.element_size());
  // For a few elements, planes and threads would cost more time than they save.
  if (loop.rows() * loop.row_length() <= kFewElements) {
    loop.run(start, [&](const auto& first, int64_t count) {
      mover->move(from.raw_data(), first[1], loop.row_stride(1), to.mutable_raw_data(), first[0],
                  loop.row_stride(0), count);
    });
    return true;
  }
  if (loop.rows() == 1 && loop.row_stride(0) == loop.row_stride(1) &&
      loop.row_length() < kParallelWork / (2 * kMaxElementSize)) {
    mover->move(from.raw_data(), start[1], loop.row_stride(1), to.mutable_raw_data(), start[0],
                loop.row_stride(0), loop.row_length());
    return true;
  }
  const BoxLoop<2> planes = loop.planes();
  const int64_t tile = from.dtype() == to.dtype() ? transpose_tile_size(to.element_size()) : 0;
  const int64_t elements = planes.row_length() * loop.row_length();
  // Cost per byte. Cost 0 makes one thread copy overlapping tensors, in a fixed order.
  const int64_t cost = overlap(from, to) ? 0 : loop.row_stride(0) == loop.row_stride(1) ? 1 : 4;
  const int64_t work = cost * (static_cast<int64_t>(from.element_size()) + size);
  const auto plane_at = [&](const BoxLoop<2>::Offsets& first) {
    return Plane{.mover = *mover,
                 .source = from.raw_data(),
                 .target = to.mutable_raw_data(),
                 .size = size,
                 .tile = tile,
                 .plane_elements = elements,
                 .from = first[1],
                 .to = first[0],
                 .rows = planes.row_length(),
                 .from_step = planes.row_stride(1),
                 .to_step = planes.row_stride(0),
                 .count = loop.row_length(),
                 .from_stride = loop.row_stride(1),
                 .to_stride = loop.row_stride(0)};
  };
  // If there are few planes, the threads share each plane. Otherwise, each thread copies some
  // planes.
  const bool divide = planes.rows() < kMinPlanes;
  const int64_t length = std::max(planes.row_length(), loop.row_length());
  const int64_t items = divide ? length : planes.rows();
  const int64_t item_elements =
      divide ? elements / std::max<int64_t>(length, 1) * planes.rows() : elements;
  parallel_ranges(context, items, divide ? kStrip : 1, work_of({work, item_elements}),
                  [&](int64_t begin, int64_t end) {
                    planes.run_rows(
                        start, divide ? 0 : begin, divide ? planes.rows() : end,
                        [&](const auto& first, int64_t) {
                          plane_at(first).part(divide ? begin : 0, divide ? end : length).copy();
                        });
                  });
  return true;
}

namespace {

bool fail_sizes(KernelContext& context, const Tensor& from, const char* why) {
  char text[128];
  describe(from, text, sizeof text);
  context.fail(ErrorCode::kInvalidArgument, "%s %s", text, why);
  return false;
}

}  // namespace

bool copy_exact(KernelContext& context, const Tensor& from, Tensor& to, const Layout& to_layout) {
  const Layout from_layout(from);
  return std::ranges::equal(from_layout.size_span(), to_layout.size_span())
             ? copy_elements(context, from, from_layout, to, to_layout)
             : fail_sizes(context, from, "does not have the destination's shape");
}

bool copy_broadcast(KernelContext& context, const Tensor& from, Tensor& to,
                    const Layout& to_layout) {
  Layout from_layout(from);
  return from_layout.broadcast_to(to_layout.size_span())
             ? copy_elements(context, from, from_layout, to, to_layout)
             : fail_sizes(context, from, "does not broadcast to the destination's shape");
}

bool fill_elements(KernelContext& context, const Scalar& value, Tensor& to,
                   const Layout& to_layout) {
  return copy_broadcast(context, ScalarElement(value).tensor(), to, to_layout);
}

void copy_view(KernelContext& context, const Tensor& self, const Layout& view, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, view.size_span())) {
    return;
  }
  (void)copy_elements(context, self, view, out, Layout(out));
}

void copy_tensor(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!context.resize(out, self.sizes())) return;
  (void)copy_elements(context, self, Layout(self), out, Layout(out));
}

void copy_reshaped(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !check_data(context, {&self, &out})) {
    return;
  }
  if (self.numel() != out.numel()) {
    return context.fail(ErrorCode::kInvalidArgument, "self has %lld elements, but out has %lld",
                        static_cast<long long>(self.numel()), static_cast<long long>(out.numel()));
  }
  // Gives a row-major tensor the sizes of the other tensor, so that one call of copy_elements()
  // copies all elements.
  const Layout from(self);
  const Layout to(out);
  if (is_row_major(out)) {
    (void)copy_elements(context, self, from, out, Layout(from.size_span()));
  } else if (is_row_major(self)) {
    (void)copy_elements(context, self, Layout(to.size_span()), out, to);
  } else if (self.same_sizes(out)) {
    (void)copy_elements(context, self, from, out, to);
  } else {
    const std::optional<ElementMover> mover =
        ElementMover::make(context, self.dtype(), out.dtype());
    if (!mover) return;
    for (int64_t i = 0; i < self.numel(); ++i) {
      mover->move(self.raw_data(), from.offset_of(i), 1, out.mutable_raw_data(), to.offset_of(i), 1,
                  1);
    }
  }
}

}  // namespace vitrine
