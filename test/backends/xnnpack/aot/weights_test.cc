#include "backends/xnnpack/aot/weights.h"

#include <gmock/gmock.h>

#include <cstring>

#include "aot/graph/aot_error.h"

namespace vitrine::aot::xnnpack {
namespace {

using testing::ElementsAre;

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

std::vector<int32_t> int32s(const Bytes& bytes) {
  std::vector<int32_t> numbers(bytes.size() / 4);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(ArrangedFilter, PutsOutputChannelsFirstAndInputChannelsLast) {
  Bytes bytes(2 * 3 * 2 * 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const ArrangedFilter filter = arranged_filter(bytes, 1, {{2, 3, 2, 2}, false, 1});
  EXPECT_THAT(filter.dims, ElementsAre(2, 2, 2, 3));
  EXPECT_EQ(filter.channel_dim, 0);
  for (size_t o = 0; o < 2; ++o) {
    for (size_t at = 0; at < 4; ++at) {
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(filter.bytes[(o * 4 + at) * 3 + i], bytes[(o * 3 + i) * 4 + at]);
      }
    }
  }
}

TEST(ArrangedFilter, PutsOutputChannelsLastIfDepthwise) {
  const ArrangedFilter filter =
      arranged_filter(bytes_of({1, 2, 3, 4, 5, 6}), 1, {{3, 1, 1, 2}, false, 3});
  EXPECT_THAT(filter.dims, ElementsAre(1, 1, 2, 3));
  EXPECT_EQ(filter.channel_dim, 3);
  EXPECT_EQ(filter.bytes, bytes_of({1, 3, 5, 2, 4, 6}));
}

// The filter has four inputs in two groups, and two outputs per group.
TEST(ArrangedFilter, TransposesEachGroupOfATransposedConvolution) {
  const ArrangedFilter filter =
      arranged_filter(bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), 1, {{4, 2, 1, 1}, true, 2});
  EXPECT_THAT(filter.dims, ElementsAre(4, 1, 1, 2));
  EXPECT_EQ(filter.bytes, bytes_of({1, 3, 2, 4, 5, 7, 6, 8}));
}

TEST(Biases, AreRoundedToEvenAndSaturated) {
  EXPECT_THAT(int32s(quantized_bias({0.5f, 1.5f, -2.5f, 1e30f, -1e30f}, {1.0f})),
              ElementsAre(0, 2, -2, INT32_MAX, INT32_MIN));
  EXPECT_THAT(int32s(quantized_bias({1.0f, 1.0f}, {0.5f, 0.25f})), ElementsAre(2, 4));
}

TEST(PackedInt4, HasTwoElementsPerByteAndPadsRows) {
  EXPECT_EQ(packed_int4(bytes_of({-8, 7, 0, 1, -1, 2}), 3), bytes_of({0xf0, 0x88, 0x79, 0x8a}));
  EXPECT_THROW(packed_int4(bytes_of({8}), 1), AotError);
}

TEST(ToBfloat16, RoundsToNearest) {
  EXPECT_THAT(to_bfloat16({1.0f, 1.00390625f, 1.01171875f}), ElementsAre(0x3f80, 0x3f80, 0x3f82));
}

}  // namespace
}  // namespace vitrine::aot::xnnpack
