#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::etrecord {

// Writes a zip archive (format: PKWARE's APPNOTE 6.3). Functions report errors as FormatError. All
// members get the same timestamp. A member is compressed if that makes it smaller.
class ArchiveWriter {
 public:
  // The archive stores sizes and offsets of at least `limit`, and member counts of at least
  // min(limit, 65535), in the 64-bit form. Only tests pass a limit below the default.
  explicit ArchiveWriter(uint64_t limit = 0xffffffff) : limit_(limit) {}

  // Adds a member with a copy of `content`. A duplicate name is an error.
  void add(const std::string& name, std::string_view content);
  // Returns the bytes of the archive. The caller must not add members afterward.
  std::vector<std::byte> finish();

 private:
  struct Member {
    std::string_view name;
    uint64_t size;
    uint64_t packed_size;
    uint64_t offset;  // offset of the local header
    uint32_t crc;
    uint16_t method;  // compression method
  };
  void put_local(const Member& member);
  void put_entry(const Member& member);
  void put_end64(uint64_t directory_size);

  uint64_t limit_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> directory_;
};

}  // namespace vitrine::etrecord
