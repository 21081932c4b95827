#include "kernels/util/convert.h"
#include "kernels/util/fill.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void fill_scalar_out(KernelContext& context, const Tensor& self, const Scalar& value, Tensor& out) {
  if (context.resize(out, self.sizes())) fill(context, value, out);
}

void fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& value, Tensor& out) {
  if (value.numel() != 1) {
    return context.fail(ErrorCode::kInvalidArgument, "value has %lld elements, not one",
                        static_cast<long long>(value.numel()));
  }
  const ConvertRun convert = convert_run(value.dtype(), out.dtype());
  if (convert == nullptr) return fail_unsupported_dtype(context, value.dtype());
  if (!context.resize(out, self.sizes())) return;
  convert(value.raw_data(), 0, out.mutable_raw_data(), 1, out.numel());
}

}  // namespace

VITRINE_KERNEL(fill_Scalar_out, "aten::fill.Scalar_out", fill_scalar_out);
VITRINE_KERNEL(fill_Tensor_out, "aten::fill.Tensor_out", fill_tensor_out);

}  // namespace vitrine::portable
