// Runs random models in all configurations. test/fuzz/differential_fuzz.cc tests more models.
#include <gtest/gtest.h>

#include "test/differential/compare_runs.h"

namespace vitrine::test {
namespace {

std::vector<uint8_t> random_bytes(uint64_t seed) {
  std::vector<uint8_t> bytes(64);
  uint64_t state = seed;
  for (uint8_t& byte : bytes) {  // SplitMix64
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    byte = static_cast<uint8_t>((z ^ z >> 31) >> 56);
  }
  return bytes;
}

TEST(DifferentialTest, AllConfigurationsAgree) {
  const char* text = std::getenv("VITRINE_DIFFERENTIAL_COUNT");
  const uint64_t count = text == nullptr ? 100 : std::strtoull(text, nullptr, 10);
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const Comparison result = compare_runs(random_model(random_bytes(seed)));
    EXPECT_EQ(result.difference, "") << "seed " << seed;
    compared += result.error.empty() && result.elements > 0 ? 1 : 0;
  }
  EXPECT_GE(compared, count * 9 / 10);
}

}  // namespace
}  // namespace vitrine::test
