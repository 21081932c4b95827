// The scales that XNNPACK's int8 sums and products are made for: XNNPACK 4ea82e5 asserts them
// (src/microparams-init.c). The runtime takes more (runtime/scale_checks.cc).
#pragma once

namespace vitrine::xnnpack {

inline bool adds_scales(float a, float b, float result) {  // and subtracts
  const auto is_near = [&](float scale) {
    const float ratio = scale / result;
    return ratio >= 0x1p-10f && ratio < 0x1p8f;
  };
  return is_near(a) && is_near(b);
}

inline bool multiplies_scales(float a, float b, float result) {
  const float ratio = a * b / result;
  return ratio >= 0x1p-16f && ratio < 0x1p8f;
}

}  // namespace vitrine::xnnpack
