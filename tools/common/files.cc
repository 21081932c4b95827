#include "tools/common/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/core/printable.h"
#include "runtime/platform/file.h"
#include "tools/common/interrupt.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr size_t kMaxStreamedBytes = size_t{1} << 28;

constexpr size_t kBufferBytes = size_t{1} << 16;

// Reads a pipe or a device of unknown size.
std::vector<std::byte> read_stream(const std::filesystem::path& path) {
  const File file(std::fopen(path.c_str(), "rbe"));
  std::vector<std::byte> bytes;
  size_t count = 0;
  do {
    const size_t before = bytes.size();
    bytes.resize(before + kBufferBytes);
    if (file) count = std::fread(bytes.data() + before, 1, kBufferBytes, file.get());
    if (!file || std::ferror(file.get()) != 0) {
      throw ToolError(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
    }
    bytes.resize(before + count);
    if (bytes.size() > kMaxStreamedBytes) {
      throw ToolError(fmt::format("{}: has more than {} bytes, the maximum for a pipe or a device",
                                  path.string(), kMaxStreamedBytes));
    }
  } while (count != 0);
  return bytes;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_other(path, ignored)) return read_stream(path);
  const platform::File file = check(platform::File::open(path.c_str()));
  std::vector<std::byte> bytes(file.size());
  if (Error error = file.read(0, bytes); !error.ok()) {
    throw ToolError(std::move(error).in("%s", path.c_str()));
  }
  return bytes;
}

void print_text(std::FILE* file, std::string text) {
  make_printable(text);
  std::fwrite(text.data(), 1, text.size(), file);
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
    if (std::filesystem::is_other(a, ignored)) return false;  // a device such as /dev/null
    return std::filesystem::equivalent(a, b, ignored) ||
           std::filesystem::absolute(a, ignored).lexically_normal() ==
               std::filesystem::absolute(b, ignored).lexically_normal();
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    for (const std::filesystem::path& input : inputs) {
      if (input.empty() || !same(outputs[i], input)) continue;
      throw ToolError(
          fmt::format("{}: is an input, which the output would overwrite", outputs[i].string()));
    }
    for (size_t k = 0; k < i; ++k) {
      if (outputs[k].empty() || !same(outputs[i], outputs[k])) continue;
      throw ToolError(fmt::format("{}: is given for two outputs", outputs[i].string()));
    }
  }
}

NewFile::NewFile(const std::filesystem::path& path)
    : file_(check(platform::NewFile::create(path.c_str(), platform::NewFile::Kind::kOutput))) {
  if (const char* name = file_.temporary_path()) add_temporary_file(name);
}

NewFile::~NewFile() {
  if (const char* name = file_.temporary_path()) forget_temporary_file(name);
}

void NewFile::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffered_.size() + bytes.size() > kBufferBytes) write_buffered();
  if (bytes.size() >= kBufferBytes) {
    check(file_.write(bytes));
  } else {
    buffered_.insert(buffered_.end(), bytes.begin(), bytes.end());
  }
}

void NewFile::append(std::string_view text) {
  append(std::as_bytes(std::span(text.data(), text.size())));
}

void NewFile::write_buffered() {
  check(file_.write(buffered_));
  buffered_.clear();
}

void NewFile::finish() {
  write_buffered();
  check(file_.finish());
}

void NewFile::commit() {
  finish();
  const std::filesystem::path temporary = temporary_path();
  check(file_.commit());
  forget_temporary_file(temporary.c_str());
}

void NewFiles::finish() {
  for (NewFile& file : files_) file.finish();
}

void NewFiles::commit() {
  finish();
  for (NewFile& file : files_) file.commit();
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
