// Bounds-checked access to the bytes of an untrusted payload.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/format_error.h"
#include "runtime/platform/little_endian.h"

namespace vitrine::delegates {

using Bytes = std::span<const std::byte>;

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns bytes [offset, offset + size) of the payload. `what` names these bytes in the error.
inline Bytes range_of(Bytes bytes, uint64_t offset, uint64_t size, std::string_view what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw FormatError(fmt::format("{}: {} bytes at offset {} do not fit in {} bytes", what, size,
                                  offset, bytes.size()));
  }
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

template <class T>
T number_at(Bytes bytes, uint64_t offset, std::string_view what) {
  return load_little<T>(range_of(bytes, offset, sizeof(T), what).data());
}

inline bool has_text_at(Bytes bytes, size_t offset, std::string_view text) {
  return offset <= bytes.size() && text_of(bytes.subspan(offset)).starts_with(text);
}

// Rounds up to a multiple of `alignment`, a power of two. The result must be less than 2^64.
constexpr uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace vitrine::delegates
