// Loads and stores of the first lanes of a vector. They do not access memory after these lanes,
// which may belong to another thread or be unmapped. Highway's masked operations access full
// vectors if the instruction set has no masks. Included once for each instruction set.
#if defined(VITRINE_SIMD_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_PART_INL_H_
#undef VITRINE_SIMD_PART_INL_H_
#else
#define VITRINE_SIMD_PART_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86
constexpr bool kHasMasks = HWY_TARGET <= HWY_AVX2;
#else
constexpr bool kHasMasks = HWY_MEM_OPS_MIGHT_FAULT == 0;
#endif

// Not inlined, because these long functions run at most once per line.
template <class D>
HWY_NOINLINE hn::Vec<D> copy_part(D d, const hn::TFromD<D>* from, size_t count) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(hn::Zero(d), d, lanes);
  std::memcpy(lanes, from, count * sizeof(hn::TFromD<D>));
  return hn::Load(d, lanes);
}
template <class D>
HWY_NOINLINE void copy_part_to(hn::Vec<D> value, D d, hn::TFromD<D>* to, size_t count) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(value, d, lanes);
  std::memcpy(to, lanes, count * sizeof(hn::TFromD<D>));
}

// Loads at most `count` lanes. The other lanes are zero.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const hn::TFromD<D>* from, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  if (count <= 0) return hn::Zero(d);
  const auto size = static_cast<size_t>(count);
  if constexpr (kHasMasks) {
    return hn::MaskedLoad(hn::FirstN(d, size), d, from);
  } else {
    return copy_part(d, from, size);
  }
}

template <class D>
HWY_INLINE void store_part(hn::Vec<D> value, D d, hn::TFromD<D>* to, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(value, d, to);
  if (count <= 0) return;
  const auto size = static_cast<size_t>(count);
  if constexpr (kHasMasks) {
    hn::BlendedStore(value, hn::FirstN(d, size), d, to);
  } else {
    copy_part_to(value, d, to, size);
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
