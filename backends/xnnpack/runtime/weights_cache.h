// Packed weights, kept once for all delegates that pack the same constants alike, and in a file
// across processes.
//
// A block is known by all that decides its bytes (packing.h): a digest of the contents of filter,
// bias and scales and of the node's geometry, and this geometry itself. The digests are made with a
// secret of the cache's, which it has from its file, or makes. A constant's content is known by
// - its place in memory, in a cache without a file: where constants outlive the delegates they are
//   read in place, and equal places hold equal bytes;
// - the digest of its bytes, in a cache with a file. As reading all bytes is what a warm load must
//   not do, the file remembers the contents by name, for one state of the program's files (stamp).
#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include "backends/xnnpack/runtime/weights_file.h"

namespace vitrine::xnnpack {

// A constant, as it is found for a delegate.
struct ConstantOrigin {
  std::string_view name;  // of named data; empty otherwise
  std::span<const std::byte> bytes;
  bool outlives_delegate = false;  // at this place
  uint64_t stamp = 0;              // of the program's files; 0: unknown
};

// Thread-safe.
class WeightsCache {
 public:
  // Without a path, in memory only. A file that is missing or of no use is replaced by save(),
  // unless it is anything but a weights cache. Null if there is no memory for the cache.
  static std::shared_ptr<WeightsCache> open(std::string_view path);
  // Empty without a file.
  std::string_view path() const { return {path_.data(), path_.empty() ? 0 : path_.size() - 1}; }

  // For all digests of this cache; does not change.
  const DigestSecret& secret() const { return file_.secret; }

  // The identity of the constant's content; empty if unknown.
  Digest identify(const ConstantOrigin& constant);
  // Its two halves, in a cache with a file, between which the bytes are read: the content that the
  // file remembers, empty if none, and making it remember one.
  Digest recall(const ConstantOrigin& constant);
  void remember(const ConstantOrigin& constant, const Digest& content);

  // What was packed like that; null if absent.
  std::shared_ptr<const PackedBlock> find(const Packing& packing);
  // What is there already, of this size, or else a block of these bytes. It is not shared if
  // another with the same digest is in use. Null if there is no memory to keep it.
  std::shared_ptr<const PackedBlock> insert(const Packing& packing,
                                            std::span<const std::byte> bytes,
                                            std::shared_ptr<const PackedArena> arena);

  // Writes the file if it lacks something. Blocks that the file had and nobody uses now stay in it
  // as long as it is about the same state of the same program. After an error the cache goes on in
  // memory, and the next save() tries only if there is more to write.
  Error save();

 private:
  WeightsCache() = default;
  Digest identify_by_content(const ConstantOrigin& constant);
  // With the mutex held.
  bool knows_source(uint64_t stamp);
  std::shared_ptr<const PackedBlock> find_locked(const Packing& packing);

  CheckedVector<char> path_;  // zero-terminated, or empty; not changed once it is shared
  std::mutex mutex_;
  WeightsFile file_;
  bool source_changed_ = false;  // the file is about another program, or another state of it
  bool dirty_ = false;
  DigestMap<std::weak_ptr<const PackedBlock>> live_;
};

// The caches of a process, by path. Thread-safe. Caches live as long as somebody holds them.
class WeightsCaches {
 public:
  // Null if there is no memory.
  std::shared_ptr<WeightsCache> get(std::string_view path);

 private:
  std::mutex mutex_;
  CheckedVector<std::weak_ptr<WeightsCache>> caches_;
};

}  // namespace vitrine::xnnpack
