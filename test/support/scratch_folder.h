// Creates a temporary folder for a test. The destructor removes the folder and its content.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace vitrine::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    // mkdtemp replaces the last six characters with random ones.
    std::string name =
        (std::filesystem::temp_directory_path() / "vitrine_test_").string() + std::string(6, 'X');
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine::test
