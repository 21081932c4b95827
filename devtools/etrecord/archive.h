// Read access to the members of a zip archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct zip;

namespace vitrine::etrecord {

// Not thread-safe. Errors are EtRecordErrors that begin with `source`. Refused as a whole if its
// members claim more bytes of the file than it has.
class Archive {
 public:
  static Archive open(const std::filesystem::path& file);
  // `bytes` must outlive the archive.
  static Archive open(std::span<const std::byte> bytes, std::string source);

  // In archive order. Names that are not UTF-8 or repeat are kept as they are.
  const std::vector<std::string>& members() const { return members_; }
  bool has(const std::string& member) const;
  // Unpacked, as the archive's directory has it; 0 if it does not say.
  uint64_t bytes_of(const std::string& member) const;
  // The member's bytes, checked against its CRC. An error if it is absent or larger than
  // `max_bytes` once unpacked.
  std::string read(const std::string& member, uint64_t max_bytes) const;

  const std::string& source() const { return source_; }

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  Archive(std::unique_ptr<zip, Close> archive, std::string source, uint64_t archive_bytes);

  std::unique_ptr<zip, Close> archive_;
  std::string source_;
  std::vector<std::string> members_;
};

}  // namespace vitrine::etrecord
