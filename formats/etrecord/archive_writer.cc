#include "formats/etrecord/archive_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "formats/etrecord/etrecord.h"

namespace vitrine::etrecord {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint16_t kVersion = 20;  // version of the format that a reader needs
constexpr uint16_t kVersion64 = 45;
constexpr uint16_t kUtf8 = 1 << 11;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kSizes64Field = 1;
constexpr uint32_t kIn64 = 0xffffffff;  // marks a value that is stored in the 64-bit form
constexpr uint16_t kCountIn64 = 0xffff;
// January 1, 1980 in local time, the earliest time that a zip archive can store.
constexpr uint16_t kDosTime = 0;
constexpr uint16_t kDosDate = (1 << 5) | 1;

// Appends a number in little-endian order.
template <class T>
void put(std::vector<std::byte>& to, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    to.push_back(static_cast<std::byte>(static_cast<uint64_t>(number) >> (8 * i) & 0xff));
  }
}

void put_text(std::vector<std::byte>& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Returns a raw deflate stream, or an empty string if the stream would not be smaller.
std::string deflated(std::string_view content, int strategy) {
  if (content.empty() || content.size() > std::numeric_limits<uInt>::max()) return {};
  z_stream stream{};
  constexpr int kRawWindow = -15;  // 32 KB, without a zlib header
  constexpr int kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawWindow, kMemoryLevel,
                   strategy) != Z_OK) {
    return {};
  }
  std::string packed(content.size(), '\0');
  // deflate() does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool fits = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(fits ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed.size() < content.size() ? packed : std::string();
}

// Readers refuse members with a high compression ratio (base/zip_archive.h). If default compression
// exceeds kMaxRatio, this function uses only Huffman codes, which reach a ratio of at most 8.
std::string packed_within_ratio(std::string_view content) {
  constexpr size_t kMaxRatio = 100;
  std::string packed = deflated(content, Z_DEFAULT_STRATEGY);
  return content.size() > kMaxRatio * packed.size() ? deflated(content, Z_HUFFMAN_ONLY) : packed;
}

// Writes the fields from version to CRC, which a local header and a directory entry share.
void put_common(std::vector<std::byte>& to, uint16_t version, uint16_t method, uint32_t crc) {
  put(to, version);
  put(to, kUtf8);
  put(to, method);
  put(to, kDosTime);
  put(to, kDosDate);
  put(to, crc);
}

}  // namespace

void ArchiveWriter::add(const std::string& name, std::string_view content) {
  if (name.size() > 0xffff || !names_.insert(name).second) {
    throw FormatError(fmt::format("cannot write a record: {}: the name is {}", name,
                                  name.size() > 0xffff ? "too long" : "already in use"));
  }
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const std::string packed = packed_within_ratio(content);
  const bool is_packed = !packed.empty();
  const std::string_view stored = is_packed ? packed : content;
  const Member member{
      name, content.size(), stored.size(), bytes_.size(), crc, is_packed ? kDeflated : kStored};
  put_local(member);
  put_text(bytes_, stored);
  put_entry(member);
}

// Writes the local header, which precedes a member's content.
void ArchiveWriter::put_local(const Member& member) {
  const bool is_64 = member.size >= limit_;
  put(bytes_, kLocalSignature);
  put_common(bytes_, is_64 ? kVersion64 : kVersion, member.method, member.crc);
  for (const uint64_t size : {member.packed_size, member.size}) {
    put(bytes_, is_64 ? kIn64 : static_cast<uint32_t>(size));
  }
  put(bytes_, static_cast<uint16_t>(member.name.size()));
  put(bytes_, static_cast<uint16_t>(is_64 ? 20 : 0));
  put_text(bytes_, member.name);
  if (!is_64) return;
  put(bytes_, kSizes64Field);
  put(bytes_, uint16_t{16});
  for (const uint64_t size : {member.size, member.packed_size}) put(bytes_, size);
}

// Appends a member's entry to the central directory of the archive.
void ArchiveWriter::put_entry(const Member& member) {
  const bool is_64 = member.size >= limit_ || member.offset >= limit_;
  put(directory_, kEntrySignature);
  put(directory_, kVersion64);  // version of the writer
  put_common(directory_, is_64 ? kVersion64 : kVersion, member.method, member.crc);
  for (const uint64_t size : {member.packed_size, member.size}) {
    put(directory_, is_64 ? kIn64 : static_cast<uint32_t>(size));
  }
  put(directory_, static_cast<uint16_t>(member.name.size()));
  put(directory_, static_cast<uint16_t>(is_64 ? 28 : 0));
  for (int i = 0; i < 3; ++i) put(directory_, uint16_t{0});  // comment, disk, attributes
  put(directory_, uint32_t{0});                              // attributes
  put(directory_, is_64 ? kIn64 : static_cast<uint32_t>(member.offset));
  put_text(directory_, member.name);
  if (!is_64) return;
  put(directory_, kSizes64Field);
  put(directory_, uint16_t{24});
  for (const uint64_t value : {member.size, member.packed_size, member.offset}) {
    put(directory_, value);
  }
}

// Writes the 64-bit end-of-directory record, and the locator that holds its offset.
void ArchiveWriter::put_end64(uint64_t directory_size) {
  const uint64_t offset = bytes_.size();
  put(bytes_, kEnd64Signature);
  put(bytes_, uint64_t{44});  // size of the rest of this record
  for (int i = 0; i < 2; ++i) put(bytes_, kVersion64);
  for (int i = 0; i < 2; ++i) put(bytes_, uint32_t{0});  // disks
  for (int i = 0; i < 2; ++i) put(bytes_, uint64_t{names_.size()});
  put(bytes_, directory_size);
  put(bytes_, offset - directory_size);
  put(bytes_, kLocator64Signature);
  put(bytes_, uint32_t{0});
  put(bytes_, offset);
  put(bytes_, uint32_t{1});  // disks
}

std::vector<std::byte> ArchiveWriter::finish() {
  const uint64_t start = bytes_.size();
  const uint64_t size = directory_.size();
  const uint64_t count = names_.size();
  bytes_.insert(bytes_.end(), directory_.begin(), directory_.end());
  const bool is_64 =
      start >= limit_ || size >= limit_ || count >= std::min<uint64_t>(limit_, kCountIn64);
  if (is_64) put_end64(size);
  put(bytes_, kEndSignature);
  for (int i = 0; i < 2; ++i) put(bytes_, uint16_t{0});  // disks
  for (int i = 0; i < 2; ++i) put(bytes_, is_64 ? kCountIn64 : static_cast<uint16_t>(count));
  put(bytes_, is_64 ? kIn64 : static_cast<uint32_t>(size));
  put(bytes_, is_64 ? kIn64 : static_cast<uint32_t>(start));
  put(bytes_, uint16_t{0});  // comment
  return std::move(bytes_);
}

}  // namespace vitrine::etrecord
