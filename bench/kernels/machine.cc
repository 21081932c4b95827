#include "bench/kernels/machine.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/optimized/simd/gemm.h"
#include "runtime/platform/clock.h"

namespace vitrine::bench {

namespace {

template <class Work>
double best_seconds(int repetitions, Work&& work) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < repetitions; ++i) {
    const uint64_t start = platform::now_ns();
    work();
    best = std::min(best, platform::now_ns() - start);
  }
  return static_cast<double>(best) * 1e-9;
}

}  // namespace

double copy_bandwidth(ThreadPool& pool, size_t bytes) {
  const std::unique_ptr<char[]> from(new char[bytes]);
  const std::unique_ptr<char[]> to(new char[bytes]);
  std::memset(from.get(), 1, bytes);
  std::memset(to.get(), 2, bytes);
  struct Copy {
    const char* from;
    char* to;
    size_t bytes;
    size_t parts;
  } copy{from.get(), to.get(), bytes, pool.threads()};
  const double seconds = best_seconds(20, [&] {
    pool.run(
        copy.parts,
        [](void* argument, size_t i) {
          const Copy& c = *static_cast<Copy*>(argument);
          const size_t begin = c.bytes * i / c.parts;
          std::memcpy(c.to + begin, c.from + begin, c.bytes * (i + 1) / c.parts - begin);
        },
        &copy);
  });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

// A tile of a product whose operands stay in the first-level cache, with as many independent sums
// as the registers hold.
double fma_rate(ThreadPool& pool) {
  using namespace optimized::simd;
  static constexpr int64_t kDepth = 64;
  static constexpr int kTimes = 20'000;
  const GemmShape shape = gemm_shape();
  const int64_t columns = kGemmMaxVectors * shape.lanes;
  const double seconds = best_seconds(10, [&] {
    pool.run(
        pool.threads(),
        [](void*, size_t) {
          const GemmShape s = gemm_shape();
          const int64_t width = kGemmMaxVectors * s.lanes;
          alignas(64) float left[kGemmMaxRows * kDepth] = {};
          alignas(64) static float right[kDepth * kGemmMaxVectors * kGemmMaxLanes];
          alignas(64) float sums[kGemmMaxRows * kGemmMaxVectors * kGemmMaxLanes];
          for (int i = 0; i < kTimes; ++i) {
            multiply_tile({left, kDepth, s.rows, right, width, kGemmMaxVectors, kDepth, sums, width,
                           nullptr});
          }
        },
        nullptr);
  });
  return 2.0 * static_cast<double>(shape.rows * columns * kDepth * kTimes) *
         static_cast<double>(pool.threads()) / seconds;
}

}  // namespace vitrine::bench
