// Reads little-endian numbers from files at any alignment. All supported machines are
// little-endian.
#pragma once

#include <cstddef>
#include <cstring>

namespace vitrine {

template <class T>
T load_little(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace vitrine
