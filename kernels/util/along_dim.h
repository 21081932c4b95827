// Line<T> gives access to the elements along one dimension of a tensor, for softmax, norms and
// scans. Callers see dense chunks of T for any dtype and strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/util/box_loop.h"
#include "kernels/util/checks.h"
#include "kernels/util/convert.h"

namespace vitrine {

struct LineFormat {
  Conversion load;
  Conversion store;
  int64_t in_size = 0;  // bytes of an element
  int64_t out_size = 0;
};

// Sets format.load to convert elements of `in` to `type`, and format.store to convert results from
// `type` to the dtype of `out`. If `common` is Half or BFloat16, both conversions first round
// values to `common`. Returns false and fails the context if convert_run() does not support a
// conversion.
[[nodiscard]] bool make_line_format(KernelContext& context, const Tensor& in, ScalarType common,
                                    ScalarType type, const Tensor& out, LineFormat& format);

template <class T>
class Line {
 public:
  // Strides are in elements.
  Line(const LineFormat& format, const std::byte* in, int64_t in_stride, std::byte* out,
       int64_t out_stride, int64_t length)
      : format_(format),
        in_(in),
        out_(out),
        in_stride_(in_stride),
        out_stride_(out_stride),
        length_(length) {}

  int64_t length() const { return length_; }

  // Calls visit(const T* values, int64_t count) for each chunk, in order.
  template <class Visit>
  void read(Visit&& visit) const {
    if (length_ == 0) return;
    if (reads_in_place()) return visit(reinterpret_cast<const T*>(in_), length_);
    Chunk chunk;
    for (int64_t done = 0; done < length_; done += kChunkLength) {
      const int64_t count = std::min(kChunkLength, length_ - done);
      visit(load(done, count, chunk), count);
    }
  }

  // Calls map(const T* in, T* out, int64_t count) for each chunk. `map` computes out[i] from in[i].
  template <class Map>
  void map(Map&& map) const {
    if (length_ == 0) return;
    const bool writes_in_place = format_.store.identity() && out_stride_ == 1;
    if (reads_in_place() && writes_in_place) {
      return map(reinterpret_cast<const T*>(in_), reinterpret_cast<T*>(out_), length_);
    }
    Chunk in_chunk;
    Chunk out_chunk;
    for (int64_t done = 0; done < length_; done += kChunkLength) {
      const int64_t count = std::min(kChunkLength, length_ - done);
      map(load(done, count, in_chunk), reinterpret_cast<T*>(&out_chunk), count);
      format_.store.run(&out_chunk, 1, out_ + done * out_stride_ * format_.out_size, out_stride_,
                        count);
    }
  }

 private:
  bool reads_in_place() const { return format_.load.identity() && in_stride_ == 1; }
  const T* load(int64_t done, int64_t count, Chunk& chunk) const {
    format_.load.run(in_ + done * in_stride_ * format_.in_size, in_stride_, &chunk, 1, count);
    return reinterpret_cast<const T*>(&chunk);
  }

  const LineFormat& format_;
  const std::byte* in_;
  std::byte* out_;
  int64_t in_stride_;
  int64_t out_stride_;
  int64_t length_;
};

// The sizes of all dimensions except `dim`. A loop over these dimensions visits every line along
// `dim`.
struct LineNest {
  size_t rank = 0;
  std::array<int64_t, kMaxRank> sizes;  // only the first `rank` elements are set

  explicit LineNest(const Tensor& tensor, size_t dim);
  std::span<const int64_t> shape() const { return {sizes.data(), rank}; }
};
// Strides of all dimensions except `dim`, in the order of LineNest::sizes.
std::array<int64_t, kMaxRank> line_strides(const Tensor& tensor, size_t dim);
inline int64_t line_stride(const Tensor& tensor, size_t dim) {
  return tensor.rank() == 0 ? 1 : tensor.strides()[dim];
}

// Calls visit(const Line<T>&) for each line along `dim` of two tensors of the same sizes.
// Precondition: `dim` is normalized (normalize_dim()).
template <class T, class Visit>
void for_each_line(KernelContext& context, const Tensor& in, ScalarType common, size_t dim,
                   Tensor& out, Visit&& visit) {
  LineFormat format;
  if (!make_line_format(context, in, common, scalar_type_of<T>, out, format)) return;
  if (in.numel() == 0) return;
  const LineNest nest(in, dim);
  const std::array<int64_t, kMaxRank> out_strides = line_strides(out, dim);
  const std::array<int64_t, kMaxRank> in_strides = line_strides(in, dim);
  const BoxLoop<2> loop(nest.shape(), {out_strides.data(), in_strides.data()});
  loop.run({}, [&](const BoxLoop<2>::Offsets& first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t out_at = first[0] + i * loop.row_stride(0);
      const int64_t in_at = first[1] + i * loop.row_stride(1);
      visit(Line<T>(format, in.unchecked_data<std::byte>() + in_at * format.in_size,
                    line_stride(in, dim),
                    out.unchecked_mutable_data<std::byte>() + out_at * format.out_size,
                    line_stride(out, dim), size_at(in, dim)));
    }
  });
}

}  // namespace vitrine
