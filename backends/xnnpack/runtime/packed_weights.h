// The weights that XNNPACK has packed for one delegate: where they are in memory, and who
// shares them. XNNPACK asks for them through its weights cache provider.
#pragma once

#include <xnnpack.h>

#include <memory>

#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/packed_arena.h"
#include "backends/xnnpack/runtime/packing.h"
#include "backends/xnnpack/runtime/weights_cache.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

// Outlives the runtime that it was given to. One thread at a time.
class PackedWeights {
 public:
  // Blocks are shared through `cache`; null: they are this delegate's own. What is packed here is
  // taken from `memory`, which outlives this; null: no bound.
  PackedWeights(std::shared_ptr<WeightsCache> cache, Budget* memory);
  ~PackedWeights();
  // Before the provider is used, and after the graph's constants were loaded.
  Error identify(const Graph& graph);
  // Nothing more is packed.
  void finish() { arena_.reset(); }

  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  xnn_weights_cache_t provider() { return &provider_; }
  const std::shared_ptr<WeightsCache>& cache() const { return cache_; }
  // False if memory ran out for weights: the runtime must not be used.
  bool is_complete() const { return is_complete_; }
  void report_memory(DelegateMemory& report) const;

 private:
  using Key = xnn_weights_cache_look_up_key;

  size_t look_up(const Key& key);
  void* reserve(size_t size);
  void* take(size_t size);
  void plan_arena(const Graph& graph);
  size_t insert(const Key& key, void* packed, size_t size);
  // With an empty digest if the block cannot be shared.
  Packing packing(const Key& key) const;
  // The block's address; SIZE_MAX if there is no memory to hold it.
  size_t use(std::shared_ptr<const PackedBlock> block);

  std::shared_ptr<WeightsCache> cache_;
  Budget* memory_;
  uint64_t taken_ = 0;
  bool is_complete_ = true;
  xnn_weights_cache_provider provider_;
  // Sorted by filter: all that its packing depends on, but for XNNPACK's seed.
  struct PackedFilter {
    const void* filter;
    Packing packing;
  };
  CheckedVector<PackedFilter> packings_;
  // Where blocks lie as long as there is room; made for the first one.
  std::shared_ptr<PackedArena> arena_;
  size_t arena_bytes_ = 0;  // to make; 0: each block that has no room gets its own
  size_t constants_ = 0;
  struct Reserved {
    std::span<const std::byte> bytes;
    std::shared_ptr<PackedArena> arena;
  };
  CheckedVector<Reserved> reserved_;
  CheckedVector<std::shared_ptr<const PackedBlock>> used_;
};

}  // namespace vitrine::xnnpack
