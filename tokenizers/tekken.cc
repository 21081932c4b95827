#include <algorithm>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/ranked_bytes.h"
#include "tokenizers/token_table.h"

namespace vitrine {
namespace {

// The first special tokens of files without a list of special tokens. Further special tokens have
// numbered names.
constexpr std::string_view kOldSpecialTokens[] = {"<unk>",
                                                  "<s>",
                                                  "</s>",
                                                  "[INST]",
                                                  "[/INST]",
                                                  "[AVAILABLE_TOOLS]",
                                                  "[/AVAILABLE_TOOLS]",
                                                  "[TOOL_RESULTS]",
                                                  "[/TOOL_RESULTS]",
                                                  "[TOOL_CALLS]",
                                                  "[IMG]",
                                                  "<pad>",
                                                  "[IMG_BREAK]",
                                                  "[IMG_END]",
                                                  "[PREFIX]",
                                                  "[MIDDLE]",
                                                  "[SUFFIX]"};

std::vector<SpecialToken> read_special_tokens(const JsonValue& root, size_t count) {
  std::vector<std::string> names(count);
  for (size_t id = 0; id < count; ++id) {
    names[id] = id < std::size(kOldSpecialTokens) ? std::string(kOldSpecialTokens[id])
                                                  : fmt::format("<SPECIAL_{}>", id);
  }
  if (root.holds("special_tokens")) {
    root.at("special_tokens").each_item([&](const JsonValue& item) {
      const auto id = item.at("rank").integer<size_t>();
      if (id >= count)
        item.fail(fmt::format("has rank {}, but there are {} special tokens", id, count));
      names[id] = item.at("token_str").string();
    });
  }
  std::vector<SpecialToken> tokens;
  tokens.reserve(names.size());
  for (std::string& name : names) {
    tokens.push_back({static_cast<TokenId>(tokens.size()), std::move(name)});
  }
  return tokens;
}

}  // namespace

std::unique_ptr<Tokenizer> read_tekken(const JsonValue& root, const std::string& place) {
  constexpr size_t kMaxSpecialTokens = 65536;
  const JsonValue config = root.at("config");
  RankedBytes ranks;
  ranks.form = "Tekken";
  ranks.pattern = config.at("pattern").string();
  const JsonValue vocabulary = root.at("vocab");
  const auto special_count = config.at("default_num_special_tokens").integer<size_t>();
  if (special_count > kMaxSpecialTokens) {
    config.at("default_num_special_tokens")
        .fail(fmt::format("is {}; at most {} are accepted", special_count, kMaxSpecialTokens));
  }
  // The model was trained with default_vocab_size tokens. The file may have more tokens.
  size_t count = vocabulary.size();
  if (config.holds("default_vocab_size")) {
    const auto size = config.at("default_vocab_size").integer<size_t>();
    if (size < special_count) {
      config.at("default_vocab_size")
          .fail(fmt::format("is {}, less than the {} special tokens", size, special_count));
    }
    count = std::min(count, size - special_count);
  }
  vocabulary.each_item([&](const JsonValue& item) {
    if (ranks.tokens.size() == count) return;
    const auto bytes = base64_bytes(item.at("token_bytes").string());
    if (!bytes) item.at("token_bytes").fail("is not base64");
    ranks.tokens.push_back({*bytes, static_cast<int64_t>(ranks.tokens.size())});
  });
  ranks.first_id = static_cast<int64_t>(special_count);
  ranks.special_tokens = read_special_tokens(root, special_count);
  ranks.bos = "<s>";
  ranks.eos = "</s>";
  return make_ranked_bytes_tokenizer(std::move(ranks), place);
}

}  // namespace vitrine
