// Reads zip archives in memory, without copying uncompressed members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// A span of bytes, and the owner that keeps the bytes in memory.
struct SharedBytes {
  std::span<const std::byte> span;
  std::shared_ptr<const void> owner;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(span.data()), span.size()};
  }
};

// Maps a file into memory. Throws a FormatError that names the file. The file must not change while
// its bytes are in use.
SharedBytes map_shared(const std::filesystem::path& file);

// Reads zip archives (PKWARE's APPNOTE 6.3). Parses the directory itself; zlib decompresses members
// and computes checksums. Not thread-safe. FormatErrors begin with `source`.
class ZipArchive {
 public:
  // Uncompressed members share `bytes.owner`. Throws if members repeat or overlap.
  ZipArchive(SharedBytes bytes, std::string source);
  // Maps an archive file as map_shared() does.
  static ZipArchive open(const std::filesystem::path& file);

  const std::string& source() const { return source_; }
  // Returns the names of the members, in archive order.
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const { return members_.contains(name); }
  // Returns the member's uncompressed size in bytes, or 0 if the member is absent.
  uint64_t size_of(std::string_view name) const;
  // Returns a member's content. Throws if the member is absent or larger than `max_bytes`. Checks
  // the CRC of compressed members only.
  SharedBytes read(std::string_view name, uint64_t max_bytes) const;
  // Returns a copy of a member's content, checked against its CRC.
  std::string read_checked(std::string_view name, uint64_t max_bytes) const;

 private:
  struct Member {
    uint16_t method = 0;
    uint32_t crc = 0;  // checksum of the content
    uint64_t packed_size = 0;
    uint64_t size = 0;
    uint64_t header = 0;  // offset of the local header
  };
  [[noreturn]] void fail(std::string_view location, std::string_view what) const;
  struct Directory {
    uint64_t count = 0;
    std::span<const std::byte> entries;
  };
  struct DirectoryEntry {
    std::string name;
    Member member;
    size_t size = 0;  // bytes of the entry itself
  };
  size_t find_end() const;
  Directory find_directory() const;
  void read_directory();
  DirectoryEntry read_entry(std::span<const std::byte> directory, size_t at, uint64_t index) const;
  void read_sizes64(std::span<const std::byte> extra, DirectoryEntry& entry) const;
  std::span<const std::byte> data_of(std::string_view name, const Member& member) const;
  const Member& find(std::string_view name, uint64_t max_bytes) const;
  template <class Buffer>
  void unpack(std::string_view name, const Member& member, Buffer& to) const;
  template <class Buffer>
  void inflate_member(std::string_view name, const Member& member,
                      std::span<const std::byte> packed, Buffer& to) const;

  SharedBytes bytes_;
  std::string source_;
  std::vector<std::string> names_;
  std::map<std::string, Member, std::less<>> members_;
};

}  // namespace vitrine
