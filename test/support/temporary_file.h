// A file that exists for the scope of a test.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace vitrine::test {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "vitrine_test_XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) std::abort();
    ::close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const char* path() const { return path_.c_str(); }

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine::test
