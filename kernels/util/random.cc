#include "kernels/util/random.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <numbers>

namespace vitrine {

namespace {

constinit std::atomic<uint64_t> generators{0};

// SplitMix64, which the authors of xoshiro name for seeding.
uint64_t scramble(uint64_t& seed) {
  uint64_t z = seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t seed = static_cast<uint64_t>(now) ^ (generators.fetch_add(1) << 48);
  for (uint64_t& word : state_) word = scramble(seed);
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace vitrine
