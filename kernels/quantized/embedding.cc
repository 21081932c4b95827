// Operators that look up rows of quantized embedding tables.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "kernels/util/independent.h"
#include "kernels/util/indexing.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

// Each enumerator is the number of table values in a byte.
enum class Packing : uint8_t {
  kByte = 1,   // one value of the table's dtype
  kBits4 = 2,  // two int4 values, the high bits first, each stored plus 8
  kBits2 = 4,  // four int2 values, the low bits first, each stored plus 2
};

void unpack(const uint8_t* bytes, int64_t count, Packing packing, float* to) {
  if (packing == Packing::kBits4) {
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) {
      const int byte = bytes[i];
      to[2 * i] = static_cast<float>((byte >> 4) - 8);
      to[2 * i + 1] = static_cast<float>((byte & 15) - 8);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int bit = 0; bit < 8; bit += 2) {
      *to++ = static_cast<float>(((bytes[i] >> bit) & 3) - 2);
    }
  }
}

float real(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == ScalarType::kFloat) return tensor.unchecked_data<float>()[index];
  float value = 0;
  convert_run(tensor.dtype(), ScalarType::kFloat)(
      tensor.unchecked_data<std::byte>() + index * static_cast<int64_t>(tensor.element_size()), 1,
      &value, 1, 1);
  return value;
}

struct Table {
  const Tensor& weight;
  const Tensor& scales;
  const Tensor* zero_points;
  Packing packing;
  int64_t columns;
  int64_t groups;

  // Reads `count` columns, at most kChunkLength, from column `first` on. `first` and `count` must
  // be multiples of the number of values per byte.
  void read(int64_t row, int64_t first, int64_t count, float* to) const {
    const auto values = static_cast<int64_t>(packing);
    const uint8_t* const bytes =
        weight.unchecked_data<uint8_t>() + row * weight.size(1) + first / values;
    if (packing == Packing::kByte) {
      convert_run(weight.dtype(), ScalarType::kFloat)(bytes, 1, to, 1, count);
    } else {
      unpack(bytes, count / values, packing, to);
    }
    const int64_t group_size = columns / groups;
    for (int64_t k = first; k < first + count;) {
      const int64_t group = row * groups + k / group_size;
      const float scale = real(scales, group);
      const float zero = zero_points == nullptr ? 0 : real(*zero_points, group);
      const int64_t end = std::min((k / group_size + 1) * group_size, first + count);
      for (; k < end; ++k) to[k - first] = (to[k - first] - zero) * scale;
    }
  }
};

// Work per table value: the time (about 2 ns), multiplied by kWorkPerNs.
constexpr int64_t kWorkPerValue = 40;

// out[i..., :] = (weight[indices[i...], :] - zero point) * scale. `scales` is [rows] or [rows,
// groups]. All groups have the same number of columns. `zero_points` is null or has the shape of
// `scales`. Scales and zero points may have any floating dtype. Indices are Int or Long. Resizes
// `out`, whose dtype must be FLOATHBF16. If an index is out of range, writes nothing to `out`.
void look_up(KernelContext& context, const Tensor& weight, const Tensor& scales,
             const Tensor* zero_points, int64_t lowest, int64_t highest, const Tensor& indices,
             std::optional<ScalarType> dtype, Packing packing, Tensor& out) {
  const bool is_signed = weight.dtype() == ScalarType::kChar;
  if (!check_rank(context, weight, 2, "weight") || !check_contiguous(context, weight, "weight") ||
      !((packing == Packing::kByte && is_signed) ||
        check_dtype(context, weight, ScalarType::kByte, "weight"))) {
    return;
  }
  if (lowest > highest) {
    return context.fail(ErrorCode::kInvalidArgument, "weight_quant_min is above weight_quant_max");
  }
  const int64_t rows = weight.size(0);
  const int64_t columns = weight.size(1) * static_cast<int64_t>(packing);
  const bool grouped = scales.rank() == 2;
  const int64_t groups = grouped ? scales.size(1) : 1;
  if ((scales.rank() != 1 && !grouped) || scales.size(0) != rows || groups < 1 ||
      columns % groups != 0) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "weight_scales must be [%lld] or [%lld,groups], where groups divides the number of columns",
        static_cast<long long>(rows), static_cast<long long>(rows));
  }
  if (!check_dtype_in<FloatHBF16Types>(context, scales) ||
      !check_contiguous(context, scales, "weight_scales") ||
      (zero_points != nullptr &&
       (!check_sizes(context, *zero_points, scales.sizes(), "weight_zero_points") ||
        !check_dtype_in<FloatHBF16Types>(context, *zero_points) ||
        !check_contiguous(context, *zero_points, "weight_zero_points")))) {
    return;
  }
  Layout result(indices);
  if (result.rank >= kMaxRank) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "indices have rank %zu, expected less than %zu", result.rank, kMaxRank);
  }
  result.insert(result.rank, columns, 1);
  const auto reader = IndexReader::make(context, indices);
  if (!reader || (dtype && !check_dtype(context, out, *dtype, "out")) ||
      !check_dtype_in<FloatHBF16Types>(context, out) ||
      !resize_to(context, out, result.size_span()) || !check_contiguous(context, out, "out") ||
      !check_data(context, {&weight, &scales, zero_points, &out}) ||
      !check_no_overlap(context, out, {&indices})) {  // `indices` is read while `out` is written
    return;
  }
  const Layout index_layout(indices);
  const bool in_order = indices.is_contiguous();
  const auto row_of = [&](int64_t i) {
    return (*reader)[in_order ? i : index_layout.offset_of(i)];
  };
  for (int64_t i = 0; i < indices.numel(); ++i) {
    if (!check_index(context, row_of(i), rows)) return;
  }
  const Table table = {weight, scales, zero_points, packing, columns, groups};
  const ConvertRun store = convert_run(ScalarType::kFloat, out.dtype());
  const bool is_float = out.dtype() == ScalarType::kFloat;
  const auto size = static_cast<int64_t>(out.element_size());
  parallel_ranges(
      context, indices.numel(), 1, kWorkPerValue * columns, [&](int64_t begin, int64_t end) {
        alignas(64) float chunk[kChunkLength];
        std::byte* to = out.unchecked_mutable_data<std::byte>() + begin * columns * size;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = row_of(i);
          for (int64_t k = 0; k < columns; k += kChunkLength) {
            const int64_t count = std::min(kChunkLength, columns - k);
            if (is_float) {
              table.read(row, k, count, reinterpret_cast<float*>(to));
            } else {
              table.read(row, k, count, chunk);
              store(chunk, 1, to, 1, count);
            }
            to += count * size;
          }
        }
      });
}

template <Packing packing>
void embedding_dtype_out(KernelContext& context, const Tensor& weight, const Tensor& weight_scales,
                         const Tensor* weight_zero_points, int64_t weight_quant_min,
                         int64_t weight_quant_max, const Tensor& indices,
                         std::optional<ScalarType> dtype, Tensor& out) {
  look_up(context, weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max,
          indices, dtype, packing, out);
}

template <Packing packing>
void embedding_out(KernelContext& context, const Tensor& weight, const Tensor& weight_scales,
                   const Tensor* weight_zero_points, int64_t weight_quant_min,
                   int64_t weight_quant_max, const Tensor& indices, Tensor& out) {
  look_up(context, weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max,
          indices, std::nullopt, packing, out);
}

}  // namespace

VITRINE_KERNEL(embedding_2bit_dtype_out, "quantized_decomposed::embedding_2bit.dtype_out",
               embedding_dtype_out<Packing::kBits2>);
VITRINE_KERNEL(embedding_2bit_out, "quantized_decomposed::embedding_2bit.out",
               embedding_out<Packing::kBits2>);
VITRINE_KERNEL(embedding_4bit_dtype_out, "quantized_decomposed::embedding_4bit.dtype_out",
               embedding_dtype_out<Packing::kBits4>);
VITRINE_KERNEL(embedding_4bit_out, "quantized_decomposed::embedding_4bit.out",
               embedding_out<Packing::kBits4>);
VITRINE_KERNEL(embedding_byte_dtype_out, "quantized_decomposed::embedding_byte.dtype_out",
               embedding_dtype_out<Packing::kByte>);
VITRINE_KERNEL(embedding_byte_out, "quantized_decomposed::embedding_byte.out",
               embedding_out<Packing::kByte>);

}  // namespace vitrine::quantized
