#include "api/hash_index.h"

#include <utility>

namespace vitrine {

Error HashIndex::make_room() {
  constexpr size_t kFirstSlots = 32;
  if (2 * (count_ + 1) <= slots_.size()) return Error();
  HashIndex larger;
  const size_t slots = slots_.empty() ? kFirstSlots : 2 * slots_.size();
  VITRINE_RETURN_IF_ERROR(larger.slots_.resize(slots));
  for (const Slot& slot : slots_) {
    if (slot.item != kNone) larger.add(slot.hash, slot.item);
  }
  *this = std::move(larger);
  return Error();
}

void HashIndex::add(uint64_t hash, size_t item) {
  size_t at = home(hash);
  while (slots_[at].item != kNone) at = next(at);
  slots_[at] = {hash, item};
  ++count_;
}

void HashIndex::clear() {
  for (Slot& slot : slots_) slot = {};
  count_ = 0;
}

}  // namespace vitrine
