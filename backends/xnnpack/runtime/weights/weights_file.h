// Reads and writes the file that keeps packed weights across processes
// (docs/formats/weights_cache.md). A file is valid for one build of XNNPACK on one kind of CPU.
// Opening a file usually reads only its tables. If the modification time differs from the time in
// the file (the seal), another program wrote to the file. Opening then also verifies the checksum
// of the data.
#pragma once

#include <memory>
#include <utility>

#include "backends/xnnpack/runtime/weights/digest_map.h"
#include "backends/xnnpack/runtime/weights/packed_arena.h"
#include "backends/xnnpack/runtime/weights/packing.h"
#include "runtime/platform/file.h"
#include "vitrine/data_source.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// An immutable block of weights in XNNPACK's layout.
struct PackedBlock {
  Geometry geometry;
  std::span<const std::byte> bytes;
  std::shared_ptr<const PackedArena> arena;          // set if the block was packed in this process
  std::shared_ptr<const platform::Mapping> mapping;  // set if the block is from a file
};

// Returns null if memory runs out.
std::shared_ptr<const PackedBlock> make_block(PackedBlock block);

struct StoredBlock {
  Geometry geometry;
  std::span<const std::byte> bytes;
};

// The blocks and digests in a file. weights_cache.h explains how they are identified.
struct WeightsFile {
  std::shared_ptr<const platform::Mapping> mapping;  // null without a file
  DigestSecret secret{};                             // secret of all digests in the file
  uint64_t source_stamp = 0;
  DigestMap<StoredBlock> blocks;
  DigestMap<Digest> contents;

  // Returns NotFound or AccessFailed if the file cannot be opened or read. Returns
  // InvalidExternalData with the reason if the content or the permissions make the file unusable.
  static Result<WeightsFile> open(const char* path);
};

struct WeightsFileContent {
  DigestSecret secret{};
  uint64_t source_stamp = 0;
  CheckedVector<std::pair<Digest, StoredBlock>> blocks;
  CheckedVector<std::pair<Digest, Digest>> contents;
};

// Replaces the file atomically. Returns AccessFailed if this fails, with the system's reason, or if
// the path names a file that is not a weights cache.
Error write_weights_file(const char* path, const WeightsFileContent& content);

}  // namespace vitrine::xnnpack
