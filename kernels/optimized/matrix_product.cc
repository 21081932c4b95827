#include "kernels/optimized/matrix_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/gemm.h"

namespace vitrine::optimized {

namespace {

FloatMatrix float_matrix(const float* data, const Layout& layout) {
  return {data + layout.offset, layout.sizes[0], layout.sizes[1], layout.strides[0],
          layout.strides[1]};
}

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

void multiply_floats(KernelContext& context, const MatrixProduct& product) {
  FloatMatrix left = float_matrix(product.left.tensor.data<float>(), product.left.layout);
  FloatMatrix right = float_matrix(product.right.tensor.data<float>(), product.right.layout);
  const Layout& layout = product.out_layout;
  Result result{product.out.mutable_data<float>() + layout.offset, layout.strides[0],
                layout.strides[1]};
  Epilogue epilogue{product.alpha.to<float>(), 0, {}};
  if (product.addend != nullptr) {
    epilogue.beta = product.addend->beta.to<float>();
    epilogue.added = float_matrix(product.addend->tensor.data<float>(), product.addend->layout);
  }
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
  gemm(context, left.rows, right.columns, left.columns,
       MatrixOperands(left, right, result, epilogue));
}

}  // namespace

void multiply(KernelContext& context, const FloatMatrix& left, const FloatMatrix& right,
              float* result) {
  gemm(context, left.rows, right.columns, left.columns,
       MatrixOperands(left, right, {result, right.columns, 1}, {1, 0, {}}));
}

void multiply_matrices(KernelContext& context, const MatrixProduct& product) {
  const ScalarType dtype = product.out.dtype();
  if (dtype == ScalarType::kFloat) return multiply_floats(context, product);
  if (!is_reduced_float(dtype)) return vitrine::multiply_matrices(context, product);

  FloatCopy left;
  FloatCopy right;
  FloatCopy added;
  FloatCopy out;
  if (!FloatCopy::make(context, product.left.tensor, left) ||
      !FloatCopy::make(context, product.right.tensor, right) ||
      !FloatCopy::make(context, product.out, out)) {
    return;
  }
  left.read(context, product.left.tensor);
  right.read(context, product.right.tensor);
  std::optional<Addend> addend;
  if (product.addend != nullptr) {
    if (!FloatCopy::make(context, product.addend->tensor, added)) return;
    added.read(context, product.addend->tensor);
    addend.emplace(Addend{added.tensor(), product.addend->layout, product.addend->beta});
  }
  multiply_floats(context, {{left.tensor(), product.left.layout},
                            {right.tensor(), product.right.layout},
                            out.tensor(),
                            product.out_layout,
                            addend ? &*addend : nullptr,
                            product.alpha});
  if (!context.failed()) out.write(context, product.out);
}

}  // namespace vitrine::optimized
