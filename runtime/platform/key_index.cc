#include "runtime/platform/key_index.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/sort.h"
#include "runtime/platform/table_verifier.h"

namespace vitrine {

void KeyIndex::Free::operator()(void* memory) const { std::free(memory); }

Error KeyIndex::build(const NamedDataMap& map, Budget& steps) {
  map_ = &map;
  const size_t count = map.size();
  if (count == 0) return Error();
  sorted_.reset(static_cast<uint32_t*>(std::malloc(count * sizeof(uint32_t))));
  if (!sorted_) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for named_data");
  for (uint32_t i = 0; i < count; ++i) {
    if (!steps.take(1 + map.key(i).size() / 64)) {
      return too_many_items(steps).in("named_data[%u]", i);
    }
    sorted_[i] = i;
  }
  const auto less = [&map](uint32_t a, uint32_t b) {
    const int order = map.key(a).compare(map.key(b));
    return order != 0 ? order < 0 : a < b;
  };
  sort(std::span(sorted_.get(), count), less);
  return Error();
}

size_t KeyIndex::find(std::string_view key) const {
  const uint32_t* begin = sorted_.get();
  const uint32_t* end = begin + (begin != nullptr ? map_->size() : 0);
  const uint32_t* at = std::lower_bound(
      begin, end, key,
      [this](uint32_t index, std::string_view wanted) { return map_->key(index) < wanted; });
  return at != end && map_->key(*at) == key ? *at : kNotFound;
}

}  // namespace vitrine
