#include <algorithm>
#include <cmath>

#include "kernels/util/box_loop.h"
#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

struct Tolerance {
  double relative;
  double absolute;
  bool equal_nan;

  bool accepts(double a, double b) const {
    if (a == b) return true;  // includes equal infinities
    if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return false;
    return std::fabs(a - b) <= absolute + std::fabs(relative * b);
  }
};

bool all_close(const Tensor& self, const Tensor& other, const ConvertRun convert,
               const Tolerance& tolerance) {
  std::array<int64_t, kMaxRank> sizes{};
  std::copy(self.sizes().begin(), self.sizes().end(), sizes.begin());
  const BoxLoop<2> loop({sizes.data(), self.rank()},
                        {self.strides().data(), other.strides().data()});
  bool all_accepted = true;
  loop.run({}, [&](const BoxLoop<2>::Offsets& first, int64_t length) {
    for (int64_t i = 0; all_accepted && i < length; ++i) {
      double a = 0;
      double b = 0;
      const auto read = [&](const Tensor& tensor, size_t operand, double& value) {
        const int64_t at = first[operand] + i * loop.row_stride(operand);
        convert(
            tensor.unchecked_data<std::byte>() + at * static_cast<int64_t>(tensor.element_size()),
            1, &value, 1, 1);
      };
      read(self, 0, a);
      read(other, 1, b);
      all_accepted = tolerance.accepts(a, b);
    }
  });
  return all_accepted;
}

void allclose_out(KernelContext& context, const Tensor& self, const Tensor& other, double rtol,
                  double atol, bool equal_nan, bool /*dummy_param*/, Tensor& out) {
  if (!check_dtype(context, other, self.dtype(), "other") ||
      !check_sizes(context, other, self.sizes(), "other") ||
      !check_dtype(context, out, ScalarType::kBool, "out")) {
    return;
  }
  if (out.numel() != 1) {
    return context.fail(ErrorCode::kInvalidArgument, "out has %lld elements, expected 1",
                        static_cast<long long>(out.numel()));
  }
  const ConvertRun convert = convert_run(self.dtype(), ScalarType::kDouble);
  if (convert == nullptr) return fail_unsupported_dtype(context, self.dtype());
  *out.unchecked_mutable_data<bool>() = all_close(self, other, convert, {rtol, atol, equal_nan});
}

}  // namespace

VITRINE_KERNEL(allclose_out, "aten::allclose.out", allclose_out);

}  // namespace vitrine::portable
