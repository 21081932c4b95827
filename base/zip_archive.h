// Read access to a zip archive in memory. Uncompressed members are not copied.
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

// Bytes and the owner that keeps them in memory.
struct SharedBytes {
  std::span<const std::byte> span;
  std::shared_ptr<const void> owner;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(span.data()), span.size()};
  }
};

// Parses the directory; zlib decompresses. Format: PKWARE's APPNOTE 6.3. Not thread-safe. Errors
// are FormatErrors that begin with `source`.
class ZipArchive {
 public:
  // Members share `bytes.owner`. Refuses the archive if members repeat or overlap.
  ZipArchive(SharedBytes bytes, std::string source);
  // Maps the file, which must not change while its bytes are in use.
  static ZipArchive open(const std::filesystem::path& file);

  const std::string& source() const { return source_; }
  // In archive order.
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const { return members_.contains(name); }
  // The size of its content; 0 if it is absent.
  uint64_t size_of(std::string_view name) const;
  // Throws if it is absent or larger than `max_bytes`.
  SharedBytes read(std::string_view name, uint64_t max_bytes) const;
  // A copy, checked against its CRC.
  std::string read_checked(std::string_view name, uint64_t max_bytes) const;

 private:
  struct Member {
    uint16_t method = 0;
    uint32_t crc = 0;  // of the content
    uint64_t packed_size = 0;
    uint64_t size = 0;
    uint64_t header = 0;  // where its local header is
  };
  [[noreturn]] void fail(std::string_view place, std::string_view what) const;
  struct Directory {
    uint64_t count = 0;
    std::span<const std::byte> entries;
  };
  struct Entry {
    std::string name;
    Member member;
    size_t size = 0;  // of the entry itself
  };
  size_t find_end() const;
  Directory find_directory() const;
  void read_directory();
  Entry read_entry(std::span<const std::byte> directory, size_t at, uint64_t index) const;
  void read_sizes64(std::span<const std::byte> extra, Entry& entry) const;
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
