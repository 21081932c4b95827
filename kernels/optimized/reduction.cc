// The operators sum, mean, var, amax, amin, argmax and argmin of row-major floats over adjacent
// dimensions. sum, mean, amax and amin also accept Half and BFloat16.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/simd/columns.h"
#include "kernels/optimized/simd/convert.h"
#include "kernels/optimized/simd/lines.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/arithmetic.h"
#include "kernels/util/parallel.h"
#include "kernels/util/reduction.h"

namespace vitrine::optimized {

namespace {

// A tensor viewed as [outer, reduced, inner].
struct Block {
  int64_t outer = 1;
  int64_t reduced = 1;
  int64_t inner = 1;
};

// Returns nullopt unless the tensor is a row-major tensor of `dtype` with elements, and the reduced
// dimensions are adjacent. Dimensions of size 1 are ignored.
std::optional<Block> make_block(const Tensor& self, uint32_t mask,
                                ScalarType dtype = ScalarType::kFloat) {
  if (self.dtype() != dtype || !self.is_contiguous() || self.numel() == 0) return std::nullopt;
  Block block;
  for (size_t dim = 0; dim < self.rank(); ++dim) {
    const int64_t size = self.size(dim);
    if (size == 1) continue;
    if (((mask >> dim) & 1u) != 0) {
      if (block.inner != 1) return std::nullopt;
      block.reduced *= size;
    } else {
      (block.reduced == 1 ? block.outer : block.inner) *= size;
    }
  }
  return block;
}

// Resizes `out` to the shape of the reduced tensor. Returns false if the context has failed.
bool resize(KernelContext& context, const Tensor& self, uint32_t mask, bool keepdim, Tensor& out) {
  std::array<int32_t, kMaxRank> sizes;
  size_t rank = 0;
  for (size_t dim = 0; dim < self.rank(); ++dim) {
    const bool reduced = ((mask >> dim) & 1u) != 0;
    if (reduced && !keepdim) continue;
    sizes[rank++] = reduced ? 1 : self.size(dim);
  }
  return context.resize(out, std::span(sizes).first(rank));
}

enum class Kind : uint8_t { kSum, kMean, kLargest, kSmallest };

// Threads get whole groups of the lines that simd::sums() adds at once, so that rounding does not
// depend on the number of threads.
constexpr int64_t kGroup = 4;

// Maximum length of a short line. Longer lines are reduced with SIMD vectors.
constexpr int64_t kMaxShortLine = 8;

// Combines the elements of each short line, in order, from `start` on. If `start` is null, begins
// with the first element.
template <class Combine>
void reduce_short_lines(const float* values, int64_t lines, int64_t count, const float* start,
                        float* out, const Combine& combine) {
  for (int64_t line = 0; line < lines; ++line, values += count) {
    float result = start != nullptr ? *start : *values;
    for (int64_t i = 0; i < count; ++i) result = combine(result, values[i]);
    out[line] = result;
  }
}

void reduce_short_lines(Kind kind, const float* values, int64_t lines, int64_t count, float* out) {
  if (kind == Kind::kLargest) {
    return reduce_short_lines(values, lines, count, nullptr, out, larger<float>);
  }
  if (kind == Kind::kSmallest) {
    return reduce_short_lines(values, lines, count, nullptr, out, smaller<float>);
  }
  constexpr float kZero = 0;
  reduce_short_lines(values, lines, count, &kZero, out, wrapping_add<float>);
  if (kind == Kind::kSum) return;
  const auto divisor = static_cast<float>(count);
  for (int64_t line = 0; line < lines; ++line) out[line] /= divisor;
}

void reduce_lines(Kind kind, const float* values, int64_t lines, int64_t count, float* out) {
  if (count <= kMaxShortLine) return reduce_short_lines(kind, values, lines, count, out);
  if (kind == Kind::kSum || kind == Kind::kMean) {
    return simd::sums(values, lines, count, kind == Kind::kSum ? 1.0 : static_cast<double>(count),
                      out);
  }
  const auto extremum = kind == Kind::kLargest ? simd::largest : simd::smallest;
  for (int64_t i = 0; i < lines; ++i) out[i] = extremum(values + i * count, count);
}

// Reduces lines of Half or BFloat16. Converts a part at a time, which has some lines or is a part
// of one line.
void reduce_halves(Kind kind, ScalarType dtype, const std::byte* values, int64_t lines,
                   int64_t count, std::byte* out) {
  constexpr int64_t kPart = 1024;
  constexpr int64_t kSize = 2;
  const simd::Convert to_float = simd::to_float(dtype);
  const simd::Convert from_float = simd::from_float(dtype);
  alignas(64) float part[kPart];
  alignas(64) float results[kPart];
  const int64_t part_lines = std::max<int64_t>(kPart / count, 1);
  for (int64_t line = 0; line < lines; line += part_lines, values += part_lines * count * kSize) {
    const int64_t n = std::min(part_lines, lines - line);
    if (count <= kPart) {
      to_float(values, part, n * count);
      reduce_lines(kind, part, n, count, results);
    } else {
      const bool is_sum = kind == Kind::kSum || kind == Kind::kMean;
      double sum = 0;
      for (int64_t done = 0; done < count; done += kPart) {
        const int64_t length = std::min(kPart, count - done);
        float next = 0;
        to_float(values + done * kSize, part, length);
        reduce_lines(is_sum ? Kind::kSum : kind, part, 1, length, &next);
        sum += static_cast<double>(next);
        if (done == 0) results[0] = next;
        results[0] = kind == Kind::kLargest ? larger(results[0], next) : smaller(results[0], next);
      }
      if (is_sum) {
        results[0] =
            static_cast<float>(kind == Kind::kMean ? sum / static_cast<double>(count) : sum);
      }
    }
    from_float(results, out + line * kSize, n);
  }
}

void reduce_columns(Kind kind, const float* values, int64_t rows, int64_t stride, int64_t count,
                    float* out) {
  if (kind == Kind::kLargest) return simd::column_largest(values, rows, stride, count, out);
  if (kind == Kind::kSmallest) return simd::column_smallest(values, rows, stride, count, out);
  double sums[simd::kColumns];
  simd::column_sums(values, rows, stride, count, sums);
  const double divisor = kind == Kind::kMean ? static_cast<double>(rows) : 1.0;
  for (int64_t c = 0; c < count; ++c) out[c] = static_cast<float>(sums[c] / divisor);
}

// Reduces a tensor without elements. Not inlined, because the call is rare.
[[gnu::noinline]] bool reduce_nothing(KernelContext& context, Kind kind, const Tensor& self,
                                      uint32_t mask, bool keepdim, Tensor& out) {
  if (kind == Kind::kLargest || kind == Kind::kSmallest || self.dtype() != ScalarType::kFloat ||
      out.dtype() != ScalarType::kFloat) {
    return false;
  }
  if (!resize(context, self, mask, keepdim, out)) return true;
  const float result = kind == Kind::kSum ? 0.0F : std::numeric_limits<float>::quiet_NaN();
  std::fill_n(out.unchecked_mutable_data<float>(), out.numel(), result);
  return true;
}

bool reduce(KernelContext& context, Kind kind, const Tensor& self, std::optional<uint32_t> mask,
            bool keepdim, Tensor& out) {
  if (!mask) return true;  // the context has failed
  if (self.numel() == 0) return reduce_nothing(context, kind, self, *mask, keepdim, out);
  const bool is_half = self.dtype() != ScalarType::kFloat && is_reduced_float(self.dtype());
  const std::optional<Block> block =
      make_block(self, *mask, is_half ? self.dtype() : ScalarType::kFloat);
  if (!block || out.dtype() != self.dtype() || !out.is_contiguous() ||
      (is_half && block->inner != 1)) {
    return false;
  }
  if (!resize(context, self, *mask, keepdim, out)) return true;
  if (is_half) {
    const int64_t bytes = static_cast<int64_t>(self.element_size());
    parallel_ranges(context, block->outer, 1, 4 * block->reduced, [&](int64_t begin, int64_t end) {
      reduce_halves(kind, self.dtype(),
                    self.unchecked_data<std::byte>() + begin * block->reduced * bytes, end - begin,
                    block->reduced, out.unchecked_mutable_data<std::byte>() + begin * bytes);
    });
    return true;
  }
  const auto* const from = self.unchecked_data<float>();
  auto* const to = out.unchecked_mutable_data<float>();
  if (block->inner == 1) {
    parallel_ranges(context, block->outer, kGroup, 4 * block->reduced,
                    [&](int64_t begin, int64_t end) {
                      reduce_lines(kind, from + begin * block->reduced, end - begin, block->reduced,
                                   to + begin);
                    });
    return true;
  }
  const int64_t strips = (block->inner + simd::kColumns - 1) / simd::kColumns;
  parallel(context, block->outer * strips, 4 * self.numel(), [&](int64_t item, int64_t) {
    const int64_t outer = item / strips;
    const int64_t column = item % strips * simd::kColumns;
    reduce_columns(kind, from + outer * block->reduced * block->inner + column, block->reduced,
                   block->inner, std::min(simd::kColumns, block->inner - column),
                   to + outer * block->inner + column);
  });
  return true;
}

// True if the dtype of `self` is supported, and the result has this dtype.
bool keeps_float(const Tensor& self, std::optional<ScalarType> dtype) {
  return (self.dtype() == ScalarType::kFloat || is_reduced_float(self.dtype())) &&
         (!dtype || *dtype == self.dtype());
}

bool sum_out(KernelContext& context, const Tensor& self,
             std::optional<std::span<const int64_t>> dim, bool keepdim,
             std::optional<ScalarType> dtype, Tensor& out) {
  return keeps_float(self, dtype) &&
         reduce(context, Kind::kSum, self, reduced_dims(context, self, dim), keepdim, out);
}

bool mean_out(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dim, bool keepdim,
              std::optional<ScalarType> dtype, Tensor& out) {
  return keeps_float(self, dtype) &&
         reduce(context, Kind::kMean, self, reduced_dims(context, self, dim), keepdim, out);
}

bool mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<ScalarType> dtype,
                    Tensor& out) {
  return keeps_float(self, dtype) && reduce(context, Kind::kMean, self, kAllDims, false, out);
}

template <Kind kind>
bool extremum_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
                  bool keepdim, Tensor& out) {
  return reduce(context, kind, self, reduced_dims(context, self, dim), keepdim, out);
}

template <float (*extremum)(const float*, int64_t)>
bool arg_extremum_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                      bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (!mask) return true;
  const std::optional<Block> block = make_block(self, *mask);
  if (!block || block->inner != 1 || out.dtype() != ScalarType::kLong || !out.is_contiguous()) {
    return false;
  }
  if (!resize(context, self, *mask, keepdim, out)) return true;
  parallel_ranges(context, block->outer, 1, 4 * block->reduced, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* const line = self.unchecked_data<float>() + i * block->reduced;
      out.unchecked_mutable_data<int64_t>()[i] =
          simd::find_first(line, extremum(line, block->reduced), block->reduced);
    }
  });
  return true;
}

bool variance(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dim, double correction, bool keepdim,
              Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (!mask) return true;
  const std::optional<Block> block = make_block(self, *mask);
  if (!block || block->inner != 1 || out.dtype() != ScalarType::kFloat || !out.is_contiguous()) {
    return false;
  }
  if (!resize(context, self, *mask, keepdim, out)) return true;
  const auto count = static_cast<double>(block->reduced);
  const double divisor = std::fmax(count - correction, 0.0);
  parallel_ranges(context, block->outer, 1, 4 * block->reduced, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* const line = self.unchecked_data<float>() + i * block->reduced;
      const auto center = static_cast<float>(simd::sum(line, block->reduced) / count);
      out.unchecked_mutable_data<float>()[i] =
          static_cast<float>(simd::squared_distance(line, center, block->reduced) / divisor);
    }
  });
  return true;
}

bool var_out(KernelContext& context, const Tensor& self,
             std::optional<std::span<const int64_t>> dim, bool unbiased, bool keepdim,
             Tensor& out) {
  return variance(context, self, dim, unbiased ? 1.0 : 0.0, keepdim, out);
}

bool var_correction_out(KernelContext& context, const Tensor& self,
                        std::optional<std::span<const int64_t>> dim,
                        std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  return variance(context, self, dim, correction ? correction->to<double>() : 1.0, keepdim, out);
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(amax_out, "aten::amax.out", extremum_out<Kind::kLargest>, portable)
VITRINE_OPTIMIZED_KERNEL(amin_out, "aten::amin.out", extremum_out<Kind::kSmallest>, portable)
VITRINE_OPTIMIZED_KERNEL(argmax_out, "aten::argmax.out", arg_extremum_out<simd::largest>, portable)
VITRINE_OPTIMIZED_KERNEL(argmin_out, "aten::argmin.out", arg_extremum_out<simd::smallest>, portable)
VITRINE_OPTIMIZED_KERNEL(mean_dtype_out, "aten::mean.dtype_out", mean_dtype_out, portable)
VITRINE_OPTIMIZED_KERNEL(mean_out, "aten::mean.out", mean_out, portable)
VITRINE_OPTIMIZED_KERNEL(sum_IntList_out, "aten::sum.IntList_out", sum_out, portable)
VITRINE_OPTIMIZED_KERNEL(var_correction_out, "aten::var.correction_out", var_correction_out,
                         portable)
VITRINE_OPTIMIZED_KERNEL(var_out, "aten::var.out", var_out, portable)
