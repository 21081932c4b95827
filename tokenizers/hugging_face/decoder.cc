#include "tokenizers/hugging_face/decoder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/hugging_face/byte_level.h"
#include "tokenizers/hugging_face/metaspace.h"
#include "tokenizers/hugging_face/replacement.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

using MakeDecoder = Decoder (*)(const JsonValue& step, const std::string& place);

// Replaces the text of each piece with change(text, is_first).
template <class Change>
class EachPiece final : public DecodeStep {
 public:
  EachPiece(Change change, const DecoderState& state)
      : change_(std::move(change)), is_first_(!state.continues) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    piece.text = change_(std::move(piece.text), is_first_);
    is_first_ = false;
    out.push_back(std::move(piece));
  }

 private:
  Change change_;
  bool is_first_;
};

template <class Change>
Decoder each_piece(Change change) {
  return [change = std::move(change)](DecodeSteps& steps, const DecoderState& state) {
    steps.push_back(std::make_unique<EachPiece<Change>>(change, state));
  };
}

template <class Step>
Decoder one_step() {
  return [](DecodeSteps& steps, const DecoderState& state) {
    steps.push_back(std::make_unique<Step>(state));
  };
}

template <class Step>
Decoder make_simple_decoder(const JsonValue&, const std::string&) {
  return one_step<Step>();
}

class Fuse final : public DecodeStep {
 public:
  explicit Fuse(const DecoderState& state) : continues_(state.continues) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    piece.continues = std::exchange(continues_, true);
    out.push_back(std::move(piece));
  }

 private:
  bool continues_;
};

class ByteLevelDecoder final : public DecodeStep {
 public:
  explicit ByteLevelDecoder(const DecoderState& state) : continues_(state.continues) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    give(characters_.push(from_byte_level(piece.text)), out);
  }
  void finish(DecodedPieces& out) override { give(characters_.finish(), out); }

 private:
  void give(std::string text, DecodedPieces& out) {
    if (!text.empty()) out.push_back({std::move(text), std::exchange(continues_, true)});
  }

  CharacterStream characters_;
  bool continues_;
};

// Turns runs of byte tokens into characters. Each byte of a run that is not UTF-8 becomes U+FFFD.
// An eager decoder (see Tokenizer::make_stream) returns each complete character at once. After an
// invalid byte, an eager decoder returns U+FFFD for each further byte of the run.
class ByteFallback final : public DecodeStep {
 public:
  explicit ByteFallback(const DecoderState& state) : eager_(state.eager) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    if (const auto byte = byte_of_token(piece.text)) {
      run_ += static_cast<char>(*byte);
      if (eager_ && (is_faulty_ || !could_begin_character(run_))) give(out);
      return;
    }
    finish(out);
    out.push_back(std::move(piece));
  }

  void finish(DecodedPieces& out) override {
    give(out);
    is_faulty_ = false;
  }

 private:
  void give(DecodedPieces& out) {
    if (run_.empty()) return;
    const std::string run = std::exchange(run_, std::string());
    is_faulty_ = is_faulty_ || well_formed(run) != run;
    if (!is_faulty_) {
      out.push_back({run});
      return;
    }
    for (size_t i = 0; i < run.size(); ++i) out.push_back({"\xEF\xBF\xBD"});
  }

  bool eager_;
  bool is_faulty_ = false;
  std::string run_;  // bytes that were not returned yet
};

// Joins the parts of a token into one piece.
class WholeTokens final : public DecodeStep {
 public:
  void push(DecodedPiece piece, DecodedPieces& out) override {
    if (!piece.continues || !token_) {
      finish(out);
      token_ = std::move(piece);
    } else {
      token_->text += piece.text;
    }
  }

  void finish(DecodedPieces& out) override {
    if (token_) out.push_back(std::move(*token_));
    token_.reset();
  }

 private:
  std::optional<DecodedPiece> token_;
};

// Removes up to `start` copies of a character from the beginning of each token, and up to `stop`
// copies from its end.
class Strip final : public DecodeStep {
 public:
  Strip(std::string content, size_t start, size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    if (!piece.continues) {
      finish(out);
      is_start_ = true;
      stripped_ = 0;
    }
    std::string_view rest = piece.text;
    while (is_start_ && stripped_ < start_ && rest.starts_with(content_)) {
      rest.remove_prefix(content_.size());
      ++stripped_;
    }
    is_start_ = is_start_ && rest.empty();
    const size_t trailing = trailing_bytes(rest);
    trailing_ = trailing == rest.size() ? trailing_ + trailing : trailing;
    held_ += rest;
    // Holds back characters that may have to be removed at the end of the token.
    const size_t certain = held_.size() - trailing_;
    if (certain == 0 && piece.continues) return;
    out.push_back({held_.substr(0, certain), piece.continues});
    held_.erase(0, certain);
  }

  void finish(DecodedPieces& out) override {
    held_.resize(held_.size() - std::min(held_.size() / content_.size(), stop_) * content_.size());
    if (!held_.empty()) out.push_back({std::exchange(held_, std::string()), true});
    trailing_ = 0;
  }

 private:
  // Returns the number of bytes at the end of the text that may have to be removed.
  size_t trailing_bytes(std::string_view text) const {
    if (stop_ == 0) return 0;
    size_t size = 0;
    while (text.ends_with(content_)) {
      text.remove_suffix(content_.size());
      size += content_.size();
    }
    return size;
  }

  std::string content_;
  size_t start_;
  size_t stop_;
  bool is_start_ = false;
  size_t stripped_ = 0;
  std::string held_;
  size_t trailing_ = 0;  // bytes at the end of held_ that may have to be removed
};

Decoder make_strip_decoder(const JsonValue& step, const std::string&) {
  const std::string& content = one_character(step.at("content"));
  const auto start = step.at("start").integer<size_t>();
  const auto stop = step.at("stop").integer<size_t>();
  return [=](DecodeSteps& steps, const DecoderState&) {
    steps.push_back(std::make_unique<Strip>(content, start, stop));
  };
}

Decoder make_replace_decoder(const JsonValue& step, const std::string& place) {
  const auto replacement = std::make_shared<const Replacement>(step, place + ": decoder");
  return [replacement](DecodeSteps& steps, const DecoderState& state) {
    const auto replace = [replacement, &budget = state.budget](const std::string& text, bool) {
      return replacement->apply(text, budget);
    };
    steps.push_back(std::make_unique<EachPiece<decltype(replace)>>(replace, state));
  };
}

Decoder make_metaspace_decoder(const JsonValue& step, const std::string&) {
  return each_piece([metaspace = Metaspace(step)](std::string text, bool is_first) {
    const bool drops = is_first && metaspace.prepend != Metaspace::Prepend::kNever;
    std::string out;
    for (size_t i = 0; i < text.size();) {
      if (text.compare(i, metaspace.replacement.size(), metaspace.replacement) == 0) {
        if (!drops) out += ' ';
        i += metaspace.replacement.size();
      } else {
        out += text[i++];
      }
    }
    return out;
  });
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) return text;
  std::string out;
  size_t end = 0;
  for (; at != std::string::npos; at = text.find(from, end)) {
    out.append(text, end, at - end).append(to);
    end = at + from.size();
  }
  return out.append(text, end);
}

// Removes spaces before punctuation and contractions in English text. Contracts " do not".
std::string cleaned_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) text = replaced(std::move(text), from, to);
  return text;
}

Decoder make_word_piece_decoder(const JsonValue& step, const std::string&) {
  const std::string prefix = step.at("prefix").string();
  const bool cleans = step.at("cleanup").boolean();
  return each_piece([=](std::string text, bool is_first) {
    if (!is_first) {
      if (text.starts_with(prefix)) {
        text.erase(0, prefix.size());
      } else {
        text.insert(0, " ");
      }
    }
    return cleans ? cleaned_up(std::move(text)) : text;
  });
}

const std::string& not_empty(const JsonValue& json) {
  if (json.string().empty()) json.fail("is empty");
  return json.string();
}

// Replaces the suffix of a word with a space. Drops the suffix of the last word.
class BpeDecoder final : public DecodeStep {
 public:
  BpeDecoder(std::string suffix, const DecoderState& state) : suffix_(std::move(suffix)) {
    if (state.continues) held_ = suffix_;  // encoded text ends with a word
  }

  void push(DecodedPiece piece, DecodedPieces& out) override {
    give(" ", out);
    const size_t certain = std::min(piece.text.find(suffix_), piece.text.size());
    held_ = piece.text.substr(certain);
    piece.text.resize(certain);
    out.push_back(std::move(piece));
  }

  void finish(DecodedPieces& out) override { give("", out); }

 private:
  void give(std::string_view end, DecodedPieces& out) {
    const std::string held = std::exchange(held_, std::string());
    if (!held.empty()) out.push_back({replaced(held, suffix_, end), true});
  }

  std::string suffix_;
  std::string held_;  // the last token, from its first suffix on
};

Decoder make_bpe_decoder(const JsonValue& step, const std::string&) {
  return [suffix = not_empty(step.at("suffix"))](DecodeSteps& steps, const DecoderState& state) {
    steps.push_back(std::make_unique<BpeDecoder>(suffix, state));
  };
}

struct CtcSettings {
  std::string pad;        // separates equal tokens, and is dropped
  std::string delimiter;  // separates words
  bool cleans;
};

// Decodes connectionist temporal classification (CTC). Drops repeated tokens and padding.
class Ctc final : public DecodeStep {
 public:
  explicit Ctc(CtcSettings settings) : settings_(std::move(settings)) {}

  void push(DecodedPiece piece, DecodedPieces& out) override {
    if (piece.text == last_) return;
    last_ = piece.text;
    piece.text = replaced(std::move(piece.text), settings_.pad, "");
    // Hugging Face's library replaces delimiters only if "cleanup" is true.
    if (settings_.cleans) {
      piece.text = replaced(cleaned_up(std::move(piece.text)), settings_.delimiter, " ");
    }
    if (!piece.text.empty()) out.push_back(std::move(piece));
  }

 private:
  CtcSettings settings_;
  std::optional<std::string> last_;
};

Decoder make_ctc_decoder(const JsonValue& step, const std::string&) {
  const CtcSettings settings = {not_empty(step.at("pad_token")),
                                not_empty(step.at("word_delimiter_token")),
                                step.at("cleanup").boolean()};
  return [settings](DecodeSteps& steps, const DecoderState&) {
    steps.push_back(std::make_unique<Ctc>(settings));
  };
}

Decoder make_sequence_decoder(const JsonValue& step, const std::string& place) {
  std::vector<Decoder> decoders;
  step.at("decoders").each_item([&](const JsonValue& item) {
    decoders.push_back(read_decoder(item, place));
  });
  return [decoders = std::move(decoders)](DecodeSteps& steps, const DecoderState& state) {
    for (const Decoder& decoder : decoders) {
      // WholeTokens joins the parts of each token for the next decoder. An eager decoder cannot
      // wait for all parts of a token.
      if (!state.eager) steps.push_back(std::make_unique<WholeTokens>());
      decoder(steps, state);
    }
  };
}

const std::map<std::string_view, MakeDecoder>& decoder_makers() {
  static const std::map<std::string_view, MakeDecoder> kMakers = {
      {"BPEDecoder", make_bpe_decoder},
      {"ByteFallback", make_simple_decoder<ByteFallback>},
      {"ByteLevel", make_simple_decoder<ByteLevelDecoder>},
      {"CTC", make_ctc_decoder},
      {"Fuse", make_simple_decoder<Fuse>},
      {"Metaspace", make_metaspace_decoder},
      {"Replace", make_replace_decoder},
      {"Sequence", make_sequence_decoder},
      {"Strip", make_strip_decoder},
      {"WordPiece", make_word_piece_decoder},
  };
  return kMakers;
}

}  // namespace

Decoder read_decoder(const JsonValue& json, const std::string& place) {
  const JsonValue type = json.at("type");
  const auto maker = decoder_makers().find(type.string());
  if (maker == decoder_makers().end()) {
    type.fail(fmt::format("\"{}\" is not supported", type.string()));
  }
  return maker->second(json, place);
}

Decoder space_decoder() {
  return each_piece(
      [](const std::string& text, bool is_first) { return is_first ? text : " " + text; });
}

}  // namespace vitrine::hugging_face
