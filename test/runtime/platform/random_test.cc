#include "runtime/platform/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace vitrine::platform {
namespace {

TEST(Random, FillsExactlyTheGivenBytes) {
  for (size_t size = 0; size < 20; ++size) {
    std::array<std::byte, 24> bytes{};
    std::array<bool, 24> touched{};
    for (int round = 0; round < 64; ++round) {
      fill_random(std::span(bytes).subspan(2, size));
      for (size_t i = 0; i < bytes.size(); ++i) touched[i] |= bytes[i] != std::byte{0};
    }
    for (size_t i = 0; i < touched.size(); ++i) EXPECT_EQ(touched[i], i >= 2 && i < 2 + size);
  }
}

TEST(Random, NeverRepeats) {
  std::set<std::array<uint64_t, 2>> seen;
  for (int i = 0; i < 1000; ++i) {
    std::array<uint64_t, 2> numbers{};
    fill_random(std::as_writable_bytes(std::span(numbers)));
    EXPECT_TRUE(seen.insert(numbers).second);
  }
}

}  // namespace
}  // namespace vitrine::platform
