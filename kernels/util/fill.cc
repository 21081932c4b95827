#include "kernels/util/fill.h"

#include "kernels/util/convert.h"
#include "kernels/util/scalar_value.h"

namespace vitrine {

void fill(KernelContext& context, const Scalar& value, Tensor& out) {
  const int64_t integer = value.to<int64_t>();
  const double real = value.to<double>();
  const ConvertRun convert =
      convert_run(value.is_floating() ? ScalarType::kDouble : ScalarType::kLong, out.dtype());
  if (convert == nullptr) return fail_unsupported_dtype(context, out.dtype());
  if (!check_scalar(context, value, out.dtype(), "the fill value")) return;
  const void* from = &integer;
  if (value.is_floating()) from = &real;
  convert(from, 0, out.mutable_raw_data(), 1, out.numel());
}

}  // namespace vitrine
