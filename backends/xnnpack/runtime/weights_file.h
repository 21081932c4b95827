// The file in which packed weights are kept between processes; format:
// docs/formats/weights_cache.md
//
// A file is good for one build of XNNPACK on one kind of CPU. Opening it reads its tables only:
// data is checked by checksum when the file's time of modification is not the one it was sealed
// with, i.e. when somebody else than this code has written to it.
#pragma once

#include <memory>
#include <utility>

#include "backends/xnnpack/runtime/digest_map.h"
#include "backends/xnnpack/runtime/packed_arena.h"
#include "backends/xnnpack/runtime/packing.h"
#include "runtime/platform/file.h"
#include "vitrine/data_source.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Weights in XNNPACK's layout. Immutable.
struct PackedBlock {
  Geometry geometry;
  std::span<const std::byte> bytes;
  std::shared_ptr<const PackedArena> arena;          // if made in this process
  std::shared_ptr<const platform::Mapping> mapping;  // if from a file
};

// Null if there is no memory for it.
std::shared_ptr<const PackedBlock> make_block(PackedBlock block);

struct StoredBlock {
  Geometry geometry;
  std::span<const std::byte> bytes;
};

// The contents of a file. Keys and contents are explained in weights_cache.h.
struct WeightsFile {
  std::shared_ptr<const platform::Mapping> mapping;  // null: there is no file
  DigestSecret secret{};                             // by which the digests were made
  uint64_t source_stamp = 0;
  DigestMap<StoredBlock> blocks;
  DigestMap<Digest> contents;

  // Without a file the result is empty. InvalidExternalData says why a file is of no use; NotFound,
  // AccessFailed as platform::File.
  static Result<WeightsFile> open(const char* path);
};

struct WeightsFileContent {
  DigestSecret secret{};
  uint64_t source_stamp = 0;
  CheckedVector<std::pair<Digest, StoredBlock>> blocks;
  CheckedVector<std::pair<Digest, Digest>> contents;
};

// Replaces the file at once and whole. AccessFailed with the system's reason, or if anything but a
// weights cache is at the path.
Error write_weights_file(const char* path, const WeightsFileContent& content);

}  // namespace vitrine::xnnpack
