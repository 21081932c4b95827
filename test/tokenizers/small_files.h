// Tokenizer files made in tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vitrine::test {

// A file of test/samples/tokenizers, as text and as a path.
std::string tokenizer_text(const std::string& name);
std::string tokenizer_path(const std::string& name);

struct ScoredToken {
  float score;
  std::string text;
};
// llama2.c's form. `size` and `longest` stand in the header, whatever follows.
std::string llama2c_file(int32_t size, int32_t bos, int32_t eos, int32_t longest,
                         const std::vector<ScoredToken>& tokens);
// <unk>, <s>, </s>, all bytes, then `tokens`.
std::string llama2c_file(const std::vector<ScoredToken>& tokens);

}  // namespace vitrine::test
