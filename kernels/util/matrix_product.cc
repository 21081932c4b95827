#include "kernels/util/matrix_product.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/gemm.h"

namespace vitrine {

namespace {

template <class Sum>
class MatrixOperands final : public GemmOperands<Sum> {
 public:
  MatrixOperands(const MatrixProduct& product, const ElementMover& load, const ElementMover& store)
      : left_(product.left),
        right_(product.right),
        out_(product.out),
        out_layout_(product.out_layout),
        load_(load),
        store_(store) {
    scale_ = product.alpha.to<Factor>() != Factor(1);
    alpha_ = Sum(product.alpha.to<Factor>());
    const Addend* addend = product.addend;
    if (addend != nullptr && addend->beta.to<Factor>() != Factor(0)) {
      addend_ = addend;
      beta_ = Sum(addend->beta.to<Factor>());
    }
  }

  void load_rows(int64_t row, int64_t count, int64_t depth, int64_t depth_count,
                 Sum* panel) override {
    const Layout& layout = left_.layout;
    for (int64_t r = 0; r < count; ++r) {
      load_.move(left_.tensor.raw_data(), at(layout, row + r, depth), layout.strides[1], panel, r,
                 kGemmTileRows, depth_count);
    }
  }

  void load_columns(int64_t column, int64_t count, int64_t depth, int64_t depth_count,
                    Sum* panel) override {
    const Layout& layout = right_.layout;
    const void* data = right_.tensor.raw_data();
    if (layout.strides[0] == 1) {
      for (int64_t c = 0; c < count; ++c) {
        load_.move(data, at(layout, depth, column + c), 1, panel, c, kGemmTileColumns, depth_count);
      }
      return;
    }
    for (int64_t d = 0; d < depth_count; ++d) {
      load_.move(data, at(layout, depth + d, column), layout.strides[1], panel,
                 d * kGemmTileColumns, 1, count);
    }
  }

  void store(int64_t row, int64_t column, int64_t count, Sum* sums) override {
    if (scale_) {
      for (int64_t i = 0; i < count; ++i) sums[i] *= alpha_;
    }
    if (addend_ != nullptr) {
      Sum added[kGemmBlockColumns<Sum>];
      load_.move(addend_->tensor.raw_data(), at(addend_->layout, row, column),
                 addend_->layout.strides[1], added, 0, 1, count);
      for (int64_t i = 0; i < count; ++i) sums[i] += beta_ * added[i];
    }
    store_.move(sums, 0, 1, out_.mutable_raw_data(), at(out_layout_, row, column),
                out_layout_.strides[1], count);
  }

 private:
  // The type of alpha and beta, which may be negative: int64_t for integers, otherwise Sum.
  using Factor = std::conditional_t<std::is_same_v<Sum, uint64_t>, int64_t, Sum>;

  static int64_t at(const Layout& layout, int64_t row, int64_t column) {
    return layout.offset + row * layout.strides[0] + column * layout.strides[1];
  }

  const MatrixView& left_;
  const MatrixView& right_;
  Tensor& out_;
  const Layout& out_layout_;
  const Addend* addend_ = nullptr;
  bool scale_;
  Sum alpha_;
  Sum beta_{};
  const ElementMover& load_;
  const ElementMover& store_;
};

bool shapes_fit(const Layout& left, const Layout& right, const Layout& out, const Addend* addend) {
  return left.rank == 2 && right.rank == 2 && out.rank == 2 && left.sizes[1] == right.sizes[0] &&
         out.sizes[0] == left.sizes[0] && out.sizes[1] == right.sizes[1] &&
         (addend == nullptr ||
          (addend->layout.rank == 2 && addend->layout.sizes[0] == out.sizes[0] &&
           addend->layout.sizes[1] == out.sizes[1]));
}

}  // namespace

bool check_product(KernelContext& context, const MatrixProduct& product) {
  const auto& [left, right, out, out_layout, addend, alpha] = product;
  const ScalarType dtype = out.dtype();
  if (!check_dtype_in<RealHBF16Types>(context, out) ||
      !check_dtype(context, left.tensor, dtype, "the left matrix") ||
      !check_dtype(context, right.tensor, dtype, "the right matrix") ||
      (addend != nullptr && !check_dtype(context, addend->tensor, dtype, "the addend")) ||
      !check_data(context, {&left.tensor, &right.tensor, &out,
                            addend != nullptr ? &addend->tensor : nullptr})) {
    return false;
  }
  if (shapes_fit(left.layout, right.layout, out_layout, addend)) return true;
  context.fail(
      ErrorCode::kInvalidArgument,
      "matrices [%lld,%lld] and [%lld,%lld] do not have a product of shape [%lld,%lld]",
      static_cast<long long>(left.layout.sizes[0]), static_cast<long long>(left.layout.sizes[1]),
      static_cast<long long>(right.layout.sizes[0]), static_cast<long long>(right.layout.sizes[1]),
      static_cast<long long>(out_layout.sizes[0]), static_cast<long long>(out_layout.sizes[1]));
  return false;
}

void multiply_matrices(KernelContext& context, const MatrixProduct& product) {
  const ScalarType dtype = product.out.dtype();
  dispatch_sum(context, dtype, [&]<class Sum>() {
    const auto load = ElementMover::make(context, dtype, sum_dtype<Sum>);
    const auto store = ElementMover::make(context, sum_dtype<Sum>, dtype);
    if (!load || !store) return;
    MatrixOperands<Sum> operands(product, *load, *store);
    gemm(product.out_layout.sizes[0], product.out_layout.sizes[1], product.left.layout.sizes[1],
         operands);
  });
}

void mm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out,
        MultiplyMatrices multiply) {
  if (!check_rank(context, self, 2, "self") || !check_rank(context, mat2, 2, "mat2") ||
      !context.resize(out, std::array{self.size(0), mat2.size(1)})) {
    return;
  }
  const Layout left(self);
  const Layout right(mat2);
  const Layout result(out);
  const MatrixProduct product{{self, left}, {mat2, right}, out, result};
  if (check_product(context, product)) multiply(context, product);
}

void bmm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out,
         MultiplyMatrices multiply) {
  if (!check_rank(context, self, 3, "self") || !check_rank(context, mat2, 3, "mat2") ||
      !check_rank(context, out, 3, "out")) {
    return;
  }
  if (self.size(0) != mat2.size(0)) {
    return context.fail(ErrorCode::kInvalidArgument, "self has %d matrices, but mat2 has %d",
                        self.size(0), mat2.size(0));
  }
  if (!context.resize(out, std::array{self.size(0), self.size(1), mat2.size(2)})) return;
  for (int64_t i = 0; i < self.size(0) && !context.failed(); ++i) {
    Layout left(self);
    Layout right(mat2);
    Layout result(out);
    for (Layout* layout : {&left, &right, &result}) layout->select(0, i);
    const MatrixProduct product{{self, left}, {mat2, right}, out, result};
    if (!check_product(context, product)) return;
    if (out.numel() == 0) return;  // avoids a loop over possibly many empty matrices
    multiply(context, product);
  }
}

void addmm(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
           const Scalar& beta, const Scalar& alpha, Tensor& out, MultiplyMatrices multiply) {
  if (!check_rank(context, mat1, 2, "mat1") || !check_rank(context, mat2, 2, "mat2") ||
      !context.resize(out, std::array{mat1.size(0), mat2.size(1)})) {
    return;
  }
  const Layout left(mat1);
  const Layout right(mat2);
  const Layout result(out);
  Layout added(self);
  if (!added.broadcast_to(result.size_span())) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "self does not broadcast to the product's shape, [%d,%d]", out.size(0),
                        out.size(1));
  }
  const Addend addend{self, added, beta};
  const MatrixProduct product{{mat1, left}, {mat2, right}, out, result, &addend, alpha};
  if (check_product(context, product)) multiply(context, product);
}

void linear(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
            Tensor& out, MultiplyMatrices multiply) {
  if (input.rank() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "input is 0-d, expected a feature dimension");
  }
  if (!check_rank(context, weight, 2, "weight") || !check_contiguous(context, input, "input")) {
    return;
  }
  const size_t last = input.rank() - 1;
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(input.sizes(), sizes.begin());
  sizes[last] = weight.size(0);
  if (!context.resize(out, std::span(sizes).first(input.rank())) ||
      !check_contiguous(context, out, "out")) {
    return;
  }
  const int64_t rows = size_product(input, 0, last);
  const Layout left(std::array<int64_t, 2>{rows, input.size(last)});
  const Layout result(std::array<int64_t, 2>{rows, weight.size(0)});
  Layout right(weight);
  right.swap(0, 1);
  std::optional<Addend> addend;
  Layout added;
  if (bias != nullptr) {
    added = Layout(*bias);
    if (bias->rank() != 1 || !added.broadcast_to(result.size_span())) {
      return context.fail(ErrorCode::kInvalidArgument, "bias must be 1-d with 1 or %d elements",
                          weight.size(0));
    }
    addend.emplace(Addend{*bias, added, int64_t{1}});
  }
  const MatrixProduct product{
      {input, left}, {weight, right}, out, result, addend ? &*addend : nullptr};
  if (check_product(context, product)) multiply(context, product);
}

}  // namespace vitrine
