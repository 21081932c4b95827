#include "bench/suite/section.h"
#include "tools/common/machine_limits.h"

namespace vitrine::bench {

void add_limits(Suite& suite) {
  for (const size_t threads : suite.options.threads) {
    suite.progress.add("limits, threads: " + std::to_string(threads), 1, [&suite, threads] {
      const auto limits = tools::measure_machine_limits(static_cast<uint32_t>(threads));
      suite.results.copy_bytes_per_s[threads] = limits.bytes_per_s;
      suite.results.multiply_adds_per_s[threads] = limits.flops_per_s;
      for (const ScalarType dtype : {ScalarType::kHalf, ScalarType::kBFloat16, ScalarType::kChar}) {
        const double rate = tools::measure_operations(static_cast<uint32_t>(threads), dtype);
        if (rate == 0) continue;
        suite.results.narrow_multiply_adds_per_s[scalar_type_name(dtype)][threads] = rate;
      }
    });
  }
}

}  // namespace vitrine::bench
