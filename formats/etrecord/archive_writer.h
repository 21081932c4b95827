// Makes a zip archive whose members are stored uncompressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;
struct zip_source;

namespace vitrine::etrecord {

// Errors are FormatErrors. All members have the same fixed time.
class ArchiveWriter {
 public:
  ArchiveWriter();
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  // `content` must live until finish(). A duplicate name is an error.
  void add(const std::string& name, std::string_view content);
  // The archive's bytes; nothing may be added after.
  std::vector<std::byte> finish();

 private:
  [[noreturn]] void fail(std::string_view what, const char* reason) const;

  zip_source* target_ = nullptr;
  zip* archive_ = nullptr;
};

}  // namespace vitrine::etrecord
