// Makes a program with wide 4-bit layers, for tests.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

inline constexpr double kWideDecoderWeights = 256 * (256 + 128 + 128 + 256 + 3 * 4096 + 64);

// Returns the program of a language model with one decoder layer, lowered for XNNPACK. Its wide
// linear layers have 4-bit weights, and the scales of these weights are stored outside of the
// payload. The number of scales is greater than the size of the payload in bytes.
AlignedBytes wide_decoder();

}  // namespace vitrine::test
