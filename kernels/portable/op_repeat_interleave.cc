#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// out = each index i of repeats, repeats[i] times.
void repeat_interleave_Tensor_out(KernelContext& context, const Tensor& repeats,
                                  std::optional<int64_t> output_size, Tensor& out) {
  const auto reader = IndexReader::make(context, repeats);
  if (!reader || !check_rank(context, repeats, 1, "repeats")) return;
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t count = (*reader)[i];
    if (count < 0 || add_overflows(total, count, &total)) {
      context.fail(ErrorCode::kInvalidArgument, "repeats[%lld] is %lld", static_cast<long long>(i),
                   static_cast<long long>(count));
      return;
    }
  }
  if (output_size && *output_size != total) {
    context.fail(ErrorCode::kInvalidArgument, "output_size is %lld, but repeats sum up to %lld",
                 static_cast<long long>(*output_size), static_cast<long long>(total));
    return;
  }
  if (!check_dtype(context, out, repeats.dtype(), "out") ||
      !resize_to(context, out, std::array{total}) || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, {&repeats})) {
    return;
  }
  dispatch<TypeList<int32_t, int64_t>>(context, out.dtype(), [&]<class T>() {
    T* to = out.unchecked_mutable_data<T>();
    for (int64_t i = 0; i < repeats.numel(); ++i) {
      for (int64_t k = (*reader)[i]; k > 0; --k) *to++ = static_cast<T>(i);
    }
  });
}

}  // namespace

VITRINE_KERNEL(repeat_interleave_Tensor_out, "aten::repeat_interleave.Tensor_out",
               repeat_interleave_Tensor_out);

}  // namespace vitrine::portable
