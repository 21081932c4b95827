#include "test/support/corpus.h"

#include <algorithm>
#include <cstdlib>

namespace vitrine::test {
namespace {

// Returns an empty path if the variable does not name a folder.
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

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                               std::string_view ending) {
  std::vector<std::filesystem::path> files;
  if (folder.empty()) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string sample(const std::string& path) { return (samples_dir() / path).string(); }

bool is_compat(const std::filesystem::path& file) {
  return file.string().find("/compat/") != std::string::npos;
}

std::string method_of(const std::filesystem::path& exported) {
  std::string stem = exported.stem().string().substr(std::string_view("model").size());
  constexpr std::string_view kCore = "_core_aten";
  if (stem.ends_with(kCore)) stem.resize(stem.size() - kCore.size());
  return stem.empty() ? "forward" : stem.substr(1);
}

}  // namespace vitrine::test
