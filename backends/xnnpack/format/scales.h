// The scales that XNNPACK's int8 operators have numbers for. XNNPACK 4ea82e5 only asserts them
// (src/microparams-init.c), which releases leave out: beyond them its shifts are undefined.
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

inline bool converts_scales(float from, float to) {
  const float ratio = from / to;
  return ratio >= 0x1p-8f && ratio <= 0x1p7f;
}

inline bool bends_scales(float from, float to, float slope) {  // leaky ReLU
  const float negative = from / to * slope;
  return converts_scales(from, to) && negative >= -0x1.FFFCp6f && negative <= 0x1p7f &&
         (negative >= 0x1p-8f || negative <= -0x1p-8f);
}

}  // namespace vitrine::xnnpack
