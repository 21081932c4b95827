// Finds the corpus of programs exported from PyTorch (test/corpus/README.md). Tests that need the
// corpus are skipped if it is missing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::test {

// These functions return the folders that environment variables name. A function returns an empty
// path if its variable does not name a folder.
std::filesystem::path corpus_dir();          // VITRINE_CORPUS
std::filesystem::path corpus_llm_dir();      // VITRINE_CORPUS_LLM: language models
std::filesystem::path corpus_15_dir();       // VITRINE_CORPUS_15: exported with ExecuTorch 1.5
std::filesystem::path corpus_ptq_dir();      // VITRINE_CORPUS_PTQ: quantized models
std::filesystem::path corpus_foreign_dir();  // VITRINE_CORPUS_FOREIGN: programs for other backends

// Returns the folder of the samples in the repository (test/samples).
std::filesystem::path samples_dir();
std::string sample(const std::string& path);  // returns the full path of a sample

// Returns the files below a folder whose names end in `ending`, sorted by path. Returns no files if
// `folder` is empty.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                               std::string_view ending);

// True for the models that the corpus has from older versions of PyTorch and ExecuTorch.
bool is_compat(const std::filesystem::path& file);
// Returns the method of an exported model: "decode" for "model_decode.pt2" and for
// "model_decode_core_aten.pt2", "forward" for "model.pt2".
std::string method_of(const std::filesystem::path& exported);

}  // namespace vitrine::test

// Skips the test if VITRINE_CORPUS is not set.
#define VITRINE_NEEDS_CORPUS()               \
  if (::vitrine::test::corpus_dir().empty()) \
  GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS (test/corpus/README.md)"

// Skips the test if VITRINE_CORPUS_LLM is not set.
#define VITRINE_NEEDS_CORPUS_LLM()               \
  if (::vitrine::test::corpus_llm_dir().empty()) \
  GTEST_SKIP() << "needs the corpus of language models: set VITRINE_CORPUS_LLM"

// Defines `name` as the path of a folder in the corpus. Skips the test if VITRINE_CORPUS is not
// set.
#define VITRINE_CORPUS_CASE(name, relative_path)                                    \
  const std::filesystem::path name = ::vitrine::test::corpus_dir() / relative_path; \
  VITRINE_NEEDS_CORPUS()
