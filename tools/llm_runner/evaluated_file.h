// Reads a text file as token ids, with the number of bytes of each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vitrine/tokenizer.h"

namespace vitrine::tools {

struct EvaluatedFile {
  std::string name;
  uint64_t bytes = 0;         // size of the part of the file that was read
  bool is_truncated = false;  // the file has more tokens than the limit
  std::vector<TokenId> ids;
  std::vector<double> token_bytes;  // bytes of the text for each id
  std::vector<std::string> notes;
};

// Encodes the file as plain text: names of special tokens are ordinary characters. Reads only the
// bytes that about `max_tokens` tokens need. Scales token_bytes by original length / decoded
// length. Throws ToolError if the file is empty or cannot be read, and TokenizerError if the text
// cannot be encoded.
EvaluatedFile read_evaluated_file(const std::filesystem::path& path, const Tokenizer& tokenizer,
                                  size_t max_tokens);

// Returns the part of the text that the tokens [begin, end) of `ids` add.
std::string text_of(const Tokenizer& tokenizer, std::span<const TokenId> ids, size_t begin,
                    size_t end);

}  // namespace vitrine::tools
