#include "test/support/corpus.h"

#include <cstdlib>

namespace vitrine::test {

namespace {

// What the variable names, or `beside` the source tree; empty if it is not a folder.
std::filesystem::path find_folder(const char* variable, const char* beside) {
  const char* set = std::getenv(variable);
  const std::filesystem::path path =
      set != nullptr ? set : std::filesystem::path(VITRINE_SOURCE_DIR) / beside;
  return std::filesystem::is_directory(path) ? std::filesystem::canonical(path)
                                             : std::filesystem::path();
}

}  // namespace

std::filesystem::path corpus_dir() { return find_folder("VITRINE_CORPUS", "../shared/corpus"); }

std::filesystem::path corpus_llm_dir() {
  return find_folder("VITRINE_CORPUS_LLM", "../shared/corpus_llm");
}

std::filesystem::path samples_dir() {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "test/samples";
}

std::string sample(const std::string& path) { return (samples_dir() / path).string(); }

}  // namespace vitrine::test
