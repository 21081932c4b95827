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

Error MergedNamedData::no_data(std::string_view key) {
  return Error::make(ErrorCode::kNotFound, "no named data for key %.*s",
                     static_cast<int>(key.size()), key.data());
}

// Calls `ask` at most once per map. With two calls, each level of nested maps would double the
// number of searches.
template <class Found, class Ask>
Result<Found> MergedNamedData::ask_both(std::string_view key, const Ask& ask) const {
  const NamedDataMap* const last = second_ != nullptr ? second_ : first_;
  if (last == nullptr) return no_data(key);
  if (first_ != nullptr && second_ != nullptr) {
    Result<Found> found = ask(*first_);
    if (found.ok() || found.error().code() != ErrorCode::kNotFound) return found;
  }
  return ask(*last);
}

Result<DataBuffer> MergedNamedData::get(std::string_view key) const {
  return ask_both<DataBuffer>(key, [key](const NamedDataMap& map) { return map.get(key); });
}

Result<std::optional<TensorLayout>> MergedNamedData::layout(std::string_view key) const {
  return ask_both<std::optional<TensorLayout>>(
      key, [key](const NamedDataMap& map) { return map.layout(key); });
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
  if (first_ != nullptr) first_->release(key);
  if (second_ != nullptr) second_->release(key);
}

}  // namespace vitrine
