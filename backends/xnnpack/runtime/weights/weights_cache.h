// A cache of packed weights: delegates that pack the same constants in the same way share one copy.
// A cache with a file keeps packed weights across processes.
//
// A block is identified by its geometry (packing.h) and a digest. The digest is a keyed hash of the
// geometry and of the contents of filter, bias and scales. The key is the cache's secret, which is
// random or comes from the cache's file. The content of a constant is identified as follows:
// - A cache without a file uses the address of the constant. Constants that outlive the delegates
//   are read in place, so equal addresses hold equal bytes.
// - A cache with a file uses the digest of the constant's bytes. The file stores these digests by
//   the names of the constants, so that a later load need not read the constants. The digests are
//   valid until the program's files change (ConstantOrigin::stamp).
#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include "backends/xnnpack/runtime/weights/weights_file.h"

namespace vitrine::xnnpack {

struct ConstantOrigin {
  std::string_view name;  // key of named data, or empty
  std::span<const std::byte> bytes;
  bool outlives_delegate = false;  // true if the bytes keep this address
  uint64_t stamp = 0;              // state of the program's files; 0 if unknown
};

// Thread-safe.
class WeightsCache {
 public:
  // Opens a cache, which is only in memory if the path is empty. save() creates a missing file and
  // replaces an unusable weights cache, but never another kind of file. Returns null if memory runs
  // out.
  static std::shared_ptr<WeightsCache> open(std::string_view path);
  // Empty if the cache does not have a file.
  std::string_view path() const { return {path_.data(), path_.empty() ? 0 : path_.size() - 1}; }

  // The secret with which xxHash computes all digests of this cache. It never changes.
  const DigestSecret& secret() const { return file_.secret; }

  // Returns a digest of the constant's content. Empty if the content cannot be identified.
  Digest identify(const ConstantOrigin& constant);
  // The two steps of identify() in a cache with a file. recall() looks up the stored digest by the
  // constant's name and may return an empty digest. remember() stores the digest that the caller
  // computed from the constant's bytes.
  Digest recall(const ConstantOrigin& constant);
  void remember(const ConstantOrigin& constant, const Digest& content);

  // Returns the block that has this packing, or null.
  std::shared_ptr<const PackedBlock> find(const Packing& packing);
  // If the cache has a block with this packing and size, returns that block. Otherwise, returns a
  // new block that refers to `bytes`, which `arena` owns. The new block is added to the cache
  // unless a different block with the same digest is in use. Returns null if memory runs out.
  std::shared_ptr<const PackedBlock> insert(const Packing& packing,
                                            std::span<const std::byte> bytes,
                                            std::shared_ptr<const PackedArena> arena);

  // Writes the file if blocks or digests of constants were added since the last call. Keeps unused
  // blocks of the old file, unless the stamp of a loaded constant is unknown or differs from the
  // file's stamp. After an error, the cache still works in memory, and save() tries again only
  // after more additions.
  Error save();

 private:
  WeightsCache() = default;
  Digest identify_by_content(const ConstantOrigin& constant);
  // The caller of knows_source() and find_locked() must hold the mutex.
  bool knows_source(uint64_t stamp);
  std::shared_ptr<const PackedBlock> find_locked(const Packing& packing);

  CheckedVector<char> path_;  // zero-terminated, or empty; constant after open()
  std::mutex mutex_;
  WeightsFile file_;
  bool source_changed_ = false;  // true if the file described another program or another state of
                                 // the program
  bool dirty_ = false;
  DigestMap<std::weak_ptr<const PackedBlock>> live_;
};

// The caches of a process, by path. Thread-safe. A cache is deleted when its last owner drops it.
class WeightsCaches {
 public:
  // Returns null if memory runs out.
  std::shared_ptr<WeightsCache> get(std::string_view path);

 private:
  std::mutex mutex_;
  CheckedVector<std::weak_ptr<WeightsCache>> caches_;
};

}  // namespace vitrine::xnnpack
