#include "host/files.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "host/tool_error.h"

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

void flush_standard_output() {
  const bool has_failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !has_failed) return;
  throw ToolError(fmt::format("standard output: cannot write: {}", std::strerror(errno)));
}

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(path_, ignored)) {
    path_ = std::filesystem::weakly_canonical(path_, ignored);
  }
  // A rename would put a file where a device was.
  const bool in_place =
      std::filesystem::exists(path_, ignored) && std::filesystem::is_other(path_, ignored);
  if (!in_place) temporary_ = fmt::format("{}.{}.tmp", path_.string(), ::getpid());
  const std::filesystem::path& opened = in_place ? path_ : temporary_;
  file_ = std::fopen(opened.c_str(), "wbe");
  if (file_ == nullptr) {
    temporary_.clear();
    tools::fail(opened, "cannot create");
  }
}

NewFile::~NewFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void NewFile::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    tools::fail(path_, "cannot write");
  }
}

void NewFile::commit() {
  const bool is_closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  const bool is_in_place = temporary_.empty();
  if (!is_closed || (!is_in_place && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    tools::fail(path_, "cannot write");
  }
  temporary_.clear();
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  NewFile file(path);
  file.append(bytes);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace vitrine::tools
