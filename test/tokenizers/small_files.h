// Reads and makes tokenizer files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vitrine::test {

// These functions return the content and the path of a file in test/samples/tokenizers.
std::string tokenizer_text(const std::string& name);
std::string tokenizer_path(const std::string& name);

struct ScoredToken {
  float score;
  std::string text;
};
// Returns a llama2.c file. The header contains `size` and `longest` even if they do not match
// `tokens`.
std::string llama2c_file(int32_t size, int32_t bos, int32_t eos, int32_t longest,
                         const std::vector<ScoredToken>& tokens);
// Returns a llama2.c file with <unk>, <s>, </s>, all bytes, and `tokens`.
std::string llama2c_file(const std::vector<ScoredToken>& tokens);

}  // namespace vitrine::test
