#include "kernels/optimized/matrix_product.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/gemm.h"
#include "kernels/optimized/simd/convert.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/util/convert.h"
#include "kernels/util/packing_key.h"
#include "kernels/util/parallel.h"
#include "runtime/core/checked_math.h"

namespace vitrine::optimized {

namespace {

// Sets to[r * to_stride + c] = from(r, c). Copies block by block, so that reads and writes use
// entire cache lines. column_of(row, count, column) returns the address of `count` elements of the
// column, from `row` on, with stride `step`.
template <int64_t kRows, class ColumnOf>
void copy_blocks(const Matrix& from, int64_t step, float* to, int64_t to_stride,
                 const ColumnOf& column_of) {
  constexpr int64_t kColumns = 16;
  for (int64_t r0 = 0; r0 < from.rows; r0 += kRows) {
    const int64_t r1 = std::min(from.rows, r0 + kRows);
    for (int64_t c0 = 0; c0 < from.columns; c0 += kColumns) {
      const int64_t c1 = std::min(from.columns, c0 + kColumns);
      for (int64_t c = c0; c < c1; ++c) {
        const float* const source = column_of(r0, r1 - r0, c);
        for (int64_t r = r0; r < r1; ++r) to[r * to_stride + c] = source[(r - r0) * step];
      }
    }
  }
}

void copy_matrix(const Matrix& from, float* to, int64_t to_stride) {
  const simd::Convert widen = simd::to_float(from.dtype);
  if (from.column_stride == 1) {
    for (int64_t r = 0; r < from.rows; ++r) {
      widen(from.at(r, 0), to + r * to_stride, from.columns);
    }
    return;
  }
  if (from.dtype == ScalarType::kFloat) {
    return copy_blocks<16>(from, from.row_stride, to, to_stride,
                           [&](int64_t r, int64_t, int64_t c) { return from.floats(r, c); });
  }
  const ConvertRun gather = convert_run(from.dtype, ScalarType::kFloat);
  constexpr int64_t kRows = 32;
  float widened[kRows];
  copy_blocks<kRows>(from, 1, to, to_stride, [&](int64_t r, int64_t count, int64_t c) {
    if (from.row_stride == 1) {
      widen(from.at(r, c), widened, count);
    } else {
      gather(from.at(r, c), from.row_stride, widened, 1, count);
    }
    return widened;
  });
}

struct Result {
  float* data;
  int64_t row_stride;
  int64_t column_stride;
};

struct Epilogue {
  float alpha;
  float beta;    // 0 if nothing is added
  Matrix added;  // a Float matrix

  // True if the same row is added to every row of the product.
  bool is_bias(int64_t rows) const {
    return beta == 1 && added.column_stride == 1 && (added.row_stride == 0 || rows == 1);
  }
};

// Half and BFloat16 are converted to float when they are read.
class MatrixOperands final : public GemmOperands {
 public:
  MatrixOperands(const Matrix& left, const Matrix& right, const Result& result,
                 const Epilogue& epilogue, const float* packed = nullptr)
      : left_(left), right_(right), result_(result), epilogue_(epilogue), packed_(packed) {}

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    if (!wants_scratch()) return {left_.floats(row, 0), left_.row_stride};
    copy_matrix({left_.at(row, 0), count, left_.columns, left_.row_stride, left_.column_stride,
                 left_.dtype},
                scratch, left_.columns);
    return {scratch, left_.columns};
  }
  bool wants_scratch() const override {
    return left_.dtype != ScalarType::kFloat || (left_.column_stride != 1 && left_.columns > 1);
  }

  void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const override {
    copy_matrix({right_.at(0, column), right_.rows, count, right_.row_stride, right_.column_stride,
                 right_.dtype},
                panel, width);
    if (count == width) return;
    for (int64_t d = 0; d < right_.rows; ++d) {
      std::fill(panel + d * width + count, panel + (d + 1) * width, 0.0F);
    }
  }
  GemmRows right_in_place() const override {
    const bool in_place = right_.dtype == ScalarType::kFloat && right_.column_stride == 1;
    const bool has_slack =
        right_.has_slack && gemm_lanes() * int64_t{sizeof(float)} <= int64_t{kReadableSlack};
    return {in_place ? right_.floats(0, 0) : nullptr, right_.row_stride, has_slack};
  }
  const float* packed_right() const override { return packed_; }

  InPlace result_in_place() const override {
    const bool has_bias = epilogue_.beta != 0;
    const bool in_place = epilogue_.alpha == 1 && result_.column_stride == 1 &&
                          (!has_bias || epilogue_.is_bias(left_.rows));
    return {in_place ? result_.data : nullptr, result_.row_stride, nullptr,
            has_bias ? epilogue_.added.floats(0, 0) : nullptr};
  }
  void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
             int64_t stride) const override {
    for (int64_t r = 0; r < rows; ++r, sums += stride) {
      float* const to =
          result_.data + (row + r) * result_.row_stride + column * result_.column_stride;
      const Matrix& added = epilogue_.added;
      const float* const add = epilogue_.beta == 0 ? nullptr : added.floats(row + r, column);
      if (result_.column_stride == 1 && (add == nullptr || added.column_stride == 1)) {
        store_line(to, count, sums, add);
      } else {
        for (int64_t c = 0; c < count; ++c) {
          const float more = add == nullptr ? 0.0F : epilogue_.beta * add[c * added.column_stride];
          to[c * result_.column_stride] =
              add == nullptr ? epilogue_.alpha * sums[c] : epilogue_.alpha * sums[c] + more;
        }
      }
    }
  }
  // Like store() for one column, but faster.
  void store_column(int64_t row, int64_t rows, int64_t column, const float* sums) const {
    float* to = result_.data + row * result_.row_stride + column * result_.column_stride;
    const bool has_addend = epilogue_.beta != 0;
    const float* const add = has_addend ? epilogue_.added.floats(row, column) : nullptr;
    const bool dense = result_.row_stride == 1 && (!has_addend || epilogue_.added.row_stride == 1);
    if (dense) {
      store_line(to, rows, sums, add);
      return;
    }
    for (int64_t r = 0; r < rows; ++r) {
      store_line(to + r * result_.row_stride, 1, sums + r,
                 has_addend ? add + r * epilogue_.added.row_stride : nullptr);
    }
  }

 private:
  // Sets to[i] = alpha * sums[i] + beta * add[i] for i < count. A null `add` counts as zeros.
  void store_line(float* to, int64_t count, const float* sums, const float* add) const {
    const float alpha = epilogue_.alpha;
    const float beta = epilogue_.beta;
    if (add == nullptr) {
      for (int64_t i = 0; i < count; ++i) to[i] = alpha * sums[i];
      return;
    }
    for (int64_t i = 0; i < count; ++i) to[i] = alpha * sums[i] + beta * add[i];
  }

  Matrix left_;
  Matrix right_;
  Result result_;
  Epilogue epilogue_;
  const float* packed_;
};

Matrix view(const Tensor& tensor, const Layout& layout) {
  const auto* const data = tensor.unchecked_data<std::byte>();
  return {data + layout.offset * static_cast<int64_t>(tensor.element_size()),
          layout.sizes[0],
          layout.sizes[1],
          layout.strides[0],
          layout.strides[1],
          tensor.dtype(),
          tensor.has_slack()};
}

// Allocates a row-major Float matrix without setting its elements. If temporary memory runs out,
// fails the context and returns null data.
Matrix new_floats(KernelContext& context, int64_t rows, int64_t columns) {
  return {context.allocate_temp({rows, columns, sizeof(float)}), rows, columns, columns, 1};
}

// Returns `from` itself if it is Float, otherwise a Float copy. If `from` repeats one row, the copy
// stores this row once.
Matrix as_floats(KernelContext& context, const Matrix& from) {
  if (from.dtype == ScalarType::kFloat) return from;
  const bool repeats = from.row_stride == 0;
  Matrix copy =
      new_floats(context, repeats ? std::min<int64_t>(1, from.rows) : from.rows, from.columns);
  if (copy.data == nullptr) return copy;
  auto* const data = const_cast<float*>(copy.floats(0, 0));
  parallel_ranges(context, copy.rows, 1, 6 * from.columns, [&](int64_t begin, int64_t end) {
    copy_matrix({from.at(begin, 0), end - begin, from.columns, from.row_stride, from.column_stride,
                 from.dtype},
                data + begin * from.columns, from.columns);
  });
  copy.rows = from.rows;
  if (repeats) copy.row_stride = 0;
  return copy;
}

// Converts a row-major Float matrix to the tensor's dtype and layout.
void store_floats(const float* from, Tensor& tensor, const Layout& layout) {
  const ConvertRun convert = convert_run(ScalarType::kFloat, tensor.dtype());
  auto* const to = tensor.unchecked_mutable_data<uint16_t>() + layout.offset;
  for (int64_t r = 0; r < layout.sizes[0] && layout.sizes[1] > 0; ++r) {
    const float* const row = from + r * layout.sizes[1];
    if (layout.strides[1] == 1) {
      simd::from_float(tensor.dtype())(row, to + r * layout.strides[0], layout.sizes[1]);
    } else {
      convert(row, 1, to + r * layout.strides[0], layout.strides[1], layout.sizes[1]);
    }
  }
}

constexpr int64_t kMaxDotColumns = 4;

// True if dot products are faster than tiles, because the right side has few columns.
bool has_few_columns(const Matrix& left, const Matrix& right) {
  constexpr int64_t kMinDepth = 128;
  constexpr int64_t kMinRows = 8;
  if (left.column_stride != 1 || right.columns == 0) return false;
  return right.columns == 1 ||
         (right.columns <= std::min(kMaxDotColumns, gemm_lanes() / 4) && left.rows >= kMinRows &&
          right.dtype == ScalarType::kFloat && left.columns >= kMinDepth);
}

// Precondition: has_few_columns() is true.
void multiply_by_columns(KernelContext& context, const Matrix& left, const Matrix& right,
                         const MatrixOperands& operands) {
  constexpr int64_t kRows = 32;
  // A few rows at a time stay in the first-level cache.
  const int64_t step = operands.wants_scratch() ? 4 : kRows;
  const int64_t scratch = operands.wants_scratch() ? step * left.columns : 0;
  const bool in_place = right.dtype == ScalarType::kFloat && right.row_stride == 1;
  const int64_t depth = left.columns;
  float* vectors = nullptr;
  float* memory = nullptr;
  if (!in_place || scratch != 0) {
    const int64_t vector_floats = in_place ? 0 : right.columns * depth;
    vectors = static_cast<float*>(context.allocate_temp(
        {std::max<int64_t>(1, vector_floats + worker_count(context) * scratch), sizeof(float)}));
    if (vectors == nullptr) return;
    memory = vectors + vector_floats;
  }
  if (!in_place && right.dtype == ScalarType::kFloat) {
    for (int64_t c = 0; c < right.columns; ++c) {
      for (int64_t d = 0; d < depth; ++d) vectors[c * depth + d] = *right.floats(d, c);
    }
  } else if (!in_place) {
    operands.pack_right(0, 1, 1, vectors);
  }
  const int64_t blocks = (left.rows + kRows - 1) / kRows;
  parallel(context, blocks, work_of({left.rows, 4 * left.columns, right.columns}),
           [&](int64_t block, int64_t worker) {
             float sums[kMaxDotColumns][kRows];
             const int64_t begin = block * kRows;
             const int64_t count = std::min(kRows, left.rows - begin);
             float* const own = scratch == 0 ? nullptr : memory + worker * scratch;
             for (int64_t r = 0; r < count; r += step) {
               const int64_t rows = std::min(step, count - r);
               const GemmRows from = operands.left_rows(begin + r, rows, own);
               for (int64_t c = 0; c < right.columns; ++c) {
                 const float* const vector = in_place ? right.floats(0, c) : vectors + c * depth;
                 simd::multiply_vector(from.data, from.stride, rows, vector, depth, sums[c] + r);
               }
             }
             for (int64_t c = 0; c < right.columns; ++c) {
               operands.store_column(begin, count, c, sums[c]);
             }
           });
}

// A hash of the numbers that determine the order of the packed matrix.
uint64_t packing_key(const Layout& layout) {
  PackingKey key;
  for (const int64_t number : {gemm_lanes(), layout.offset, layout.sizes[0], layout.sizes[1],
                               layout.strides[0], layout.strides[1]}) {
    key.add(number);
  }
  return key.value();
}

// Returns the right side as packed by pack_columns(). The first call packs. Returns null if the
// right side may change, if packing saves no time, or if memory runs out.
const float* packed_right(KernelContext& context, const MatrixProduct& product, const Matrix& left,
                          const Matrix& right) {
  // Limits within which packing saves time for a product of one row.
  constexpr int64_t kMinRowElements = int64_t{8} * 1024;
  constexpr int64_t kMaxRowElements = int64_t{512} * 1024;
  if (right.dtype != ScalarType::kFloat || right.column_stride == 1 || right.columns == 1 ||
      right.rows == 0 || !product.right.tensor.is_constant()) {
    return nullptr;
  }
  const int64_t elements = right.rows * right.columns;
  if (left.rows == 1 && (elements < kMinRowElements || elements > kMaxRowElements)) return nullptr;
  const std::optional<int64_t> size = packed_size(right.columns, right.rows);
  size_t bytes = 0;
  if (!size || mul_overflows(static_cast<size_t>(*size), sizeof(float), &bytes)) return nullptr;
  const auto packed =
      context.derive(product.right.tensor, packing_key(product.right.layout), bytes);
  auto* const to = static_cast<float*>(packed.data);
  if (packed.is_new && to != nullptr) {
    const MatrixOperands operands({}, right, {}, {});
    pack_columns(context, right.columns, right.rows, operands, to);
  }
  return to;
}

}  // namespace

void multiply(KernelContext& context, const Matrix& left, const Matrix& right, float* result) {
  gemm(context, left.rows, right.columns, left.columns,
       MatrixOperands(left, right, {result, right.columns, 1}, {1, 0, {}}));
}

void multiply_matrices(KernelContext& context, const MatrixProduct& product) {
  const ScalarType dtype = product.out.dtype();
  if (dtype != ScalarType::kFloat && !is_reduced_float(dtype)) {
    return vitrine::multiply_matrices(context, product);
  }
  const KernelContext::TemporaryScope scope(context);
  // Converts the left side once, because every panel of the right side reads the left side again.
  Matrix left = as_floats(context, view(product.left.tensor, product.left.layout));
  Matrix right = view(product.right.tensor, product.right.layout);
  Matrix result_matrix = view(product.out, product.out_layout);
  if (dtype != ScalarType::kFloat)
    result_matrix = new_floats(context, result_matrix.rows, result_matrix.columns);
  Epilogue epilogue{product.alpha.to<float>(), 0, {}};
  if (product.addend != nullptr) {
    epilogue.beta = product.addend->beta.to<float>();
    epilogue.added = as_floats(context, view(product.addend->tensor, product.addend->layout));
  }
  bool by_columns = has_few_columns(left, right);
  const float* const packed = by_columns ? nullptr : packed_right(context, product, left, right);
  if (context.failed()) return;
  Result result{const_cast<float*>(result_matrix.floats(0, 0)), result_matrix.row_stride,
                result_matrix.column_stride};
  // If a matrix of few rows is multiplied by a transposed matrix, computes the transposed product
  // instead, which reads the large matrix in place. Example: a linear layer with a small batch.
  if (packed == nullptr && !by_columns && left.rows < gemm_lanes() / 2 &&
      right.columns > left.rows && right.row_stride == 1 && right.column_stride != 1) {
    std::swap(left, right);
    left = left.transposed();
    right = right.transposed();
    std::swap(result.row_stride, result.column_stride);
    epilogue.added = epilogue.added.transposed();
    by_columns = has_few_columns(left, right);
  }
  const MatrixOperands operands(left, right, result, epilogue, packed);
  if (by_columns) {
    multiply_by_columns(context, left, right, operands);
  } else {
    gemm(context, left.rows, right.columns, left.columns, operands);
  }
  if (dtype != ScalarType::kFloat && !context.failed()) {
    store_floats(result_matrix.floats(0, 0), product.out, product.out_layout);
  }
}

}  // namespace vitrine::optimized
