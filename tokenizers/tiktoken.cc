#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/ranked_bytes.h"
#include "tokenizers/token_table.h"

namespace vitrine {
namespace {

constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr size_t kSpecialTokens = 256;
constexpr const char* kReserved = "<|reserved_special_token_{}|>";

// Returns Llama 3.1's special tokens. The first names are fixed, and the other names are numbered.
std::vector<std::string> llama3_special_tokens() {
  std::vector<std::string> names = {"<|begin_of_text|>",
                                    "<|end_of_text|>",
                                    "<|reserved_special_token_0|>",
                                    "<|reserved_special_token_1|>",
                                    "<|finetune_right_pad_id|>",
                                    "<|reserved_special_token_2|>",
                                    "<|start_header_id|>",
                                    "<|end_header_id|>",
                                    "<|eom_id|>",
                                    "<|eot_id|>",
                                    "<|python_tag|>"};
  for (size_t number = 3; names.size() < kSpecialTokens; ++number) {
    names.push_back(fmt::format(fmt::runtime(kReserved), number));
  }
  return names;
}

RankedBytes::Token read_line(std::string_view line, const std::string& place) {
  const size_t space = line.find(' ');
  const auto bytes = base64_bytes(line.substr(0, space));
  int64_t rank = -1;
  if (space != std::string_view::npos) {
    const char* end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + space + 1, end, rank);
    if (error != std::errc() || stop != end) rank = -1;
  }
  if (!bytes || rank < 0) {
    throw TokenizerError(fmt::format("{}: expected a token in base64 and its rank", place));
  }
  return {*bytes, rank};
}

}  // namespace

std::unique_ptr<Tokenizer> read_tiktoken(std::string_view text, const std::string& place) {
  RankedBytes ranks;
  ranks.form = "tiktoken";
  ranks.pattern = kLlama3Pattern;
  size_t number = 0;
  int64_t next = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    ranks.tokens.push_back(read_line(line, fmt::format("{}: line {}", place, number)));
    next = std::max(next, ranks.tokens.back().rank + 1);
  }
  next = checked_id(next, ranks.tokens.size(), "after the last rank", place);
  for (std::string& name : llama3_special_tokens()) {
    ranks.special_tokens.push_back({static_cast<TokenId>(next++), std::move(name)});
  }
  ranks.bos = ranks.special_tokens[0].text;
  ranks.eos = ranks.special_tokens[1].text;
  return make_ranked_bytes_tokenizer(std::move(ranks), place);
}

}  // namespace vitrine
