#include "backends/xnnpack/runtime/weights/weights_file.h"

#include <cpuinfo.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/share.h"
#include "runtime/platform/new_file.h"

namespace vitrine::xnnpack {
namespace {

constexpr char kMagic[8] = {'V', 'T', 'R', 'X', 'P', 'A', 'C', 'K'};
constexpr uint32_t kVersion = 3;
constexpr size_t kDataAlignment = 4096;
constexpr size_t kBlockAlignment = 64;

// The header of the file, in native byte order: the file never leaves the machine.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t block_count;
  uint32_t content_count;
  uint32_t zero;
  Digest build;
  DigestSecret secret;
  uint64_t source_stamp;
  uint64_t seal_s;
  uint64_t file_size;
  uint64_t data_offset;
  Digest tables;  // digest of the tables between header and data
  Digest data;
  Digest header;  // digest of all fields above
};
static_assert(sizeof(Header) == 312 && offsetof(Header, header) == 296);

struct BlockRow {
  Digest key;
  uint64_t offset;  // offset in the file
  uint64_t size;
  Geometry geometry;
};
static_assert(sizeof(BlockRow) == 256);

struct ContentRow {
  Digest name;
  Digest content;
};
static_assert(sizeof(ContentRow) == 32);

constexpr ErrorCode kUnusable = ErrorCode::kInvalidExternalData;

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

Digest header_digest(const Header& header) {
  return digest_of(bytes_of(header).first(offsetof(Header, header)));
}

// Returns a digest of XNNPACK's build and the CPU, which determine how weights are packed.
Digest build_digest() {
  static const Digest digest = [] {
    Digester digester;
    digester.add_text(VITRINE_XNNPACK_BUILD);
    if (cpuinfo_initialize()) {
      digester.add_bytes(bytes_of(cpuinfo_isa));
      for (uint32_t i = 0; i < cpuinfo_get_uarchs_count(); ++i) {
        digester.add(cpuinfo_get_uarch(i)->uarch);
      }
    }
    return digester.finish();
  }();
  return digest;
}

uint64_t rows_size(uint64_t blocks, uint64_t contents) {
  return blocks * sizeof(BlockRow) + contents * sizeof(ContentRow);
}

Result<Header> read_header(std::span<const std::byte> file) {
  Header header;
  if (file.size() < sizeof header)
    return Error::make(kUnusable, "it has fewer than %zu bytes", sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return Error::make(kUnusable, "it is not a weights cache");
  }
  if (header.version != kVersion)
    return Error::make(kUnusable, "its version is %u, expected %u", header.version, kVersion);
  if (header.header != header_digest(header))
    return Error::make(kUnusable, "its header is damaged");
  if (header.build != build_digest()) {
    return Error::make(kUnusable, "it was made by another build of XNNPACK or on another CPU");
  }
  if (header.file_size != file.size()) {
    return Error::make(kUnusable, "it has %zu bytes, expected %llu", file.size(),
                       static_cast<unsigned long long>(header.file_size));
  }
  if (header.data_offset > file.size() || header.data_offset < sizeof header ||
      rows_size(header.block_count, header.content_count) > header.data_offset - sizeof header) {
    return Error::make(kUnusable, "its tables extend past the end of the file");
  }
  const size_t tables = static_cast<size_t>(header.data_offset) - sizeof header;
  if (header.tables != digest_of(file.subspan(sizeof header, tables))) {
    return Error::make(kUnusable, "its tables are damaged");
  }
  return header;
}

template <class Row>
Row read_row(std::span<const std::byte> rows, size_t index) {
  Row row;
  std::memcpy(&row, rows.data() + index * sizeof row, sizeof row);
  return row;
}

// An existing file that is not a weights cache is an error: the path could be wrong.
Error check_replaceable(const char* path) {
  Result<platform::File> file = platform::File::open(path);
  if (!file.ok()) {
    return file.error().code() == ErrorCode::kNotFound ? Error() : file.take_error();
  }
  std::array<char, sizeof kMagic> begin{};
  const auto size = static_cast<size_t>(std::min<uint64_t>(file->size(), begin.size()));
  VITRINE_RETURN_IF_ERROR(file->read(0, std::as_writable_bytes(std::span(begin)).first(size)), "%s",
                          path);
  if (std::memcmp(begin.data(), kMagic, size) == 0) return Error();
  return Error::make(ErrorCode::kAccessFailed,
                     "%s is not a weights cache, so it is not overwritten: choose another path",
                     path);
}

}  // namespace

std::shared_ptr<const PackedBlock> make_block(PackedBlock block) {
  return share(
      std::unique_ptr<const PackedBlock>(new (std::nothrow) PackedBlock(std::move(block))));
}

Result<WeightsFile> WeightsFile::open(const char* path) {
  VITRINE_ASSIGN_OR_RETURN(const platform::File file, platform::File::open(path));
  if (!file.is_private()) return Error::make(kUnusable, "other users may write to it");
  VITRINE_ASSIGN_OR_RETURN(platform::Mapping mapping, platform::Mapping::map(file));
  WeightsFile result;
  result.mapping = share(std::unique_ptr<const platform::Mapping>(
      new (std::nothrow) platform::Mapping(std::move(mapping))));
  if (!result.mapping) return no_memory_for(1, sizeof mapping);
  const std::span<const std::byte> bytes = result.mapping->bytes();
  VITRINE_ASSIGN_OR_RETURN(const Header header, read_header(bytes));
  const std::span<const std::byte> block_rows = bytes.subspan(sizeof header);
  for (size_t i = 0; i < header.block_count; ++i) {
    const auto row = read_row<BlockRow>(block_rows, i);
    if (row.offset < header.data_offset || row.offset % kBlockAlignment != 0 ||
        !range_fits(row.offset, row.size, bytes.size())) {
      return Error::make(kUnusable, "block %zu is outside of the data in the file", i);
    }
    VITRINE_RETURN_IF_ERROR(result.blocks.insert(
        row.key, {row.geometry,
                  bytes.subspan(static_cast<size_t>(row.offset), static_cast<size_t>(row.size))}));
  }
  const std::span<const std::byte> content_rows =
      block_rows.subspan(static_cast<size_t>(rows_size(header.block_count, 0)));
  for (size_t i = 0; i < header.content_count; ++i) {
    const auto row = read_row<ContentRow>(content_rows, i);
    VITRINE_RETURN_IF_ERROR(result.contents.insert(row.name, row.content));
  }
  if (file.modified_ns() != header.seal_s * 1'000'000'000u) {
    if (header.data != digest_of(bytes.subspan(static_cast<size_t>(header.data_offset)))) {
      return Error::make(kUnusable, "its data is damaged");
    }
    file.seal(header.seal_s);
  }
  result.secret = header.secret;
  result.source_stamp = header.source_stamp;
  return result;
}

Error write_weights_file(const char* path, const WeightsFileContent& content) {
  VITRINE_RETURN_IF_ERROR(check_replaceable(path));
  const auto rows = static_cast<size_t>(rows_size(content.blocks.size(), content.contents.size()));
  const size_t data_offset = round_up(sizeof(Header) + rows, kDataAlignment);
  CheckedVector<std::byte> tables;
  VITRINE_RETURN_IF_ERROR(tables.resize(data_offset - sizeof(Header)));
  auto write_row = [&tables, at = size_t{0}](const auto& row) mutable {
    std::memcpy(tables.data() + at, &row, sizeof row);
    at += sizeof row;
  };
  constexpr std::array<std::byte, kBlockAlignment> kPadding{};
  const auto padding_after = [&](size_t size) {
    return std::span(kPadding).first(round_up(size, kBlockAlignment) - size);
  };
  Digester data;
  uint64_t end = data_offset;
  for (const auto& [key, block] : content.blocks) {
    const std::span<const std::byte> bytes = block.bytes;
    write_row(BlockRow{key, end, bytes.size(), block.geometry});
    end += round_up(bytes.size(), kBlockAlignment);
    data.add_bytes(bytes);
    data.add_bytes(padding_after(bytes.size()));
  }
  for (const auto& [name, digest] : content.contents) write_row(ContentRow{name, digest});

  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.block_count = static_cast<uint32_t>(content.blocks.size());
  header.content_count = static_cast<uint32_t>(content.contents.size());
  header.build = build_digest();
  header.secret = content.secret;
  header.source_stamp = content.source_stamp;
  // Some file systems store times with a resolution of two seconds, so the seconds are even.
  header.seal_s = platform::wall_clock_s() / 2 * 2;
  header.file_size = end;
  header.data_offset = data_offset;
  header.tables = digest_of(tables);
  header.data = data.finish();
  header.header = header_digest(header);

  VITRINE_ASSIGN_OR_RETURN(platform::NewFile file,
                           platform::NewFile::create(path, platform::NewFile::Kind::kPrivate));
  VITRINE_RETURN_IF_ERROR(file.write(bytes_of(header)));
  VITRINE_RETURN_IF_ERROR(file.write(tables));
  for (const auto& [key, block] : content.blocks) {
    VITRINE_RETURN_IF_ERROR(file.write(block.bytes));
    VITRINE_RETURN_IF_ERROR(file.write(padding_after(block.bytes.size())));
  }
  VITRINE_RETURN_IF_ERROR(file.seal(header.seal_s));
  return file.commit();
}

}  // namespace vitrine::xnnpack
