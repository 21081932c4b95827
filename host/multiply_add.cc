#include "host/multiply_add.h"

namespace vitrine::tools {
namespace {

// Enough chains to hide the latency of two units, few enough for 16 registers.
constexpr size_t kChains = 12;

volatile float g_factor = 0.999F;
volatile float g_summand = 0.001F;
volatile float g_sink;

// Vector types are written out because their size cannot depend on a template argument.
template <size_t kBytes>
struct VectorOf;
template <>
struct VectorOf<16> {
  typedef float Type __attribute__((vector_size(16)));
};
template <>
struct VectorOf<32> {
  typedef float Type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<64> {
  typedef float Type __attribute__((vector_size(64)));
};

template <size_t kBytes>
[[gnu::always_inline]] inline void run_chains(size_t rounds) {
  using Vector = typename VectorOf<kBytes>::Type;
  const Vector factor = Vector{} + g_factor;
  const Vector summand = Vector{} + g_summand;
  Vector chains[kChains];
  for (size_t i = 0; i < kChains; ++i) chains[i] = summand * static_cast<float>(i);
  for (size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (size_t i = 0; i < kChains; ++i) chains[i] = chains[i] * factor + summand;
  }
  Vector sum{};
  for (size_t i = 0; i < kChains; ++i) sum += chains[i];
  g_sink = sum[0];
}

struct Variant {
  size_t vector_bytes;
  void (*run)(size_t rounds);
};

void run_plain(size_t rounds) { run_chains<16>(rounds); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void run_avx2(size_t rounds) { run_chains<32>(rounds); }
__attribute__((target("avx512f"))) void run_avx512(size_t rounds) { run_chains<64>(rounds); }

Variant choose() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") != 0) return {64, run_avx512};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    return {32, run_avx2};
  }
  return {16, run_plain};
}
#else
Variant choose() { return {16, run_plain}; }
#endif

const Variant& variant() {
  static const Variant chosen = choose();
  return chosen;
}

}  // namespace

size_t multiply_add_flops() { return 2 * kChains * variant().vector_bytes / sizeof(float); }

void multiply_add(size_t rounds) { variant().run(rounds); }

}  // namespace vitrine::tools
