// Computes 128-bit XXH3 digests that identify constants and packed weights. Bytes that the author
// of a program can choose are digested with a random secret, because anyone who knows the secret
// can construct collisions. Memory safety never depends on a digest alone (packing.h).
#pragma once

// Makes xxHash header-only, so that devices need not link it.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
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
  // True for a default Digest, which means that the content is unknown.
  bool empty() const { return low == 0 && high == 0; }
};

// The random bytes of a secret. Digests with different secrets cannot be compared.
using DigestSecret = std::array<std::byte, 192>;
static_assert(sizeof(DigestSecret) >= XXH3_SECRET_SIZE_MIN);

// Without a secret, a digest detects accidental damage but not manipulation.
inline Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

inline Digest digest_of(std::span<const std::byte> bytes, const DigestSecret& secret) {
  const XXH128_hash_t hash =
      XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size());
  return {hash.low64, hash.high64};
}

inline Digest digest_of(std::string_view text, const DigestSecret& secret) {
  return digest_of(std::as_bytes(std::span(text.data(), text.size())), secret);
}

// Computes the digest of bytes that are passed in several pieces.
class Digester {
 public:
  Digester() { XXH3_128bits_reset(&state_); }
  // The secret must outlive this object.
  explicit Digester(const DigestSecret& secret) {
    XXH3_128bits_reset_withSecret(&state_, secret.data(), secret.size());
  }

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
