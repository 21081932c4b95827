// Finds this processor's vector instructions that speed up XNNPACK's kernels.
#pragma once

#include <string>

namespace vitrine::tools {

struct ProcessorFeatures {
  enum class Family { kOther, kX86, kArm };
  Family family = Family::kOther;
  bool has_avx512 = false;         // x86: vectors of 16 floats
  bool has_int8_products = false;  // x86: VNNI; Arm: dot products or i8mm
  bool has_f16 = false;            // arithmetic in f16
};

ProcessorFeatures processor_features();

}  // namespace vitrine::tools
