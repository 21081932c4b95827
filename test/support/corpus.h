// Finds the corpus of real programs. Tests that need it are skipped without it.
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::test {

// $VITRINE_CORPUS, or ../shared/corpus beside the source tree. Empty if there is none.
std::filesystem::path corpus_dir();

// The same of language models: $VITRINE_CORPUS_LLM, or ../shared/corpus_llm.
std::filesystem::path corpus_llm_dir();

// Samples that are part of the repository (test/samples).
std::filesystem::path samples_dir();
std::string sample(const std::string& path);  // the path of a sample, for commands

}  // namespace vitrine::test

// Skips the test if there is no corpus.
#define VITRINE_NEEDS_CORPUS()               \
  if (::vitrine::test::corpus_dir().empty()) \
  GTEST_SKIP() << "needs the corpus of real programs: set VITRINE_CORPUS"

// Sets `name` to the folder of a corpus case, or skips the test.
#define VITRINE_CORPUS_CASE(name, relative_path)                                    \
  const std::filesystem::path name = ::vitrine::test::corpus_dir() / relative_path; \
  VITRINE_NEEDS_CORPUS()
