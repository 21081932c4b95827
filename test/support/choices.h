// Numbers that a file's bytes choose, so that a fuzzer which changes bytes changes what is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine::test {

// Each number takes a byte, or two if its bound is above 256. It is 0 once all bytes are taken.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t below(size_t bound) {
    size_t value = next();
    if (bound > 256) value = value << 8 | next();
    return value % bound;
  }
  bool one_in(size_t count) { return below(count) == count - 1; }
  bool left() const { return !bytes_.empty(); }

 private:
  size_t next() {
    if (bytes_.empty()) return 0;
    const size_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace vitrine::test
