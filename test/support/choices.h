// Takes numbers from the bytes of a fuzzer's input. Fuzz tests generate objects from these numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine::test {

// Each number consumes one byte, or two bytes if its bound is above 256. After the last byte, all
// numbers are 0.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t below(size_t bound) {
    size_t value = next();
    if (bound > 256) value = value << 8 | next();
    return value % bound;
  }
  bool one_in(size_t count) { return below(count) == count - 1; }
  bool has_bytes_left() const { return !bytes_.empty(); }

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
