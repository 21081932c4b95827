#include "base/zip_archive.h"

#define ZLIB_CONST  // inputs are const
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/format_error.h"
#include "runtime/core/checked_math.h"
#include "runtime/platform/file.h"

namespace vitrine {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kEntrySize = 46;
constexpr size_t kLocalSize = 30;
constexpr size_t kMaxComment = 65535;
constexpr uint16_t kSizes64Field = 1;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;  // marks a value that the extra field holds in 64 bits

// Maximum compression ratio, as a guard against zip bombs. JSON has a ratio of about 30.
constexpr uint64_t kMaxRatio = 200;

// Reads a little-endian number. The caller must check the range.
template <class T>
T number_at(std::span<const std::byte> bytes, size_t offset) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(value << 8 | std::to_integer<T>(bytes[offset + i]));
  }
  return value;
}

}  // namespace

ZipArchive::ZipArchive(SharedBytes bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  read_directory();
}

ZipArchive ZipArchive::open(const std::filesystem::path& file) {
  return {map_shared(file), file.string()};
}

SharedBytes map_shared(const std::filesystem::path& file) {
  const Result<platform::File> opened = platform::File::open(file.c_str());
  if (!opened.ok()) throw FormatError(opened.error().message());  // the message names the file
  Result<platform::Mapping> mapped = platform::Mapping::map(*opened);
  if (!mapped.ok()) {
    throw FormatError(fmt::format("{}: {}", file.string(), mapped.error().message()));
  }
  const auto mapping = std::make_shared<const platform::Mapping>(std::move(*mapped));
  return {mapping->bytes(), mapping};
}

void ZipArchive::fail(std::string_view location, std::string_view what) const {
  throw FormatError(location.empty() ? fmt::format("{}: {}", source_, what)
                                     : fmt::format("{}: {}: {}", source_, location, what));
}

// Returns the offset of the end-of-directory record. Only the archive's comment may follow it.
size_t ZipArchive::find_end() const {
  const std::span<const std::byte> all = bytes_.span;
  if (all.size() < kEndSize) fail("", "is too short for a zip archive");
  size_t end = all.size() - kEndSize;
  const size_t first = end - std::min(end, kMaxComment);
  const auto is_end = [&](size_t at) {
    return number_at<uint32_t>(all, at) == kEndSignature &&
           number_at<uint16_t>(all, at + 20) == all.size() - at - kEndSize;
  };
  while (!is_end(end)) {
    if (end == first) fail("", "is not a zip archive, or is truncated: it has no directory");
    --end;
  }
  return end;
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const std::span<const std::byte> all = bytes_.span;
  const size_t end = find_end();
  uint64_t count = number_at<uint16_t>(all, end + 10);
  uint64_t size = number_at<uint32_t>(all, end + 12);
  uint64_t offset = number_at<uint32_t>(all, end + 16);
  if (end >= kLocator64Size &&
      number_at<uint32_t>(all, end - kLocator64Size) == kLocator64Signature) {
    const auto at = number_at<uint64_t>(all, end - kLocator64Size + 8);
    constexpr size_t kEnd64Size = 56;
    if (!range_fits(at, kEnd64Size, all.size()) ||
        number_at<uint32_t>(all, at) != kEnd64Signature) {
      fail("", "the 64-bit end of the directory is not where its locator says");
    }
    count = number_at<uint64_t>(all, at + 32);
    size = number_at<uint64_t>(all, at + 40);
    offset = number_at<uint64_t>(all, at + 48);
  }
  if (!range_fits(offset, size, all.size())) fail("", "the directory is outside the file");
  return {count, all.subspan(offset, size)};
}

void ZipArchive::read_directory() {
  const Directory directory = find_directory();
  size_t at = 0;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    auto [name, member, size] = read_entry(directory.entries, at, i);
    at += size;
    // Rejects members that share bytes. Such members let a small file expand to a huge size.
    if (add_overflows(packed, member.packed_size, &packed) || packed > bytes_.span.size()) {
      fail(name, "overlaps other members, or claims more bytes than the file has");
    }
    names_.push_back(name);
    if (!members_.emplace(std::move(name), member).second) {
      fail(names_.back(), "is in the archive twice");
    }
  }
}

ZipArchive::DirectoryEntry ZipArchive::read_entry(std::span<const std::byte> directory, size_t at,
                                                  uint64_t index) const {
  const auto location = [&] { return fmt::format("directory entry {}", index); };
  if (!range_fits(at, kEntrySize, directory.size()) ||
      number_at<uint32_t>(directory, at) != kEntrySignature) {
    fail(location(), "is missing");
  }
  const auto flags = number_at<uint16_t>(directory, at + 8);
  const size_t name_size = number_at<uint16_t>(directory, at + 28);
  const size_t extra_size = number_at<uint16_t>(directory, at + 30);
  const size_t comment_size = number_at<uint16_t>(directory, at + 32);
  const size_t rest = name_size + extra_size + comment_size;
  if (!range_fits(at + kEntrySize, rest, directory.size())) {
    fail(location(), "reaches past the directory");
  }
  DirectoryEntry entry;
  entry.size = kEntrySize + rest;
  entry.member.method = number_at<uint16_t>(directory, at + 10);
  entry.member.crc = number_at<uint32_t>(directory, at + 16);
  entry.member.packed_size = number_at<uint32_t>(directory, at + 20);
  entry.member.size = number_at<uint32_t>(directory, at + 24);
  entry.member.header = number_at<uint32_t>(directory, at + 42);
  entry.name.assign(reinterpret_cast<const char*>(directory.data()) + at + kEntrySize, name_size);
  if ((flags & kEncrypted) != 0) fail(entry.name, "is encrypted");
  read_sizes64(directory.subspan(at + kEntrySize + name_size, extra_size), entry);
  return entry;
}

// Reads the extra field of a member: sizes and offsets that need 64 bits.
void ZipArchive::read_sizes64(std::span<const std::byte> extra, DirectoryEntry& entry) const {
  for (size_t field = 0; range_fits(field, 4, extra.size());) {
    const size_t length = number_at<uint16_t>(extra, field + 2);
    if (!range_fits(field + 4, length, extra.size())) break;
    if (number_at<uint16_t>(extra, field) == kSizes64Field) {
      const auto values = extra.subspan(field + 4, length);
      size_t next = 0;
      Member& member = entry.member;
      for (uint64_t* value : {&member.size, &member.packed_size, &member.header}) {
        if (*value != kIn64) continue;
        if (!range_fits(next, 8, values.size())) {
          fail(entry.name, "the 64-bit sizes are truncated");
        }
        *value = number_at<uint64_t>(values, next);
        next += 8;
      }
    }
    field += 4 + length;
  }
}

std::span<const std::byte> ZipArchive::data_of(std::string_view name, const Member& member) const {
  const std::span<const std::byte> all = bytes_.span;
  if (!range_fits(member.header, kLocalSize, all.size()) ||
      number_at<uint32_t>(all, member.header) != kLocalSignature) {
    fail(name, "the local header is not where the directory says");
  }
  const uint64_t data = member.header + kLocalSize + number_at<uint16_t>(all, member.header + 26) +
                        number_at<uint16_t>(all, member.header + 28);
  if (!range_fits(data, member.packed_size, all.size())) fail(name, "reaches past the file's end");
  if (member.method == kStored && member.size != member.packed_size) {
    fail(name, fmt::format("is not compressed, but has {} bytes in the archive and a size of {}",
                           member.packed_size, member.size));
  }
  return all.subspan(data, member.packed_size);
}

uint64_t ZipArchive::size_of(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? 0 : found->second.size;
}

const ZipArchive::Member& ZipArchive::find(std::string_view name, uint64_t max_bytes) const {
  const auto found = members_.find(name);
  if (found == members_.end()) fail(name, "is not in the archive");
  const Member& member = found->second;
  if (member.size > max_bytes) {
    fail(name, fmt::format("has {} bytes; the maximum is {}", member.size, max_bytes));
  }
  return member;
}

SharedBytes ZipArchive::read(std::string_view name, uint64_t max_bytes) const {
  const Member& member = find(name, max_bytes);
  if (member.method == kStored) return {data_of(name, member), bytes_.owner};
  auto bytes = std::make_shared<std::vector<std::byte>>();
  unpack(name, member, *bytes);
  return {*bytes, bytes};
}

std::string ZipArchive::read_checked(std::string_view name, uint64_t max_bytes) const {
  std::string bytes;
  unpack(name, find(name, max_bytes), bytes);
  return bytes;
}

template <class Buffer>
void ZipArchive::unpack(std::string_view name, const Member& member, Buffer& to) const {
  if (member.size / kMaxRatio > member.packed_size) {
    fail(name, fmt::format("unpacks from {} to {} bytes; the maximum is {} times its packed size",
                           member.packed_size, member.size, kMaxRatio));
  }
  const std::span<const std::byte> packed = data_of(name, member);
  if (member.method == kStored) {
    const auto* first = reinterpret_cast<const typename Buffer::value_type*>(packed.data());
    to.assign(first, first + packed.size());
  } else if (member.method == kDeflated) {
    inflate_member(name, member, packed, to);
  } else {
    fail(name, fmt::format("uses compression method {}, which is not supported", member.method));
  }
  if (crc32_z(0, reinterpret_cast<const Bytef*>(to.data()), to.size()) != member.crc) {
    fail(name, "CRC error");
  }
}

// Decompresses one deflate stream. Allocates memory piece by piece, so that a false size cannot
// cost much memory.
template <class Buffer>
void ZipArchive::inflate_member(std::string_view name, const Member& member,
                                std::span<const std::byte> packed, Buffer& to) const {
  constexpr size_t kPiece = size_t{1} << 20;
  z_stream stream{};
  // Negative window bits mean that the stream has no zlib header.
  if (inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, static_cast<int>(sizeof stream)) != Z_OK) {
    fail(name, "cannot be unpacked: zlib failed to initialize");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {  // zlib counts in 32 bits
      const size_t piece = std::min(kPiece, packed.size());
      stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
      stream.avail_in = static_cast<uInt>(piece);
      packed = packed.subspan(piece);
    }
    const size_t have = to.size();
    // One byte more than the member's size detects a stream that is too long.
    to.resize(have + static_cast<size_t>(std::min<uint64_t>(kPiece, member.size - have + 1)));
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + have);
    stream.avail_out = static_cast<uInt>(to.size() - have);
    state = inflate(&stream, Z_NO_FLUSH);
    to.resize(to.size() - stream.avail_out);
    if (to.size() > member.size) fail(name, "unpacks to more than the directory says");
  }
  if (state != Z_STREAM_END && state != Z_BUF_ERROR) fail(name, "is damaged");
  if (state == Z_BUF_ERROR || to.size() != member.size) fail(name, "is truncated");
}

}  // namespace vitrine
