#include "formats/etrecord/archive_writer.h"

#include <fmt/format.h>
#include <zip.h>

#include "formats/etrecord/etrecord.h"

namespace vitrine::etrecord {
namespace {

// The earliest time that a zip can store, in local time: 1 January 1980.
constexpr zip_uint16_t kDosTime = 0;
constexpr zip_uint16_t kDosDate = (1 << 5) | 1;

}  // namespace

ArchiveWriter::ArchiveWriter() {
  zip_error_t error;
  zip_error_init(&error);
  target_ = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (target_ != nullptr) archive_ = zip_open_from_source(target_, ZIP_TRUNCATE, &error);
  if (archive_ == nullptr) {
    if (target_ != nullptr) zip_source_free(target_);
    target_ = nullptr;
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail("archive", reason.c_str());
  }
  zip_error_fini(&error);
  zip_source_keep(target_);  // the bytes must outlive the archive
}

ArchiveWriter::~ArchiveWriter() {
  if (archive_ != nullptr) zip_discard(archive_);
  if (target_ != nullptr) zip_source_free(target_);
}

void ArchiveWriter::fail(std::string_view what, const char* reason) const {
  throw FormatError(fmt::format("cannot write a record: {}: {}", what, reason));
}

void ArchiveWriter::add(const std::string& name, std::string_view content) {
  zip_source_t* source = zip_source_buffer(archive_, content.data(), content.size(), 0);
  if (source == nullptr) fail(name, zip_strerror(archive_));
  const zip_int64_t index = zip_file_add(archive_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail(name, zip_strerror(archive_));
  }
  const auto member = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive_, member, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive_, member, kDosTime, kDosDate, 0) != 0) {
    fail(name, zip_strerror(archive_));
  }
}

std::vector<std::byte> ArchiveWriter::finish() {
  if (zip_close(archive_) != 0) fail("archive", zip_strerror(archive_));
  archive_ = nullptr;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(target_, &stat) != 0 || zip_source_open(target_) != 0) {
    fail("archive", zip_error_strerror(zip_source_error(target_)));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(stat.size));
  const zip_int64_t got = zip_source_read(target_, bytes.data(), bytes.size());
  zip_source_close(target_);
  if (got < 0 || static_cast<size_t>(got) != bytes.size()) fail("archive", "is truncated");
  return bytes;
}

}  // namespace vitrine::etrecord
