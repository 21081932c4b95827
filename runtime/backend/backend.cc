#include "vitrine/backend.h"

#include <algorithm>

namespace vitrine {

void DelegateMemory::add(Kind kind, const void* block, size_t bytes) {
  if (std::ranges::find(seen_, block) != seen_.end()) return;
  seen_.push_back(block);
  bytes_[static_cast<size_t>(kind)] += bytes;
}

Error BackendRegistry::add(const BackendInterface* backend) {
  if (find(backend->id()) != nullptr) {
    return Error::make(ErrorCode::kRegistrationAlreadyRegistered,
                       "backend registry: %s is there already", backend->id());
  }
  if (count_ == backends_.size()) {
    return Error::make(ErrorCode::kOutOfResources, "backend registry: no room for %s",
                       backend->id());
  }
  backends_[count_++] = backend;
  return Error();
}

const BackendInterface* BackendRegistry::find(std::string_view id) const {
  for (size_t i = 0; i < count_; ++i) {
    if (id == backends_[i]->id()) return backends_[i];
  }
  return nullptr;
}

}  // namespace vitrine
