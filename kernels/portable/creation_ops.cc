#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/arithmetic.h"
#include "kernels/util/convert.h"
#include "kernels/util/dim_order.h"
#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void full_out(KernelContext& context, std::span<const int64_t> size, const Scalar& fill_value,
              Tensor& out) {
  if (resize_to(context, out, size)) fill(context, fill_value, out);
}

// The program determines the dim order of `out`, so memory_format is ignored.
void full_like_out(KernelContext& context, const Tensor& self, const Scalar& fill_value,
                   std::optional<int64_t> /*memory_format*/, Tensor& out) {
  if (context.resize(out, self.sizes())) fill(context, fill_value, out);
}

void scalar_tensor_out(KernelContext& context, const Scalar& s, Tensor& out) {
  full_out(context, {}, s, out);
}

void ones_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  full_out(context, size, int64_t{1}, out);
}

// In every dtype, zero consists of zero bytes.
void zeros_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (!resize_to(context, out, size) || out.numel() == 0) return;
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
}

void empty_out(KernelContext& context, std::span<const int64_t> size,
               std::optional<int64_t> /*memory_format*/, Tensor& out) {
  static_cast<void>(resize_to(context, out, size));
}

void empty_dim_order_out(KernelContext& context, std::span<const int64_t> size,
                         std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  if (check_dim_order(context, dim_order, out)) (void)resize_to(context, out, size);
}

void fill_scalar_out(KernelContext& context, const Tensor& self, const Scalar& value, Tensor& out) {
  if (context.resize(out, self.sizes())) fill(context, value, out);
}

void fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& value, Tensor& out) {
  if (value.numel() != 1) {
    return context.fail(ErrorCode::kInvalidArgument, "value has %lld elements, expected 1",
                        static_cast<long long>(value.numel()));
  }
  const ConvertRun convert = convert_run(value.dtype(), out.dtype());
  if (convert == nullptr) return fail_unsupported_dtype(context, value.dtype());
  if (!context.resize(out, self.sizes())) return;
  convert(value.raw_data(), 0, out.mutable_raw_data(), 1, out.numel());
}

// Number of elements of a range, or nullopt if the range is invalid. If `integers` is true,
// computes in int64, because doubles would lose the low bits of large numbers.
std::optional<int64_t> range_length(const Scalar& start, const Scalar& end, const Scalar& step,
                                    bool integers) {
  constexpr double kLengthLimit = 0x1p31;
  if (integers) {
    const int64_t first = start.to<int64_t>();
    const int64_t last = end.to<int64_t>();
    const int64_t stride = step.to<int64_t>();
    if (stride == 0 || (stride > 0 ? last < first : last > first)) return std::nullopt;
    const uint64_t distance = stride > 0
                                  ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first)
                                  : static_cast<uint64_t>(first) - static_cast<uint64_t>(last);
    const uint64_t width =
        stride > 0 ? static_cast<uint64_t>(stride) : uint64_t{0} - static_cast<uint64_t>(stride);
    const uint64_t count = distance / width + (distance % width != 0 ? 1 : 0);
    if (count >= static_cast<uint64_t>(kLengthLimit)) return std::nullopt;
    return static_cast<int64_t>(count);
  }
  const double count = std::ceil((end.to<double>() - start.to<double>()) / step.to<double>());
  if (!(count >= 0) || !(count < kLengthLimit)) return std::nullopt;
  return static_cast<int64_t>(count);
}

void arange_start_out(KernelContext& context, const Scalar& start, const Scalar& end,
                      const Scalar& step, Tensor& out) {
  const bool integers = out.dtype() == ScalarType::kLong;
  const std::optional<int64_t> count = range_length(start, end, step, integers);
  if (!count) {
    return context.fail(ErrorCode::kInvalidArgument, "cannot go from %g to %g in steps of %g",
                        start.to<double>(), end.to<double>(), step.to<double>());
  }
  const std::array<int32_t, 1> sizes{static_cast<int32_t>(*count)};
  const ScalarType compute_dtype =
      is_floating(out.dtype()) ? ScalarType::kDouble : ScalarType::kLong;
  const ConvertRun convert = convert_run(compute_dtype, out.dtype());
  if (convert == nullptr) return fail_unsupported_dtype(context, out.dtype());
  if (!context.resize(out, sizes)) return;
  std::byte* element = out.unchecked_mutable_data<std::byte>();
  for (int64_t i = 0; i < *count; ++i, element += out.element_size()) {
    const double real = start.to<double>() + static_cast<double>(i) * step.to<double>();
    const int64_t integer = wrapping_add(start.to<int64_t>(), wrapping_mul(i, step.to<int64_t>()));
    convert(compute_dtype == ScalarType::kDouble ? static_cast<const void*>(&real) : &integer, 1,
            element, 1, 1);
  }
}

void arange_out(KernelContext& context, const Scalar& end, Tensor& out) {
  arange_start_out(context, int64_t{0}, end, int64_t{1}, out);
}

}  // namespace

VITRINE_KERNEL(_empty_dim_order_out, "dim_order_ops::_empty_dim_order.out", empty_dim_order_out);
VITRINE_KERNEL(empty_out, "aten::empty.out", empty_out);
VITRINE_KERNEL(full_like_out, "aten::full_like.out", full_like_out);
VITRINE_KERNEL(full_out, "aten::full.out", full_out);
VITRINE_KERNEL(ones_out, "aten::ones.out", ones_out);
VITRINE_KERNEL(scalar_tensor_out, "aten::scalar_tensor.out", scalar_tensor_out);
VITRINE_KERNEL(zeros_out, "aten::zeros.out", zeros_out);
VITRINE_KERNEL(fill_Scalar_out, "aten::fill.Scalar_out", fill_scalar_out);
VITRINE_KERNEL(fill_Tensor_out, "aten::fill.Tensor_out", fill_tensor_out);
VITRINE_KERNEL(arange_out, "aten::arange.out", arange_out);
VITRINE_KERNEL(arange_start_out, "aten::arange.start_out", arange_start_out);

}  // namespace vitrine::portable
