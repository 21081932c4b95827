// Numbers as files have them, at any address.
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
