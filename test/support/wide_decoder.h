// Makes a program with wide 4-bit layers, for tests.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

inline constexpr double kWideDecoderWeights = 256 * (256 + 128 + 128 + 256 + 3 * 4096 + 64);

// Returns the program of a language model that has one layer, lowered for XNNPACK. Its wide layers
// have 4-bit weights. The scales of these weights are stored outside of the payload, and there are
// more scales than the payload has bytes.
AlignedBytes wide_decoder();

}  // namespace vitrine::test
