#include "tools/files.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/tool_error.h"

namespace vitrine::tools {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw ToolError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(path, "cannot open");
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw ToolError(fmt::format("{}: not a regular file", path.string()));
  std::vector<std::byte> bytes(size);
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
    fail(path, "cannot read");
  }
  return bytes;
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::filesystem::path temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  File file(std::fopen(temporary.c_str(), "wbe"));
  if (!file) fail(temporary, "cannot create");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                       std::fflush(file.get()) == 0;
  file.reset();
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    errno = reason;
    fail(path, "cannot write");
  }
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace vitrine::tools
