#include "test/support/corpus.h"

#include <cstdlib>

namespace vitrine::test {

std::filesystem::path corpus_dir() {
  const char* set = std::getenv("VITRINE_CORPUS");
  const std::filesystem::path path =
      set != nullptr ? set : std::filesystem::path(VITRINE_SOURCE_DIR) / "../shared/corpus";
  return std::filesystem::is_directory(path) ? std::filesystem::canonical(path)
                                             : std::filesystem::path();
}

std::filesystem::path samples_dir() {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "test/samples";
}

std::string sample(const std::string& path) { return (samples_dir() / path).string(); }

}  // namespace vitrine::test
