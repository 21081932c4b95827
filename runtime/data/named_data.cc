#include "vitrine/named_data.h"

#include "runtime/platform/file.h"

namespace vitrine {

size_t MergedNamedData::size() const {
  return (first_ != nullptr ? first_->size() : 0) + (second_ != nullptr ? second_->size() : 0);
}

std::string_view MergedNamedData::key(size_t index) const {
  const size_t in_first = first_ != nullptr ? first_->size() : 0;
  if (index < in_first) return first_->key(index);
  return second_ != nullptr ? second_->key(index - in_first) : std::string_view();
}

const NamedDataMap* MergedNamedData::map_of(std::string_view key) const {
  if (first_ == nullptr || second_ == nullptr) return first_ != nullptr ? first_ : second_;
  const auto layout = first_->layout(key);
  return layout.ok() || layout.error().code() != ErrorCode::kNotFound ? first_ : second_;
}

Error MergedNamedData::no_data(std::string_view key) {
  return Error::make(ErrorCode::kNotFound, "no named data for key %.*s",
                     static_cast<int>(key.size()), key.data());
}

Result<DataBuffer> MergedNamedData::get(std::string_view key) const {
  const NamedDataMap* map = map_of(key);
  return map != nullptr ? map->get(key) : no_data(key);
}

Result<std::optional<TensorLayout>> MergedNamedData::layout(std::string_view key) const {
  const NamedDataMap* map = map_of(key);
  return map != nullptr ? map->layout(key) : no_data(key);
}

uint64_t MergedNamedData::stamp() const {
  if (first_ == nullptr) return second_ != nullptr ? second_->stamp() : 0;
  if (second_ == nullptr) return first_->stamp();
  const uint64_t first = first_->stamp();
  const uint64_t second = second_->stamp();
  return first != 0 && second != 0 ? platform::mix(first, second) : 0;
}

uint64_t MergedNamedData::file_bytes() const {
  return (first_ != nullptr ? first_->file_bytes() : 0) +
         (second_ != nullptr ? second_->file_bytes() : 0);
}

void MergedNamedData::release(std::string_view key) const {
  if (const NamedDataMap* map = map_of(key)) map->release(key);
}

}  // namespace vitrine
