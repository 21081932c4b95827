#include "test/tokenizers/small_files.h"

#include <fmt/format.h>

#include <cstring>

#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace vitrine::test {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

}  // namespace

std::string tokenizer_path(const std::string& name) { return sample("tokenizers/" + name); }
std::string tokenizer_text(const std::string& name) { return read_text(tokenizer_path(name)); }

std::string llama2c_file(int32_t size, int32_t bos, int32_t eos, int32_t longest,
                         const std::vector<ScoredToken>& tokens) {
  std::string bytes;
  for (const int32_t number : {size, bos, eos, longest}) append(bytes, number);
  for (const ScoredToken& token : tokens) {
    append(bytes, token.score);
    append(bytes, static_cast<int32_t>(token.text.size()));
    bytes += token.text;
  }
  return bytes;
}

std::string llama2c_file(const std::vector<ScoredToken>& tokens) {
  std::vector<ScoredToken> all = {{0, "<unk>"}, {0, "<s>"}, {0, "</s>"}};
  for (int byte = 0; byte < 256; ++byte) all.push_back({0, fmt::format("<0x{:02X}>", byte)});
  all.insert(all.end(), tokens.begin(), tokens.end());
  return llama2c_file(static_cast<int32_t>(all.size()), 1, 2, 16, all);
}

}  // namespace vitrine::test
