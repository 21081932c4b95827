// The machine's own limits, by number of threads.
#include "bench/kernels/machine.h"
#include "bench/suite/section.h"

namespace vitrine::bench {

void add_limits(Suite& suite) {
  constexpr size_t kBytes = size_t{64} << 20;
  for (const size_t threads : suite.options.threads) {
    suite.progress.add("limits, threads: " + std::to_string(threads), 1, [&suite, threads] {
      ThreadPool& pool = *suite.pools.at(threads);
      suite.results.copy_bytes_per_s[threads] = copy_bandwidth(pool, kBytes);
      suite.results.multiply_adds_per_s[threads] = fma_rate(pool);
    });
  }
}

}  // namespace vitrine::bench
