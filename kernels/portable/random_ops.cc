// The results of these operators differ between runs.
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constinit std::atomic<uint64_t> generator_count{0};

// SplitMix64, which the authors of xoshiro recommend for seeding.
uint64_t split_mix(uint64_t& seed) {
  uint64_t z = seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The generator xoshiro256** (Blackman and Vigna, 2018), seeded from the clock and a process-wide
// count. Not suitable for cryptography.
class Random {
 public:
  Random();

  uint64_t next();
  // A number in [0, 1) that is a multiple of 2^-digits.
  double uniform(int digits = 53) {
    return static_cast<double>(next() >> (64 - digits) << (53 - digits)) * 0x1p-53;
  }
  // A normally distributed number with mean 0 and variance 1 (Box and Muller, 1958).
  double normal();

 private:
  uint64_t state_[4];
};

Random::Random() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t seed = static_cast<uint64_t>(now) ^ (generator_count.fetch_add(1) << 48);
  for (uint64_t& word : state_) word = split_mix(seed);
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

template <class T>
constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
constexpr int kDigits<Half> = 11;
template <>
constexpr int kDigits<BFloat16> = 8;

template <bool normal>
void rand_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (!resize_to(context, out, size)) return;
  Random random;
  dispatch<FloatHBF16Types>(context, out.dtype(), [&]<class T>() {
    T* elements = out.unchecked_mutable_data<T>();
    for (int64_t i = 0; i < out.numel(); ++i) {
      // With kDigits<T> bits, a uniform number is not rounded up to 1.
      const double number = normal ? random.normal() : random.uniform(kDigits<T>);
      elements[i] = static_cast<T>(static_cast<Compute<T>>(number));
    }
  });
}

void native_dropout_out(KernelContext& context, const Tensor& input, double p,
                        std::optional<bool> train, Tensor& out0, Tensor& out1) {
  if (!(p >= 0 && p <= 1)) {
    return context.fail(ErrorCode::kInvalidArgument, "p is %g, expected 0 to 1", p);
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
  // Kept elements are scaled, which preserves the expected value.
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  dispatch<FloatTypes>(context, compute_type(input.dtype()), [&]<class T>() {
    elementwise<T, T, bool>(context, input.dtype(), {&input, &out1}, out0, [scale](T x, bool keep) {
      return keep ? x * static_cast<T>(scale) : T(0);
    });
  });
}

}  // namespace

VITRINE_KERNEL(rand_out, "aten::rand.out", rand_out<false>);
VITRINE_KERNEL(randn_out, "aten::randn.out", rand_out<true>);
VITRINE_KERNEL(native_dropout_out, "aten::native_dropout.out", native_dropout_out);

}  // namespace vitrine::portable
