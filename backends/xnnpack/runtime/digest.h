// 128-bit digests, by which constants and packed weights are known. XXH3: fast, not made to
// withstand somebody who constructs collisions.
#pragma once

// The library is used as a header: nothing to link on devices.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace vitrine::xnnpack {

struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const Digest&) const = default;
  // The digest of nothing known.
  bool empty() const { return low == 0 && high == 0; }
};

inline Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

inline Digest digest_of(std::string_view text) {
  return digest_of(std::as_bytes(std::span(text.data(), text.size())));
}

// A digest of several parts.
class Digester {
 public:
  Digester() { XXH3_128bits_reset(&state_); }

  void add_bytes(std::span<const std::byte> bytes) {
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
  }
  void add_text(std::string_view text) {
    add(text.size());
    add_bytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T number) { add_bytes(std::as_bytes(std::span(&number, 1))); }
  void add(const Digest& digest) {
    add(digest.low);
    add(digest.high);
  }
  Digest finish() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return {hash.low64, hash.high64};
  }

 private:
  XXH3_state_t state_;
};

}  // namespace vitrine::xnnpack
