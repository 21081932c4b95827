#include "inspector/join/memory_use.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vitrine::inspector {
namespace {

struct Storage {
  int32_t first, last;
  uint64_t bytes;
};

// Merges tensors that start at the same offset and have overlapping lifetimes.
std::vector<Storage> storages_of(const MemoryPlan& plan) {
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Storage>> lives_at;
  for (const PlannedTensor& tensor : plan.tensors) {
    lives_at[{tensor.buffer, tensor.offset}].push_back({tensor.first, tensor.last, tensor.bytes});
  }
  std::vector<Storage> storages;
  for (auto& [address, lives] : lives_at) {
    std::sort(lives.begin(), lives.end(),
              [](const Storage& a, const Storage& b) { return a.first < b.first; });
    bool is_first = true;
    for (const Storage& life : lives) {
      if (!is_first && life.first <= storages.back().last) {
        storages.back().last = std::max(storages.back().last, life.last);
        storages.back().bytes = std::max(storages.back().bytes, life.bytes);
      } else {
        storages.push_back(life);
      }
      is_first = false;
    }
  }
  return storages;
}

}  // namespace

MemoryUse memory_over_time(const MemoryPlan& plan) {
  MemoryUse use;
  const auto count = static_cast<size_t>(std::max(plan.num_instructions, 0));
  if (count == 0) return use;
  std::vector<uint64_t> allocated(count + 1), freed(count + 1);
  for (const Storage& storage : storages_of(plan)) {
    const auto bounded = [&](int32_t instruction) {
      return static_cast<size_t>(std::clamp<int64_t>(instruction, 0, static_cast<int64_t>(count)));
    };
    allocated[bounded(storage.first)] += storage.bytes;
    freed[bounded(int32_t{storage.last})] += storage.bytes;  // alive during `last` itself
  }
  uint64_t live = 0;
  for (size_t i = 0; i < count; ++i) {
    live += allocated[i];
    use.live_bytes.push_back(live);
    live -= freed[i];
  }
  const auto peak = std::max_element(use.live_bytes.begin(), use.live_bytes.end());
  use.peak_bytes = *peak;
  use.peak_instruction = static_cast<int32_t>(peak - use.live_bytes.begin());
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    if (tensor.first <= use.peak_instruction && tensor.last >= use.peak_instruction) {
      use.peak_tensors.push_back(i);
    }
  }
  std::stable_sort(use.peak_tensors.begin(), use.peak_tensors.end(), [&](size_t a, size_t b) {
    return plan.tensors[a].bytes > plan.tensors[b].bytes;
  });
  return use;
}

}  // namespace vitrine::inspector
