#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

inline constexpr double kWideDecoderWeights = 256 * (256 + 128 + 128 + 256 + 3 * 4096 + 64);

// The file of a language model of one layer that is lowered with XNNPACK here. The payload of its
// wide layers, whose weights have 4 bits, counts more scales than it has bytes: they lie outside.
AlignedBytes wide_decoder();

}  // namespace vitrine::test
