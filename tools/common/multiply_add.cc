#include "tools/common/multiply_add.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace vitrine::tools {
namespace {

// Number of independent chains of multiply-adds. 12 chains hide the latency of two arithmetic units
// and fit into 16 registers with the factor and the summand.
constexpr size_t kChains = 12;

// Bits of the factor and the summand of f16, bf16 and i8 chains: two f16 numbers, both 0.5.
// volatile keeps the compiler from computing the chains in advance.
template <class T>
volatile T g_factor = 0x38003800;
template <>
volatile float g_factor<float> = 0.999F;
template <class T>
volatile T g_summand = 0x38003800;
template <>
volatile float g_summand<float> = 0.001F;
template <class T>
volatile T g_sink;

// Defines the function `name` with kChains independent chains. STEP updates the vector `x` of a
// chain from `x`, `factor` and `summand`, which are vectors of T. Template arguments cannot set
// sizes of vectors or target features.
#define VITRINE_CHAINS(name, features, T, bytes, STEP)                            \
  features void name(size_t rounds) {                                             \
    typedef T Vector __attribute__((vector_size(bytes)));                         \
    const Vector factor = Vector{} + g_factor<T>;                                 \
    const Vector summand = Vector{} + g_summand<T>;                               \
    Vector chains[kChains];                                                       \
    for (size_t i = 0; i < kChains; ++i) chains[i] = summand * static_cast<T>(i); \
    for (size_t round = 0; round < rounds; ++round) {                             \
      _Pragma("GCC unroll 12") for (size_t i = 0; i < kChains; ++i) {             \
        Vector x = chains[i];                                                     \
        STEP;                                                                     \
        chains[i] = x;                                                            \
      }                                                                           \
    }                                                                             \
    Vector sum{};                                                                 \
    for (size_t i = 0; i < kChains; ++i) sum += chains[i];                        \
    g_sink<T> = sum[0];                                                           \
  }

// Defines a function whose step is one assembly instruction. Some compilers lack intrinsics.
#define VITRINE_INSTRUCTION(name, features, bytes, text) \
  VITRINE_CHAINS(name, features, uint32_t, bytes,        \
                 asm(text                                \
                     : "+" VITRINE_VECTOR(x)             \
                     : VITRINE_VECTOR(factor), VITRINE_VECTOR(summand)))

struct Variant {
  ScalarType dtype;
  size_t lanes;            // multiply-adds of one instruction
  bool (*is_supported)();  // null: on every processor
  void (*run)(size_t rounds);
};

VITRINE_CHAINS(run_f32, , float, 16, x = x * factor + summand)

#if defined(__x86_64__)

#define VITRINE_VECTOR "v"
#define VITRINE_AVX512 __attribute__((target("avx512f")))
#define VITRINE_AVX2 __attribute__((target("avx2,fma")))

VITRINE_CHAINS(run_f32_avx2, VITRINE_AVX2, float, 32, x = x * factor + summand)
VITRINE_CHAINS(run_f32_avx512, VITRINE_AVX512, float, 64, x = x * factor + summand)
VITRINE_INSTRUCTION(run_f16_avx512, VITRINE_AVX512, 64, "vfmadd213ph %2, %1, %0")
VITRINE_INSTRUCTION(run_bf16_avx512, VITRINE_AVX512, 64, "vdpbf16ps %2, %1, %0")
VITRINE_INSTRUCTION(run_i8_avx512, VITRINE_AVX512, 64, "vpdpbusd %2, %1, %0")
VITRINE_INSTRUCTION(run_i8_avx2, VITRINE_AVX2, 32, "%{vex%} vpdpbusd %2, %1, %0")

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }

// True if leaf 7 of CPUID sets bit `bit` of register `part` (0 to 3: EAX, EBX, ECX, EDX).
template <unsigned subleaf, size_t part, unsigned bit>
bool has_feature() {
  unsigned registers[4] = {};
  __get_cpuid_count(7, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]);
  return (registers[part] >> bit & 1U) != 0;
}

// The widest vectors of a dtype are first.
constexpr Variant kVariants[] = {
    {ScalarType::kFloat, 16, has_avx512, run_f32_avx512},
    {ScalarType::kFloat, 8, has_avx2, run_f32_avx2},
    {ScalarType::kFloat, 4, nullptr, run_f32},
    {ScalarType::kHalf, 32, [] { return has_avx512() && has_feature<0, 3, 23>(); }, run_f16_avx512},
    {ScalarType::kBFloat16, 32, [] { return has_avx512() && has_feature<1, 0, 5>(); },
     run_bf16_avx512},
    {ScalarType::kChar, 64, [] { return has_avx512() && has_feature<0, 2, 11>(); }, run_i8_avx512},
    {ScalarType::kChar, 32, [] { return has_avx2() && has_feature<1, 0, 4>(); }, run_i8_avx2},
};

#elif defined(__aarch64__)

#define VITRINE_VECTOR "w"
#define VITRINE_ARM ".arch armv8.6-a+fp16\n\t"  // what the assembler accepts
#if !defined(__clang__)                         // clang 14 rejects instructions on f16
VITRINE_INSTRUCTION(run_f16, , 16, VITRINE_ARM "fmla %0.8h, %1.8h, %2.8h")
#endif
VITRINE_INSTRUCTION(run_bf16, , 16, VITRINE_ARM "bfmmla %0.4s, %1.8h, %2.8h")
VITRINE_INSTRUCTION(run_i8_matrix, , 16, VITRINE_ARM "smmla %0.4s, %1.16b, %2.16b")
VITRINE_INSTRUCTION(run_i8_dot, , 16, VITRINE_ARM "sdot %0.4s, %1.16b, %2.16b")

template <unsigned long type, unsigned long bit>
bool has_feature() {
  return (getauxval(type) & bit) != 0;
}

constexpr Variant kVariants[] = {
    {ScalarType::kFloat, 4, nullptr, run_f32},
#if !defined(__clang__)
    {ScalarType::kHalf, 8, has_feature<AT_HWCAP, HWCAP_ASIMDHP>, run_f16},
#endif
    {ScalarType::kBFloat16, 16, has_feature<AT_HWCAP2, HWCAP2_BF16>, run_bf16},
    {ScalarType::kChar, 32, has_feature<AT_HWCAP2, HWCAP2_I8MM>, run_i8_matrix},
    {ScalarType::kChar, 16, has_feature<AT_HWCAP, HWCAP_ASIMDDP>, run_i8_dot},
};

#else
constexpr Variant kVariants[] = {{ScalarType::kFloat, 4, nullptr, run_f32}};
#endif

}  // namespace

MultiplyAdd multiply_add(ScalarType dtype) {
  const auto* found = std::ranges::find_if(kVariants, [&](const Variant& variant) {
    return variant.dtype == dtype && (variant.is_supported == nullptr || variant.is_supported());
  });
  if (found == std::end(kVariants)) return {};
  return {2 * kChains * found->lanes, found->run};
}

}  // namespace vitrine::tools
