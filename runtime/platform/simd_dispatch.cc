#include "runtime/platform/simd_dispatch.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace vitrine::simd {

#if HWY_ARCH_X86
namespace {

// CPU features that cpuid reports. `saved`: registers that the operating system saves for each
// thread.
struct Features {
  uint32_t basic = 0;     // leaf 1, ecx
  uint32_t extended = 0;  // leaf 7, ebx
  uint32_t more = 0;      // leaf 0x80000001, ecx
  uint32_t saved = 0;     // XCR0

  bool has(const Features& other) const {
    const auto is_subset = [](uint32_t some, uint32_t all) { return (some & ~all) == 0; };
    return is_subset(other.basic, basic) && is_subset(other.extended, extended) &&
           is_subset(other.more, more) && is_subset(other.saved, saved);
  }
};

struct Target {
  int64_t bit;
  Features needs;
};

constexpr uint32_t kSse4 = bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_PCLMUL | bit_AES;
constexpr uint32_t kAvx = kSse4 | bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
constexpr uint32_t kAvx2 = bit_AVX2 | bit_BMI | bit_BMI2;
constexpr uint32_t kAvx512 =
    kAvx2 | bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
constexpr uint32_t kSavesAvx = 0x6;
constexpr uint32_t kSavesAvx512 = 0xe6;

constexpr Target kTargets[] = {
    {HWY_SSE4, {kSse4, 0, 0, 0}},
    {HWY_AVX2, {kAvx, kAvx2, bit_LZCNT, kSavesAvx}},
    {HWY_AVX3, {kAvx, kAvx512, bit_LZCNT, kSavesAvx512}},
};

// Reads each leaf once, because cpuid is slow in a virtual machine.
Features read_features() {
  Features found;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  __cpuid(0, a, b, c, d);
  const uint32_t last_leaf = a;
  __cpuid(1, a, b, found.basic, d);
  if (last_leaf >= 7) __cpuid_count(7, 0, a, found.extended, c, d);
  __cpuid(0x80000001, a, b, found.more, d);  // every 64-bit CPU has it
  if ((found.basic & bit_OSXSAVE) != 0) __asm__("xgetbv" : "=a"(found.saved), "=d"(d) : "c"(0));
  return found;
}

}  // namespace

int64_t find_targets() {
  const Features found = read_features();
  int64_t bits = kTargetsAreKnown;
  for (const Target& target : kTargets) {
    if (found.has(target.needs)) bits |= target.bit;
  }
  known_targets.store(bits, std::memory_order_relaxed);
  return bits;
}
#endif

}  // namespace vitrine::simd
