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

// Not more of a pipe or a device.
constexpr size_t kMostStreamedBytes = size_t{1} << 28;

// `reason`: errno, read right after the call that failed.
[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int reason) {
  throw ToolError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(reason)));
}

// Of pipes and devices, which have no size.
std::vector<std::byte> read_stream(std::FILE* file, const std::filesystem::path& path) {
  std::vector<std::byte> bytes;
  size_t count = 0;
  do {
    constexpr size_t kBlock = 65536;
    const size_t before = bytes.size();
    bytes.resize(before + kBlock);
    count = std::fread(bytes.data() + before, 1, kBlock, file);
    if (std::ferror(file) != 0) fail(path, "cannot read", errno);
    bytes.resize(before + count);
    if (bytes.size() > kMostStreamedBytes) {
      throw ToolError(
          fmt::format("{}: gives more than {} bytes", path.string(), kMostStreamedBytes));
    }
  } while (count != 0);
  return bytes;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(path, "cannot open", errno);
  std::error_code error;
  if (std::filesystem::is_other(path, error)) return read_stream(file.get(), path);
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw ToolError(fmt::format("{}: not a file", path.string()));
  std::vector<std::byte> bytes(size);
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
    fail(path, "cannot read", errno);
  }
  return bytes;
}

void flush_standard_output() {
  const bool has_failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0) {
    if (has_failed) throw ToolError("standard output: cannot write all of it");
    return;
  }
  const int reason = errno;
  throw ToolError(fmt::format("standard output: cannot write: {}", std::strerror(reason)));
}

void check_outputs(std::span<const std::filesystem::path> outputs,
                   std::span<const std::filesystem::path> inputs) {
  const auto same = [](const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    if (std::filesystem::is_other(a, ignored)) return false;  // /dev/null takes all
    return std::filesystem::equivalent(a, b, ignored) ||
           std::filesystem::absolute(a, ignored).lexically_normal() ==
               std::filesystem::absolute(b, ignored).lexically_normal();
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    for (const std::filesystem::path& input : inputs) {
      if (input.empty() || !same(outputs[i], input)) continue;
      throw ToolError(fmt::format("{}: is read, and would be overwritten", outputs[i].string()));
    }
    for (size_t k = 0; k < i; ++k) {
      if (outputs[k].empty() || !same(outputs[i], outputs[k])) continue;
      throw ToolError(fmt::format("{}: is the file of two outputs", outputs[i].string()));
    }
  }
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
  file_ = std::fopen((in_place ? path_ : temporary_).c_str(), "wbe");
  if (file_ == nullptr) {
    const int reason = errno;
    temporary_.clear();
    tools::fail(path_, "cannot create", reason);
  }
}

NewFile::~NewFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void NewFile::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    tools::fail(path_, "cannot write", errno);
  }
}

void NewFile::commit() {
  const bool is_closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  const bool is_in_place = temporary_.empty();
  if (!is_closed || (!is_in_place && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    tools::fail(path_, "cannot write", errno);
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
