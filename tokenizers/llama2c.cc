#include "tokenizers/llama2c.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/pair_merging.h"
#include "tokenizers/text_budget.h"
#include "tokenizers/token_table.h"
#include "tokenizers/unicode.h"

namespace vitrine {
namespace {

// Id of the token for byte 0. Ids 0 to 2 are <unk>, <s> and </s>.
constexpr TokenId kFirstByteToken = 3;
// A file may lack its last tokens. The number of missing tokens is at most kMaxMissing plus the
// number of tokens in the file.
constexpr size_t kMaxMissing = 65536;

static_assert(std::endian::native == std::endian::little);

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(place) {}

  bool at_end() const { return position_ == bytes_.size(); }

  std::string_view take(size_t size) {
    if (size > bytes_.size() - position_) {
      fail(fmt::format("expected {} bytes, found {}: the file is truncated", size,
                       bytes_.size() - position_));
    }
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw TokenizerError(fmt::format("{}: byte {}: {}", place_, position_, what));
  }

 private:
  std::string_view bytes_;
  const std::string& place_;
  size_t position_ = 0;
};

class Llama2cTokenizer final : public Tokenizer {
 public:
  Llama2cTokenizer(std::string_view bytes, const std::string& place) : place_(place) {
    form_ = "llama2.c";
    Reader reader(bytes, place);
    const auto size = reader.number<int32_t>();
    const auto bos = reader.number<int32_t>();
    const auto eos = reader.number<int32_t>();
    const auto longest = reader.number<int32_t>();
    std::vector<TokenTable::Entry> entries;
    while (!reader.at_end() && static_cast<int64_t>(entries.size()) < size) {
      scores_.push_back(reader.number<float>());
      if (std::isnan(scores_.back())) reader.fail("a score is NaN");
      const auto length = reader.number<int32_t>();
      if (length < 0 || length > longest) {
        reader.fail(fmt::format("token {} has {} bytes, but the header limits tokens to {}",
                                entries.size(), length, longest));
      }
      entries.push_back({std::string(reader.take(static_cast<size_t>(length))),
                         static_cast<int64_t>(entries.size())});
    }
    if (!reader.at_end()) reader.fail("more bytes follow the last token");
    if (size <= 0 || static_cast<size_t>(size) > 2 * entries.size() + kMaxMissing) {
      reader.fail(
          fmt::format("expected {} tokens, found {}: the file is truncated", size, entries.size()));
    }
    tokens_ = TokenTable(std::move(entries), place);
    size_ = static_cast<size_t>(size);
    const auto known = [&](int32_t id) {
      if (id < 0 || id >= size) {
        reader.fail(
            fmt::format("the begin or end token has id {}, but there are {} tokens", id, size));
      }
      if (const std::string* text = tokens_.text(id)) special_tokens_.push_back({id, *text});
      return id;
    };
    bos_ = known(bos);
    eos_ = known(eos);
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    constexpr uint64_t kStepsPerByte = 16;
    constexpr size_t kLookupBytesPerStep = 4;
    TextBudget budget(place_, text.size());
    budget.take_steps(kStepsPerByte * text.size());
    std::vector<Symbol> symbols;
    if (!text.empty()) {
      const auto space = tokens_.find(" ");
      if (!space) {
        throw TokenizerError(fmt::format("{}: has no token for a space", place_));
      }
      symbols.push_back({*space, 0, 1});
    }
    for (size_t begin = 0; begin < text.size();) {
      size_t end = begin + 1;
      while (end < text.size() && end - begin < 4 && (text[end] & 0xC0) == 0x80) ++end;
      add_character(symbols, text.substr(begin, end - begin), begin);
      begin = end;
    }
    merge_pairs<float>(symbols, [&](const Symbol& left, const Symbol& right) {
      std::optional<PairMerge<float>> merge;
      const std::string& first = *tokens_.text(left.id);
      const std::string& second = *tokens_.text(right.id);
      if (first.size() + second.size() > tokens_.longest()) return merge;
      budget.take_steps(1 + (first.size() + second.size()) / kLookupBytesPerStep);
      if (const auto id = tokens_.find(first + second)) {
        merge = {-scores_[static_cast<size_t>(*id)], *id};
      }
      return merge;
    });
    std::vector<TokenId> ids;
    ids.reserve(symbols.size());
    for (const Symbol& symbol : symbols) ids.push_back(symbol.id);
    return with_ends(std::move(ids), options);
  }

  size_t vocabulary_size() const override { return size_; }

  std::optional<std::string> token(TokenId id) const override {
    const std::string* text = tokens_.text(id);
    if (text != nullptr) return *text;
    return id >= 0 && static_cast<size_t>(id) < size_ ? std::optional<std::string>("<pad>")
                                                      : std::nullopt;
  }

  std::optional<TokenId> id_of(std::string_view token) const override {
    return tokens_.find(token);
  }

 private:
  void add_character(std::vector<Symbol>& symbols, std::string_view bytes, size_t begin) const {
    if (const auto id = tokens_.find(bytes)) {
      symbols.push_back({*id, begin, bytes.size()});
      return;
    }
    for (const char byte : bytes) {
      const TokenId id = static_cast<uint8_t>(byte) + kFirstByteToken;
      if (tokens_.text(id) == nullptr) {
        throw TokenizerError(fmt::format("{}: has no token for the byte 0x{:02X}", place_,
                                         static_cast<uint8_t>(byte)));
      }
      symbols.push_back({id, begin++, 1});
    }
  }

  class Stream final : public DecodeStream {
   public:
    Stream(const Llama2cTokenizer& tokenizer, const DecodeOptions& options)
        : tokenizer_(tokenizer),
          skip_special_(options.skip_special),
          at_start_(!options.continues) {}

    std::string push(TokenId id) override {
      if (id < 0) throw TokenizerError(fmt::format("{} is not a token id", id));
      const bool is_special = id == tokenizer_.bos() || id == tokenizer_.eos();
      const std::string* text = tokenizer_.tokens_.text(id);
      if (text == nullptr || (is_special && skip_special_)) return "";
      if (const auto byte = byte_of_token(*text)) {
        at_start_ = false;
        return characters_.push(std::string(1, static_cast<char>(*byte)));
      }
      const bool drops_space = at_start_ && text->starts_with(' ');
      at_start_ = at_start_ && is_special;
      return characters_.push(std::string_view(*text).substr(drops_space ? 1 : 0));
    }
    std::string finish() override { return characters_.finish(); }

   private:
    const Llama2cTokenizer& tokenizer_;
    bool skip_special_;
    bool at_start_;
    CharacterStream characters_;
  };

  std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options, bool) const override {
    return std::make_unique<Stream>(*this, options);
  }

  std::string place_;
  TokenTable tokens_;
  std::vector<float> scores_;
  size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> read_llama2c(std::string_view bytes, const std::string& place) {
  return std::make_unique<Llama2cTokenizer>(bytes, place);
}

}  // namespace vitrine
