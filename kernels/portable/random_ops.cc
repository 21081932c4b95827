// Operators with random results.
#include <optional>

#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/fill.h"
#include "kernels/util/random.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <double (Random::*next)()>
void rand_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  fill_random(context, size, out, [](Random& random) { return (random.*next)(); });
}

void native_dropout_out(KernelContext& context, const Tensor& input, double p,
                        std::optional<bool> train, Tensor& out0, Tensor& out1) {
  if (!(p >= 0 && p <= 1)) {
    return context.fail(ErrorCode::kInvalidArgument, "p is %g, not in 0 to 1", p);
  }
  if (!check_dtype_in<FloatHBF16Types>(context, input) ||
      !check_dtype(context, out1, ScalarType::kBool, "out1") ||
      !context.resize(out1, input.sizes())) {
    return;
  }
  if (!train.value_or(true) || p == 0) {
    fill(context, true, out1);
    return unary_floating(context, input, out0, [](auto x) { return x; });
  }
  Random random;
  bool* kept = out1.unchecked_mutable_data<bool>();
  for (int64_t i = 0; i < out1.numel(); ++i) kept[i] = random.uniform() >= p;
  // Kept elements are scaled to preserve the expected value; with p = 1 none are kept.
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  dispatch<FloatTypes>(context, compute_type(input.dtype()), [&]<class T>() {
    elementwise<T, T, bool>(context, input.dtype(), {&input, &out1}, out0, [scale](T x, bool keep) {
      return keep ? x * static_cast<T>(scale) : T(0);
    });
  });
}

}  // namespace

VITRINE_KERNEL(rand_out, "aten::rand.out", rand_out<&Random::uniform>);
VITRINE_KERNEL(randn_out, "aten::randn.out", rand_out<&Random::normal>);
VITRINE_KERNEL(native_dropout_out, "aten::native_dropout.out", native_dropout_out);

}  // namespace vitrine::portable
