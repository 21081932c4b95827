#include "kernels/optimized/simd/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/elementwise.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/optimized/simd/math-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector parameter(const float* values, size_t i) {
  return hn::Set(Tag(), values != nullptr ? values[i] : 0.0F);
}

// Stores of large results bypass the cache, which saves reading the destination first. Short runs
// use ordinary stores.
constexpr int64_t kMinStreamedElements = int64_t{4} << 20;
constexpr int64_t kMinStreamedRun = 4096;

HWY_INLINE bool may_stream(const float* to, int64_t count, int64_t total_count) {
  return total_count >= kMinStreamedElements && count >= kMinStreamedRun &&
         reinterpret_cast<uintptr_t>(to) % sizeof(float) == 0;
}

// Number of elements before the first aligned vector.
HWY_INLINE int64_t unaligned(const float* to) {
  const size_t bytes = hn::Lanes(Tag()) * sizeof(float);
  return static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(to)) % bytes / sizeof(float));
}

// Sets to[i] for i < count: full vectors with vector(i), and partial vectors at the ends with
// part(i, number of elements left).
template <class Part, class Full>
HWY_INLINE void run(float* to, int64_t count, int64_t total_count, const Part& part,
                    const Full& vector) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool stream = may_stream(to, count, total_count);
  int64_t i = 0;
  int64_t end = stream ? unaligned(to) : 0;
  while (true) {
    for (; i < end; i += lanes) store_part(part(i, end - i), d, to + i, end - i);
    if (end == count) break;
    for (i = end; i + 2 * lanes <= count; i += 2 * lanes) {
      const Vector first = vector(i);
      const Vector second = vector(i + lanes);
      if (stream) {
        hn::Stream(first, d, to + i);
        hn::Stream(second, d, to + i + lanes);
      } else {
        hn::StoreU(first, d, to + i);
        hn::StoreU(second, d, to + i + lanes);
      }
    }
    end = count;
  }
  if (stream) hwy::FlushStream();
}

// sqrt(x), rounded correctly. With AVX-512, improves an estimate by Newton's method and corrects
// the result with the remainder, which is faster than the square root instruction. Uses the
// instruction if a number is zero, negative, very large or very small, because the remainder could
// underflow or the estimate could be infinite.
HWY_INLINE Vector square_root(Tag d, Vector x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const hn::RebindToUnsigned<Tag> du;
  const auto smallest = hn::BitCast(du, hn::Set(d, 0x1p-90F));
  const auto range = hn::Sub(hn::BitCast(du, hn::Set(d, 0x1p120F)), smallest);
  const auto above = hn::Sub(hn::BitCast(du, x), smallest);
  if (HWY_UNLIKELY(!hn::AllTrue(du, hn::Lt(above, range)))) return hn::Sqrt(x);
  const Vector estimate = hn::ApproximateReciprocalSqrt(x);
  const Vector half = hn::Mul(estimate, hn::Set(d, 0.5F));
  const Vector root = hn::Mul(x, estimate);
  const Vector error = hn::NegMulAdd(root, half, hn::Set(d, 0.5F));
  const Vector better = hn::MulAdd(root, error, root);
  return hn::MulAdd(hn::NegMulAdd(better, better, x), hn::MulAdd(half, error, half), better);
#else
  (void)d;
  return hn::Sqrt(x);
#endif
}

template <class Formula>
HWY_INLINE void run_unary(const void* const* inputs, void* out, int64_t count, int64_t total_count,
                          const Formula& formula) {
  const Tag d;
  const float* in = static_cast<const float*>(inputs[0]);
  run(
      static_cast<float*>(out), count, total_count,
      [&](int64_t i, int64_t rest) HWY_ATTR { return formula(d, load_part(d, in + i, rest)); },
      [&](int64_t i) HWY_ATTR { return formula(d, hn::LoadU(d, in + i)); });
}

template <class Formula>
HWY_INLINE void run_binary(const void* const* inputs, const float* parameters, void* out,
                           int64_t count, int64_t total_count, const Formula& formula) {
  const Tag d;
  const float* a = static_cast<const float*>(inputs[0]);
  const float* b = static_cast<const float*>(inputs[1]);
  if (b == nullptr) {
    const Vector number = hn::Set(d, parameters[kNumberParameter]);
    return run(
        static_cast<float*>(out), count, total_count,
        [&](int64_t i, int64_t rest)
            HWY_ATTR { return formula(d, load_part(d, a + i, rest), number); },
        [&](int64_t i) HWY_ATTR { return formula(d, hn::LoadU(d, a + i), number); });
  }
  run(
      static_cast<float*>(out), count, total_count,
      [&](int64_t i, int64_t rest)
          HWY_ATTR { return formula(d, load_part(d, a + i, rest), load_part(d, b + i, rest)); },
      [&](int64_t i) HWY_ATTR { return formula(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)); });
}

template <class Formula>
HWY_INLINE void run_ternary(const void* const* inputs, void* out, int64_t count,
                            const Formula& formula) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* a = static_cast<const float*>(inputs[0]);
  const float* b = static_cast<const float*>(inputs[1]);
  const float* c = static_cast<const float*>(inputs[2]);
  float* to = static_cast<float*>(out);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(formula(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d,
               to + i);
  }
  if (i == count) return;
  const int64_t rest = count - i;
  store_part(
      formula(d, load_part(d, a + i, rest), load_part(d, b + i, rest), load_part(d, c + i, rest)),
      d, to + i, rest);
}

template <class Formula>
HWY_INLINE void run_compare(const void* const* inputs, void* out, int64_t count,
                            const Formula& formula) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<uint8_t, Tag> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* a = static_cast<const float*>(inputs[0]);
  const float* b = static_cast<const float*>(inputs[1]);
  uint8_t* to = static_cast<uint8_t*>(out);
  const auto one = hn::Set(di, 1);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto mask = hn::RebindMask(di, formula(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    hn::StoreU(hn::DemoteTo(db, hn::IfThenElseZero(mask, one)), db, to + i);
  }
  if (i == count) return;
  const auto mask = hn::RebindMask(
      di, formula(d, load_part(d, a + i, count - i), load_part(d, b + i, count - i)));
  uint8_t last[HWY_MAX_BYTES];
  hn::StoreU(hn::DemoteTo(db, hn::IfThenElseZero(mask, one)), db, last);
  for (int64_t k = 0; i + k < count; ++k) to[i + k] = last[k];
}

#define UNARY(name, formula)                                                                    \
  void Run_##name(const void* const* inputs, const float* parameters, void* out, int64_t count, \
                  int64_t total_count) {                                                        \
    [[maybe_unused]] const Vector p0 = parameter(parameters, 0);                                \
    [[maybe_unused]] const Vector p1 = parameter(parameters, 1);                                \
    [[maybe_unused]] const Vector p2 = parameter(parameters, 2);                                \
    run_unary(inputs, out, count, total_count, [&](auto d, auto x) HWY_ATTR {                   \
      (void)d;                                                                                  \
      return formula;                                                                           \
    });                                                                                         \
  }
#define BINARY(name, formula)                                                                   \
  void Run_##name(const void* const* inputs, const float* parameters, void* out, int64_t count, \
                  int64_t total_count) {                                                        \
    [[maybe_unused]] const Vector p0 = parameter(parameters, 0);                                \
    run_binary(inputs, parameters, out, count, total_count,                                     \
               [&](auto, auto a, auto b) HWY_ATTR { return formula; });                         \
  }
#define COMPARE(name, formula)                                                                  \
  void Run_##name(const void* const* inputs, const float*, void* out, int64_t count, int64_t) { \
    run_compare(inputs, out, count, [](auto, auto a, auto b) HWY_ATTR { return formula; });     \
  }
#define TERNARY(name, formula)                                                                  \
  void Run_##name(const void* const* inputs, const float*, void* out, int64_t count, int64_t) { \
    run_ternary(inputs, out, count,                                                             \
                [](auto, auto a, auto b, auto c) HWY_ATTR { return formula; });                 \
  }
#include "kernels/optimized/simd/elementwise_list.inc"
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY

void Run_where(const void* const* inputs, const float*, void* out, int64_t count,
               int64_t total_count) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<uint8_t, Tag> db;
  const uint8_t* chosen = static_cast<const uint8_t*>(inputs[0]);
  const float* a = static_cast<const float*>(inputs[1]);
  const float* b = static_cast<const float*>(inputs[2]);
  const auto is_chosen = [&](const uint8_t* flags) HWY_ATTR {
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(di, hn::LoadU(db, flags)), hn::Zero(di)));
  };
  run(
      static_cast<float*>(out), count, total_count,
      [&](int64_t i, int64_t rest) HWY_ATTR {
        uint8_t flags[HWY_MAX_BYTES] = {};
        std::memcpy(flags, chosen + i, std::min(static_cast<size_t>(rest), hn::Lanes(d)));
        return hn::IfThenElse(is_chosen(flags), load_part(d, a + i, rest),
                              load_part(d, b + i, rest));
      },
      [&](int64_t i) HWY_ATTR {
        return hn::IfThenElse(is_chosen(chosen + i), hn::LoadU(d, a + i), hn::LoadU(d, b + i));
      });
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

#define EXPORT(name)          \
  VITRINE_EXPORT(Run_##name); \
  Run name() { return &VITRINE_DISPATCH(Run_##name); }
#define UNARY(name, formula) EXPORT(name)
#define BINARY(name, formula) EXPORT(name)
#define COMPARE(name, formula) EXPORT(name)
#define TERNARY(name, formula) EXPORT(name)
#include "kernels/optimized/simd/elementwise_list.inc"
EXPORT(where)

}  // namespace vitrine::optimized::simd
#endif
