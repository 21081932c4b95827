#include "kernels/util/matrix_product.h"

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/gemm.h"

namespace vitrine {

namespace {

template <class Sum>
class MatrixOperands final : public GemmOperands<Sum> {
 public:
  MatrixOperands(const MatrixView& left, const MatrixView& right, Tensor& out,
                 const Layout& out_layout, const Addend* addend, const Scalar& alpha,
                 const ElementMover& load, const ElementMover& store)
      : left_(left), right_(right), out_(out), out_layout_(out_layout), load_(load), store_(store) {
    scale_ = alpha.to<Factor>() != Factor(1);
    alpha_ = Sum(alpha.to<Factor>());
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
  // What a Scalar is read as: signed, unlike the sums.
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

void multiply_matrices(KernelContext& context, const MatrixView& left, const MatrixView& right,
                       Tensor& out, const Layout& out_layout, const Addend* addend,
                       const Scalar& alpha) {
  const ScalarType dtype = out.dtype();
  if (!check_dtype_in<RealHBF16Types>(context, out) ||
      !check_dtype(context, left.tensor, dtype, "the left matrix") ||
      !check_dtype(context, right.tensor, dtype, "the right matrix") ||
      (addend != nullptr && !check_dtype(context, addend->tensor, dtype, "the addend")) ||
      !check_data(context, {&left.tensor, &right.tensor, &out,
                            addend != nullptr ? &addend->tensor : nullptr})) {
    return;
  }
  if (!shapes_fit(left.layout, right.layout, out_layout, addend)) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "matrices of %lld x %lld and %lld x %lld do not multiply to %lld x %lld",
        static_cast<long long>(left.layout.sizes[0]), static_cast<long long>(left.layout.sizes[1]),
        static_cast<long long>(right.layout.sizes[0]),
        static_cast<long long>(right.layout.sizes[1]), static_cast<long long>(out_layout.sizes[0]),
        static_cast<long long>(out_layout.sizes[1]));
    return;
  }
  dispatch_sum(dtype, [&]<class Sum>() {
    const auto load = ElementMover::make(context, dtype, sum_dtype<Sum>);
    const auto store = ElementMover::make(context, sum_dtype<Sum>, dtype);
    if (!load || !store) return;
    MatrixOperands<Sum> operands(left, right, out, out_layout, addend, alpha, *load, *store);
    gemm(out_layout.sizes[0], out_layout.sizes[1], left.layout.sizes[1], operands);
  });
}

}  // namespace vitrine
