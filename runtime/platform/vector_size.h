#pragma once

#include <flatbuffers/flatbuffers.h>

namespace vitrine {

template <class T>
uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector != nullptr ? vector->size() : 0;
}

}  // namespace vitrine
