#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "test/kernels/dispatch_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::simd::HWY_NAMESPACE {

int64_t CompiledFor() { return HWY_TARGET; }

}  // namespace vitrine::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cpuinfo.h>
#include <gtest/gtest.h>

namespace vitrine::simd {

VITRINE_EXPORT(CompiledFor);

TEST(SupportedTargets, MatchTheCpuinfoLibrary) {
  ASSERT_TRUE(cpuinfo_initialize());
  const bool sse4 = cpuinfo_has_x86_ssse3() && cpuinfo_has_x86_sse4_1() &&
                    cpuinfo_has_x86_sse4_2() && cpuinfo_has_x86_aes() &&
                    cpuinfo_has_x86_pclmulqdq();
  const bool avx2 = sse4 && cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() &&
                    cpuinfo_has_x86_f16c() && cpuinfo_has_x86_bmi() && cpuinfo_has_x86_bmi2() &&
                    cpuinfo_has_x86_lzcnt();
  const bool avx3 = avx2 && cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() &&
                    cpuinfo_has_x86_avx512cd() && cpuinfo_has_x86_avx512dq() &&
                    cpuinfo_has_x86_avx512vl();
  EXPECT_EQ(supported_targets(),
            (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx3 ? HWY_AVX3 : 0));
}

// In Highway's masks of targets, better targets have lower bits.
TEST(Dispatch, ChoosesBestSupportedTarget) {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  EXPECT_EQ(VITRINE_DISPATCH(CompiledFor)(), HWY_TARGETS);
#else
  const auto best_of = [](int64_t supported) {
    const int64_t both = HWY_TARGETS & supported;
    return both == 0 ? HWY_STATIC_TARGET : both & -both;
  };
  EXPECT_EQ(VITRINE_DISPATCH(CompiledFor)(), best_of(supported_targets()));
  for (const int64_t supported : {int64_t{0}, int64_t{HWY_SSE4}, int64_t{HWY_AVX2 | HWY_SSE4},
                                  int64_t{HWY_AVX3 | HWY_AVX2 | HWY_SSE4}}) {
    EXPECT_EQ(CompiledForOfTarget[best_target(HWY_TARGETS, supported)](), best_of(supported));
  }
#endif
}

}  // namespace vitrine::simd
#endif
