#include "kernels/optimized/matrix_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/gemm.h"
#include "kernels/optimized/simd/convert.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/util/convert.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// to[r * to_stride + c] = from(r, c), by squares, so that both sides are read and written by lines.
void copy_matrix(const FloatMatrix& from, float* to, int64_t to_stride) {
  if (from.column_stride == 1) {
    for (int64_t r = 0; r < from.rows; ++r) {
      std::memcpy(to + r * to_stride, from.data + r * from.row_stride,
                  static_cast<size_t>(from.columns) * sizeof(float));
    }
    return;
  }
  constexpr int64_t kSquare = 16;
  for (int64_t r0 = 0; r0 < from.rows; r0 += kSquare) {
    const int64_t r1 = std::min(from.rows, r0 + kSquare);
    for (int64_t c0 = 0; c0 < from.columns; c0 += kSquare) {
      const int64_t c1 = std::min(from.columns, c0 + kSquare);
      for (int64_t c = c0; c < c1; ++c) {
        const float* source = from.data + c * from.column_stride;
        for (int64_t r = r0; r < r1; ++r) to[r * to_stride + c] = source[r * from.row_stride];
      }
    }
  }
}

struct Result {
  float* data;
  int64_t row_stride;
  int64_t column_stride;
};

struct Epilogue {
  float alpha;
  float beta;  // 0: nothing is added
  FloatMatrix added;
};

class MatrixOperands final : public GemmOperands {
 public:
  MatrixOperands(const FloatMatrix& left, const FloatMatrix& right, const Result& result,
                 const Epilogue& epilogue)
      : left_(left), right_(right), result_(result), epilogue_(epilogue) {}

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    const float* const first = left_.data + row * left_.row_stride;
    if (!wants_scratch()) return {first, left_.row_stride};
    copy_matrix({first, count, left_.columns, left_.row_stride, left_.column_stride}, scratch,
                left_.columns);
    return {scratch, left_.columns};
  }
  bool wants_scratch() const override { return left_.column_stride != 1 && left_.columns > 1; }

  void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const override {
    copy_matrix({right_.data + column * right_.column_stride, right_.rows, count, right_.row_stride,
                 right_.column_stride},
                panel, width);
    if (count == width) return;
    for (int64_t d = 0; d < right_.rows; ++d) {
      std::fill(panel + d * width + count, panel + (d + 1) * width, 0.0F);
    }
  }
  GemmRows right_in_place() const override {
    return {right_.column_stride == 1 ? right_.data : nullptr, right_.row_stride};
  }

  InPlace result_in_place() const override {
    const bool sums = epilogue_.alpha == 1 && epilogue_.beta == 0 && result_.column_stride == 1;
    return {sums ? result_.data : nullptr, result_.row_stride, nullptr};
  }
  void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
             int64_t stride) const override {
    for (int64_t r = 0; r < rows; ++r, sums += stride) {
      float* const to =
          result_.data + (row + r) * result_.row_stride + column * result_.column_stride;
      const FloatMatrix& added = epilogue_.added;
      const float* const add = epilogue_.beta == 0 ? nullptr
                                                   : added.data + (row + r) * added.row_stride +
                                                         column * added.column_stride;
      if (result_.column_stride == 1 && add == nullptr) {
        for (int64_t c = 0; c < count; ++c) to[c] = epilogue_.alpha * sums[c];
      } else if (result_.column_stride == 1 && added.column_stride == 1) {
        for (int64_t c = 0; c < count; ++c) {
          to[c] = epilogue_.alpha * sums[c] + epilogue_.beta * add[c];
        }
      } else {
        for (int64_t c = 0; c < count; ++c) {
          const float more = add == nullptr ? 0.0F : epilogue_.beta * add[c * added.column_stride];
          to[c * result_.column_stride] =
              add == nullptr ? epilogue_.alpha * sums[c] : epilogue_.alpha * sums[c] + more;
        }
      }
    }
  }

 private:
  FloatMatrix left_;
  FloatMatrix right_;
  Result result_;
  Epilogue epilogue_;
};

// A view of a Float tensor in place; one of Half or BFloat16 as a row-major copy in temporary
// memory. Its data are null (and the context has failed) without memory.
FloatMatrix float_matrix(KernelContext& context, const Tensor& tensor, const Layout& layout) {
  FloatMatrix matrix{tensor.unchecked_data<float>() + layout.offset, layout.sizes[0],
                     layout.sizes[1], layout.strides[0], layout.strides[1]};
  if (tensor.dtype() == ScalarType::kFloat) return matrix;
  auto* const copy =
      static_cast<float*>(context.allocate_temp({matrix.rows, matrix.columns, sizeof(float)}));
  if (copy == nullptr) return {};
  const ConvertRun convert = convert_run(tensor.dtype(), ScalarType::kFloat);
  const auto* const from = tensor.unchecked_data<uint16_t>() + layout.offset;
  for (int64_t r = 0; r < matrix.rows && matrix.columns > 0; ++r) {
    float* const row = copy + r * matrix.columns;
    if (layout.strides[1] == 1) {
      simd::to_float(tensor.dtype())(from + r * layout.strides[0], row, matrix.columns);
    } else {
      convert(from + r * layout.strides[0], layout.strides[1], row, 1, matrix.columns);
    }
  }
  return {copy, matrix.rows, matrix.columns, matrix.columns, 1};
}

// The way back, from a row-major copy.
void put_floats(const float* from, Tensor& tensor, const Layout& layout) {
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

// A column of dot products.
void multiply_by_vector(KernelContext& context, const FloatMatrix& left, const float* vector,
                        const MatrixOperands& operands) {
  constexpr int64_t kRows = 32;
  parallel_ranges(context, left.rows, kRows, 4 * left.columns, [&](int64_t begin, int64_t end) {
    float sums[kRows];
    for (int64_t row = begin; row < end; row += kRows) {
      const int64_t count = std::min(kRows, end - row);
      simd::multiply_vector(left.data + row * left.row_stride, left.row_stride, count, vector,
                            left.columns, sums);
      operands.store(row, count, 0, 1, sums, 1);
    }
  });
}

}  // namespace

void multiply(KernelContext& context, const FloatMatrix& left, const FloatMatrix& right,
              float* result) {
  gemm(context, left.rows, right.columns, left.columns,
       MatrixOperands(left, right, {result, right.columns, 1}, {1, 0, {}}));
}

void multiply_matrices(KernelContext& context, const MatrixProduct& product) {
  const ScalarType dtype = product.out.dtype();
  if (dtype != ScalarType::kFloat && !is_reduced_float(dtype)) {
    return vitrine::multiply_matrices(context, product);
  }
  FloatMatrix left = float_matrix(context, product.left.tensor, product.left.layout);
  FloatMatrix right = float_matrix(context, product.right.tensor, product.right.layout);
  FloatMatrix whole = float_matrix(context, product.out, product.out_layout);
  Epilogue epilogue{product.alpha.to<float>(), 0, {}};
  if (product.addend != nullptr) {
    epilogue.beta = product.addend->beta.to<float>();
    epilogue.added = float_matrix(context, product.addend->tensor, product.addend->layout);
  }
  if (context.failed()) return;
  // A copy in temporary memory, or the tensor itself.
  Result result{const_cast<float*>(whole.data), whole.row_stride, whole.column_stride};
  // A few rows by a transposed matrix (a linear layer of a small batch): turned round, the large
  // matrix is read in place.
  if (left.rows < gemm_lanes() / 2 && right.columns > left.rows && right.row_stride == 1 &&
      right.column_stride != 1) {
    std::swap(left, right);
    left = left.transposed();
    right = right.transposed();
    std::swap(result.row_stride, result.column_stride);
    epilogue.added = epilogue.added.transposed();
  }
  const MatrixOperands operands(left, right, result, epilogue);
  if (right.columns == 1 && left.column_stride == 1 && right.row_stride == 1) {
    multiply_by_vector(context, left, right.data, operands);
  } else {
    gemm(context, left.rows, right.columns, left.columns, operands);
  }
  if (dtype != ScalarType::kFloat && !context.failed()) {
    put_floats(whole.data, product.out, product.out_layout);
  }
}

}  // namespace vitrine::optimized
