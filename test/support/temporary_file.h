// Creates a file with given content. The destructor removes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

#include "test/support/scratch_folder.h"

namespace vitrine::test {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const char* path() const { return path_.c_str(); }

 private:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "file";
};

}  // namespace vitrine::test
