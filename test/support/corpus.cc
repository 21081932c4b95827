#include "test/support/corpus.h"

#include <cstdlib>

namespace vitrine::test {

namespace {

// Returns the folder that the environment variable names. Returns an empty path if the variable
// does not name a folder.
std::filesystem::path find_folder(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr || !std::filesystem::is_directory(path)) return {};
  return std::filesystem::canonical(path);
}

}  // namespace

std::filesystem::path corpus_dir() { return find_folder("VITRINE_CORPUS"); }

std::filesystem::path corpus_15_dir() { return find_folder("VITRINE_CORPUS_15"); }

std::filesystem::path corpus_llm_dir() { return find_folder("VITRINE_CORPUS_LLM"); }

std::filesystem::path corpus_ptq_dir() { return find_folder("VITRINE_CORPUS_PTQ"); }

std::filesystem::path corpus_foreign_dir() { return find_folder("VITRINE_CORPUS_FOREIGN"); }

std::filesystem::path samples_dir() {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "test/samples";
}

std::string sample(const std::string& path) { return (samples_dir() / path).string(); }

}  // namespace vitrine::test
