// Owns the weights that XNNPACK packs for one delegate, or shares them through a cache. XNNPACK
// uses its weights cache provider for access.
#pragma once

#include <xnnpack.h>

#include <memory>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/weights/packed_arena.h"
#include "backends/xnnpack/runtime/weights/packing.h"
#include "backends/xnnpack/runtime/weights/weights_cache.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

// This object must outlive the XNNPACK runtime that uses provider(). Not thread-safe.
class PackedWeights {
 public:
  // `cache` shares blocks with other delegates; null: this delegate owns its blocks. Charges packed
  // bytes to `memory`, which must outlive this object or is null (no limit).
  PackedWeights(std::shared_ptr<WeightsCache> cache, Budget* memory);
  ~PackedWeights();
  // Finds out how the nodes pack their filters, and plans the arena. Call after the constants are
  // loaded and before the provider is used. `own_bytes` is the expected total size of the blocks
  // for insert_own().
  Error identify(const Graph& graph, size_t own_bytes);
  // True if XNNPACK does not pack this filter, because a Vitrine kernel runs the node
  // (Node::weights). XNNPACK then gets the address of the filter instead of packed weights, so
  // XNNPACK's kernels must not run the node.
  bool is_unpacked(const void* filter) const;

  // Returns the cached block of `bytes` bytes that a Vitrine kernel made from the filter, or null.
  // `layout` identifies the kernel's layout of the weights. It need not cover the parameters of the
  // filter's node, because the key of the block also contains these parameters.
  const std::byte* find_own(const void* filter, uint32_t layout, size_t bytes);
  // Returns zeroed memory for insert_own(), or null if memory runs out.
  std::byte* reserve_own(size_t bytes) { return static_cast<std::byte*>(reserve(bytes)); }
  // Adds the block to the cache, if it can be shared. Returns the address of the block to use,
  // which may be an equal block from the cache. Returns null if memory runs out.
  const std::byte* insert_own(const void* filter, uint32_t layout, std::byte* block);

  // Call after all weights are packed.
  void finish() { arena_.reset(); }

  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  xnn_weights_cache_t provider() { return &provider_; }
  const std::shared_ptr<WeightsCache>& cache() const { return cache_; }
  // False if memory for weights ran out. The XNNPACK runtime must not be used in that case.
  bool is_complete() const { return is_complete_; }
  void report_memory(DelegateMemory& report) const;

 private:
  using Key = xnn_weights_cache_look_up_key;

  size_t look_up(const Key& key);
  void* reserve(size_t size);
  void* take(size_t size);
  void plan_arena(const Graph& graph, size_t own_bytes);
  size_t insert(const Key& key, void* packed, size_t size);
  // Returns the packing of a block, without a digest if the block cannot be shared.
  Packing packing(const Key& key) const;
  // Keeps a reference to the block. Returns the block's address, or SIZE_MAX if memory runs out.
  size_t use(std::shared_ptr<const PackedBlock> block);

  std::shared_ptr<WeightsCache> cache_;
  Budget* memory_;
  uint64_t taken_ = 0;
  bool is_complete_ = true;
  xnn_weights_cache_provider provider_{};  // members that only newer versions have are null
  // A filter and everything that determines how it is packed, except the kernel (XNNPACK's seed).
  struct PackedFilter {
    const void* filter;
    Packing packing;
  };
  CheckedVector<PackedFilter> packings_;  // sorted by filter
  CheckedVector<const void*> unpacked_;   // sorted
  // The arena of packed blocks. Blocks that do not fit are allocated separately.
  std::shared_ptr<PackedArena> arena_;
  size_t arena_bytes_ = 0;  // size of the planned arena, or 0
  size_t num_constants_ = 0;
  struct Reserved {
    std::span<const std::byte> bytes;
    std::shared_ptr<PackedArena> arena;
  };
  CheckedVector<Reserved> reserved_;
  CheckedVector<std::shared_ptr<const PackedBlock>> used_;
};

}  // namespace vitrine::xnnpack
