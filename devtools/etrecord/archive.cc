#include "devtools/etrecord/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <utility>

#include "devtools/etrecord/etrecord.h"

namespace vitrine::etrecord {
namespace {

// Records are stored uncompressed; repacked ones shrink by far less than this. What claims more is
// a small file that tries to become a large one.
constexpr uint64_t kMaxRatio = 100;

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

void Archive::Close::operator()(zip* archive) const { zip_discard(archive); }

Archive::Archive(std::unique_ptr<zip, Close> archive, std::string source, uint64_t archive_bytes)
    : archive_(std::move(archive)), source_(std::move(source)) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  uint64_t packed = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(archive_.get(), index, ZIP_FL_ENC_RAW);
    if (name != nullptr) members_.emplace_back(name);
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &stat) == 0 &&
        (stat.valid & ZIP_STAT_COMP_SIZE) != 0 &&
        __builtin_add_overflow(packed, stat.comp_size, &packed)) {
      packed = UINT64_MAX;
      break;
    }
  }
  // Members that share bytes would let a small file become many large ones.
  if (packed > archive_bytes) {
    throw EtRecordError(
        fmt::format("{}: its members claim {} bytes of an archive of {}: they overlap, refused",
                    source_, packed, archive_bytes));
  }
}

Archive Archive::open(const std::filesystem::path& file) {
  int code = ZIP_ER_OK;
  std::unique_ptr<zip, Close> archive(zip_open(file.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    throw EtRecordError(
        fmt::format("{}: not an archive that can be opened: {}", file.string(), text_of(error)));
  }
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw EtRecordError(fmt::format("{}: {}", file.string(), error.message()));
  return {std::move(archive), file.string(), size};
}

Archive Archive::open(std::span<const std::byte> bytes, std::string source) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* buffer = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  std::unique_ptr<zip, Close> archive(
      buffer == nullptr ? nullptr : zip_open_from_source(buffer, ZIP_RDONLY, &error));
  if (archive == nullptr) {
    if (buffer != nullptr) zip_source_free(buffer);
    throw EtRecordError(
        fmt::format("{}: not an archive that can be opened: {}", source, text_of(error)));
  }
  zip_error_fini(&error);
  return {std::move(archive), std::move(source), bytes.size()};
}

bool Archive::has(const std::string& member) const {
  return std::find(members_.begin(), members_.end(), member) != members_.end();
}

uint64_t Archive::bytes_of(const std::string& member) const {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive_.get(), member.c_str(), ZIP_FL_ENC_RAW, &stat) != 0) return 0;
  return (stat.valid & ZIP_STAT_SIZE) != 0 ? stat.size : 0;
}

std::string Archive::read(const std::string& member, uint64_t max_bytes) const {
  const auto fail = [&](std::string_view what) {
    throw EtRecordError(fmt::format("{}: {}: {}", source_, member, what));
  };
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive_.get(), member.c_str(), ZIP_FL_ENC_RAW, &stat) != 0 ||
      (stat.valid & ZIP_STAT_SIZE) == 0 || (stat.valid & ZIP_STAT_COMP_SIZE) == 0) {
    fail("is not in the archive");
  }
  if (stat.size / kMaxRatio > stat.comp_size) {
    fail(fmt::format("unpacks from {} to {} bytes: refused", stat.comp_size, stat.size));
  }
  if (stat.size > max_bytes) {
    fail(fmt::format("has {} bytes; at most {} are read", stat.size, max_bytes));
  }
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen_index(archive_.get(), stat.index, 0), zip_fclose);
  if (file == nullptr) fail(zip_strerror(archive_.get()));

  // In pieces, so that a false size costs little. Reading up to the end, not just up to the size,
  // makes libzip check the CRC.
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  const auto piece = static_cast<size_t>(std::min(kPiece, stat.size + 1));
  std::string bytes;
  for (;;) {
    const size_t have = bytes.size();
    bytes.resize(have + piece);
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + have, piece);
    if (got < 0) fail(zip_file_strerror(file.get()));
    bytes.resize(have + static_cast<size_t>(got));
    if (got == 0) break;
    if (bytes.size() > max_bytes) fail(fmt::format("unpacks to more than {} bytes", max_bytes));
  }
  if (bytes.size() != stat.size) fail("is cut short");
  return bytes;
}

}  // namespace vitrine::etrecord
