// Makes damaged copies of a valid file, for the tests of all readers. Each function calls
// check(bytes, damage) for each damaged copy, where `damage` is a printable description. The
// function stops after a fatal test failure. A copy's memory is exactly as large as the copy, so
// that AddressSanitizer detects every overrun.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <utility>

namespace vitrine::test {

struct Damage {
  const char* kind;
  size_t number;

  friend std::ostream& operator<<(std::ostream& stream, const Damage& damage) {
    return stream << damage.kind << damage.number;
  }
};

// Calls `check` with truncated copies of `sound`. Their sizes are 0, `step`, 2 * `step`, and so on.
template <class Bytes, class Check>
void for_each_truncation(const Bytes& sound, Check check, size_t step = 1) {
  for (size_t size = 0; size < sound.size() && !testing::Test::HasFatalFailure(); size += step) {
    Bytes cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
    cut.shrink_to_fit();
    check(std::as_const(cut), Damage{"cut to byte ", size});
  }
}

struct DamagedRange {
  size_t start = 0;  // the bytes before it stay sound
  size_t step = 1;   // between damaged bytes
};

// Calls `check` with copies in which one byte is changed. Makes four such copies for each byte that
// `range` selects.
template <class Bytes, class Check>
void for_each_changed_byte(const Bytes& sound, Check check, DamagedRange range = {}) {
  using Byte = typename Bytes::value_type;
  Bytes changed = sound;
  for (size_t at = range.start; at < sound.size(); at += range.step) {
    for (const unsigned bits : {0xffu, 0x01u, 0x80u, 0x04u}) {
      changed[at] = static_cast<Byte>(static_cast<unsigned char>(sound[at]) ^ bits);
      check(std::as_const(changed), Damage{"changed byte ", at});
      if (testing::Test::HasFatalFailure()) return;
    }
    changed[at] = sound[at];
  }
}

// Calls `check` with copies that have one to four random changes: flipped bits and new bytes.
// Several changes can pass checks that reject a single change. About half of the changes are near
// the beginning or the end of the file, where most of its structure is. The changes are the same in
// each run of the test.
template <class Bytes, class Check>
void for_each_random_damage(const Bytes& sound, size_t rounds, Check check, size_t start = 0) {
  using Byte = typename Bytes::value_type;
  std::minstd_rand random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  const auto below = [&](size_t bound) { return random() % bound; };
  const size_t length = sound.size() - start;
  const size_t end_length = std::min<size_t>(length, 2048);
  for (size_t round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) {
    Bytes changed = sound;
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t place = below(4);
      const size_t at = place == 0   ? start + below(end_length)
                        : place == 1 ? sound.size() - 1 - below(end_length)
                                     : start + below(length);
      const auto byte = static_cast<unsigned char>(changed[at]);
      changed[at] = static_cast<Byte>(below(2) == 0 ? below(256) : byte ^ 1u << below(8));
    }
    check(std::as_const(changed), Damage{"random damage of round ", round});
  }
}

}  // namespace vitrine::test
