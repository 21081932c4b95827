#include "tools/advise/processor_features.h"

#include "tools/common/multiply_add.h"

namespace vitrine::tools {

ProcessorFeatures processor_features() {
  ProcessorFeatures features;
#if defined(__x86_64__)
  features.family = ProcessorFeatures::Family::kX86;
  features.has_avx512 = __builtin_cpu_supports("avx512f") != 0;
#elif defined(__aarch64__)
  features.family = ProcessorFeatures::Family::kArm;
#endif
  features.has_int8_products = multiply_add(ScalarType::kChar).run != nullptr;
  features.has_f16 = multiply_add(ScalarType::kHalf).run != nullptr;
  return features;
}

}  // namespace vitrine::tools
