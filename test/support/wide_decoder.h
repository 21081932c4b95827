// Makes a program with wide 4-bit layers, for tests.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

inline constexpr double kWideDecoderWeights = 256 * (256 + 128 + 128 + 256 + 3 * 4096 + 64);

// Returns the program of a language model with one layer, lowered for XNNPACK. Its wide layers have
// 4-bit weights. The number of their scales exceeds the number of bytes in the payload, because the
// scales are stored outside of it.
AlignedBytes wide_decoder();

}  // namespace vitrine::test
