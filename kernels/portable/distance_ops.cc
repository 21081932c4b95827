// Operators that compute p-norms of the differences between rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kernels/util/arithmetic.h"
#include "kernels/util/box_loop.h"
#include "kernels/util/broadcast.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Fails unless x1, x2 and out have the same floating dtype, and p >= 0. p may be infinity.
bool check_distance(KernelContext& context, const Tensor& x1, const Tensor& x2, double p,
                    const Tensor& out) {
  if (!(p >= 0)) {
    context.fail(ErrorCode::kInvalidArgument, "p is %g, expected 0 or greater", p);
    return false;
  }
  return check_dtype_in<FloatHBF16Types>(context, x1) &&
         check_dtype(context, x2, x1.dtype(), "x2") && check_dtype(context, out, x1.dtype(), "out");
}

// The p-norm of a - b. p = 0: number of different elements. p = infinity: largest difference.
struct Norm {
  enum class Kind : uint8_t { kZero, kOne, kTwo, kInfinity, kOther };

  explicit Norm(double power)
      : p(power),
        kind(p == 0          ? Kind::kZero
             : p == 1        ? Kind::kOne
             : p == 2        ? Kind::kTwo
             : std::isinf(p) ? Kind::kInfinity
                             : Kind::kOther) {}

  double p;
  Kind kind;
};

template <class T>
T distance(const T* a, const T* b, int64_t length, const Norm& norm) {
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double difference = std::fabs(static_cast<double>(static_cast<Compute<T>>(a[i])) -
                                        static_cast<double>(static_cast<Compute<T>>(b[i])));
    if (norm.kind == Norm::Kind::kOne) {
      sum += difference;
    } else if (norm.kind == Norm::Kind::kTwo) {
      sum += difference * difference;
    } else if (norm.kind == Norm::Kind::kZero) {
      sum += difference != 0 ? 1 : 0;
    } else if (norm.kind == Norm::Kind::kInfinity) {
      sum = larger(sum, difference);
    } else {
      sum += std::pow(difference, norm.p);
    }
  }
  if (norm.kind == Norm::Kind::kTwo) sum = std::sqrt(sum);
  if (norm.kind == Norm::Kind::kOther) sum = std::pow(sum, 1 / norm.p);
  return static_cast<T>(static_cast<Compute<T>>(sum));
}

struct BatchShape {
  std::array<int64_t, kMaxRank> sizes;
  std::array<int64_t, kMaxRank> strides[3];  // strides of out, x1 and x2
  size_t rank;
};

template <class T>
void distances(const BatchShape& batches, const Tensor& x1, const Tensor& x2, double p,
               Tensor& out) {
  const int64_t rows1 = x1.size(x1.rank() - 2);
  const int64_t rows2 = x2.size(x2.rank() - 2);
  const int64_t length = x1.size(x1.rank() - 1);
  const Norm norm(p);
  const BoxLoop<3> loop(
      {batches.sizes.data(), batches.rank},
      {batches.strides[0].data(), batches.strides[1].data(), batches.strides[2].data()});
  loop.run({}, [&](const BoxLoop<3>::Offsets& first, int64_t count) {
    for (int64_t batch = 0; batch < count; ++batch) {
      T* result = out.unchecked_mutable_data<T>() + first[0] + batch * loop.row_stride(0);
      const T* a = x1.unchecked_data<T>() + first[1] + batch * loop.row_stride(1);
      const T* b = x2.unchecked_data<T>() + first[2] + batch * loop.row_stride(2);
      for (int64_t i = 0; i < rows1; ++i) {
        for (int64_t j = 0; j < rows2; ++j) {
          *result++ = distance(a + i * length, b + j * length, length, norm);
        }
      }
    }
  });
}

// compute_mode selects an algorithm but not the result.
void cdist_forward_out(KernelContext& context, const Tensor& x1, const Tensor& x2, double p,
                       std::optional<int64_t> /*compute_mode*/, Tensor& out) {
  if (x1.rank() < 2 || x2.rank() < 2 || x1.size(x1.rank() - 1) != x2.size(x2.rank() - 1)) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "x1 and x2 must have rank 2 or more, and last dimensions of equal size");
  }
  if (!check_contiguous(context, x1, "x1") || !check_contiguous(context, x2, "x2") ||
      !check_distance(context, x1, x2, p, out)) {
    return;
  }
  const size_t rank = std::max(x1.rank(), x2.rank());
  std::array<int32_t, kMaxRank> sizes;
  BatchShape batches;
  batches.rank = rank - 2;
  for (size_t i = 0; i + 2 < rank; ++i) {
    const auto size_of = [&](const Tensor& x) {
      return i + x.rank() < rank ? 1 : x.size(i + x.rank() - rank);
    };
    const int32_t a = size_of(x1);
    const int32_t b = size_of(x2);
    if (a != b && a != 1 && b != 1) {
      return context.fail(ErrorCode::kInvalidArgument, "the batches of x1 and x2 do not broadcast");
    }
    sizes[i] = a == 1 ? b : a;
    batches.sizes[i] = sizes[i];
  }
  sizes[rank - 2] = x1.size(x1.rank() - 2);
  sizes[rank - 1] = x2.size(x2.rank() - 2);
  if (!context.resize(out, {sizes.data(), rank}) || !check_contiguous(context, out, "out")) return;
  if (out.numel() == 0) return;  // without elements, the loop over the batches does nothing
  broadcast_strides(out, rank, batches.strides[0]);
  broadcast_strides(x1, rank, batches.strides[1]);
  broadcast_strides(x2, rank, batches.strides[2]);
  dispatch<FloatHBF16Types>(context, x1.dtype(),
                            [&]<class T>() { distances<T>(batches, x1, x2, p, out); });
}

void pdist_forward_out(KernelContext& context, const Tensor& self, double p, Tensor& out) {
  if (!check_rank(context, self, 2, "self") || !check_contiguous(context, self, "self") ||
      !check_distance(context, self, self, p, out)) {
    return;
  }
  const int64_t rows = self.size(0);
  const int64_t length = self.size(1);
  const int64_t pairs = rows * (rows - 1) / 2;
  if (pairs > INT32_MAX) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "self has %lld pairs of rows, expected at most 2^31 - 1",
                        static_cast<long long>(pairs));
  }
  const std::array<int32_t, 1> sizes{static_cast<int32_t>(pairs)};
  if (!context.resize(out, sizes)) return;
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() {
    const Norm norm(p);
    const T* data = self.unchecked_data<T>();
    T* result = out.unchecked_mutable_data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = i + 1; j < rows; ++j) {
        *result++ = distance(data + i * length, data + j * length, length, norm);
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(cdist_forward_out, "aten::_cdist_forward.out", cdist_forward_out);
VITRINE_KERNEL(pdist_forward_out, "aten::_pdist_forward.out", pdist_forward_out);

}  // namespace vitrine::portable
