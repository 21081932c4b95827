#include "tokenizers/hugging_face/pre_tokenizer.h"

#include <algorithm>
#include <map>

#include "tokenizers/hugging_face/byte_level.h"
#include "tokenizers/hugging_face/metaspace.h"
#include "tokenizers/hugging_face/replacement.h"
#include "tokenizers/hugging_face/script_runs.h"
#include "tokenizers/hugging_face/separators.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

using MakePreTokenizer = PreTokenizer (*)(const JsonValue& step, const std::string& place);

constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
    {"Removed", SplitBehavior::kRemoved},
    {"Isolated", SplitBehavior::kIsolated},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
};

SplitBehavior read_behavior(const JsonValue& json) {
  const auto* found =
      std::ranges::find(kBehaviors, json.string(), [](const auto& b) { return b.first; });
  if (found == std::end(kBehaviors)) json.fail("is not a valid behavior of a Split pre-tokenizer");
  return found->second;
}

bool flag_of(const JsonValue& step, const char* key, bool otherwise) {
  return step.holds(key) ? step.at(key).boolean() : otherwise;
}

template <class Change>
void each_text(TextPieces& pieces, Change change) {
  for (TextPiece& piece : pieces) {
    if (!piece.id) change(piece);
  }
}

size_t size_of_text(const TextPieces& pieces) {
  size_t bytes = 0;
  for (const TextPiece& piece : pieces) bytes += piece.id ? 0 : piece.text.size();
  return bytes;
}

PreTokenizer make_byte_level_pre_tokenizer(const JsonValue& step, const std::string& place) {
  const bool add_prefix_space = flag_of(step, "add_prefix_space", true);
  const bool use_regex = flag_of(step, "use_regex", true);
  const SeparatorFinder words =
      use_regex ? matches_of(kByteLevelPattern, place + ": pre_tokenizer") : nullptr;
  return [add_prefix_space, words](TextPieces& pieces, TextBudget& budget) {
    if (add_prefix_space) {
      each_text(pieces, [](TextPiece& piece) {
        if (!piece.text.starts_with(' ')) piece.text.insert(0, " ");
      });
    }
    if (words) split_pieces(pieces, words, SplitBehavior::kIsolated, budget);
    each_text(pieces, [](TextPiece& piece) { piece.text = to_byte_level(piece.text); });
  };
}

PreTokenizer make_split_pre_tokenizer(const JsonValue& step, const std::string& place) {
  const SeparatorFinder find = read_pattern(step.at("pattern"), place + ": pre_tokenizer");
  const SplitBehavior behavior = read_behavior(step.at("behavior"));
  const bool invert = flag_of(step, "invert", false);
  return [=](TextPieces& pieces, TextBudget& budget) {
    split_pieces(pieces, find, behavior, budget, invert);
  };
}

PreTokenizer split_at(SeparatorFinder find, SplitBehavior behavior) {
  return
      [=](TextPieces& pieces, TextBudget& budget) { split_pieces(pieces, find, behavior, budget); };
}

PreTokenizer make_digits_pre_tokenizer(const JsonValue& step, const std::string&) {
  const bool one_by_one = flag_of(step, "individual_digits", false);
  return split_at(characters_that(is_numeric),
                  one_by_one ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

PreTokenizer make_punctuation_pre_tokenizer(const JsonValue& step, const std::string&) {
  return split_at(characters_that(is_punctuation), step.holds("behavior")
                                                       ? read_behavior(step.at("behavior"))
                                                       : SplitBehavior::kIsolated);
}

PreTokenizer make_delimiter_pre_tokenizer(const JsonValue& step, const std::string&) {
  return split_at(occurrences_of(one_character(step.at("delimiter"))), SplitBehavior::kRemoved);
}

PreTokenizer make_fixed_length_pre_tokenizer(const JsonValue& step, const std::string&) {
  constexpr size_t kDefaultLength = 5;
  const size_t length = step.holds("length") ? step.at("length").integer<size_t>() : kDefaultLength;
  if (length == 0) step.at("length").fail("is 0");
  return split_at(runs_of(length), SplitBehavior::kIsolated);
}

// Splits text into runs of one script. Drops spaces before the first run.
PreTokenizer make_unicode_scripts_pre_tokenizer(const JsonValue&, const std::string&) {
  return [](TextPieces& pieces, TextBudget& budget) {
    const auto runs = [](std::string_view text, TextBudget&) { return script_runs(text); };
    split_pieces(pieces, runs, SplitBehavior::kRemoved, budget, /*invert=*/true);
  };
}

PreTokenizer make_whitespace_split_pre_tokenizer(const JsonValue&, const std::string&) {
  return split_at(characters_that(is_white_space), SplitBehavior::kRemoved);
}

// Splits into runs of word characters and runs of other characters, and drops white space.
PreTokenizer make_whitespace_pre_tokenizer(const JsonValue&, const std::string&) {
  return [](TextPieces& pieces, TextBudget& budget) {
    split_pieces(pieces, characters_that(is_white_space), SplitBehavior::kRemoved, budget);
    split_pieces(pieces, characters_that(is_word_part), SplitBehavior::kContiguous, budget);
  };
}

PreTokenizer make_bert_pre_tokenizer(const JsonValue&, const std::string&) {
  return [](TextPieces& pieces, TextBudget& budget) {
    split_pieces(pieces, characters_that(is_white_space), SplitBehavior::kRemoved, budget);
    split_pieces(pieces, characters_that(is_punctuation), SplitBehavior::kIsolated, budget);
  };
}

PreTokenizer make_metaspace_pre_tokenizer(const JsonValue& step, const std::string&) {
  const Metaspace metaspace(step);
  const SeparatorFinder find = occurrences_of(metaspace.replacement);
  return [metaspace, find](TextPieces& pieces, TextBudget& budget) {
    each_text(pieces, [&](TextPiece& piece) {
      std::string text;
      const bool prepends = metaspace.prepend == Metaspace::Prepend::kAlways ||
                            (metaspace.prepend == Metaspace::Prepend::kFirst && piece.at_start);
      if (prepends && !piece.text.starts_with(' ') &&
          !piece.text.starts_with(metaspace.replacement)) {
        text = metaspace.replacement;
      }
      for (const char c : piece.text) {
        if (c == ' ') {
          text += metaspace.replacement;
        } else {
          text += c;
        }
      }
      piece.text = std::move(text);
    });
    if (metaspace.split) split_pieces(pieces, find, SplitBehavior::kMergedWithNext, budget);
  };
}

PreTokenizer make_sequence_pre_tokenizer(const JsonValue& step, const std::string& place) {
  std::vector<PreTokenizer> steps;
  step.at("pretokenizers").each_item([&](const JsonValue& item) {
    steps.push_back(read_pre_tokenizer(item, place));
  });
  return [steps = std::move(steps)](TextPieces& pieces, TextBudget& budget) {
    for (const PreTokenizer& next : steps) next(pieces, budget);
  };
}

const std::map<std::string_view, MakePreTokenizer>& pre_tokenizer_makers() {
  static const std::map<std::string_view, MakePreTokenizer> kMakers = {
      {"BertPreTokenizer", make_bert_pre_tokenizer},
      {"ByteLevel", make_byte_level_pre_tokenizer},
      {"CharDelimiterSplit", make_delimiter_pre_tokenizer},
      {"Digits", make_digits_pre_tokenizer},
      {"FixedLength", make_fixed_length_pre_tokenizer},
      {"Metaspace", make_metaspace_pre_tokenizer},
      {"Punctuation", make_punctuation_pre_tokenizer},
      {"Sequence", make_sequence_pre_tokenizer},
      {"Split", make_split_pre_tokenizer},
      {"UnicodeScripts", make_unicode_scripts_pre_tokenizer},
      {"Whitespace", make_whitespace_pre_tokenizer},
      {"WhitespaceSplit", make_whitespace_split_pre_tokenizer},
  };
  return kMakers;
}

}  // namespace

PreTokenizer read_pre_tokenizer(const JsonValue& json, const std::string& place) {
  const JsonValue type = json.at("type");
  const auto maker = pre_tokenizer_makers().find(type.string());
  if (maker == pre_tokenizer_makers().end()) {
    type.fail(fmt::format("\"{}\" is not supported", type.string()));
  }
  PreTokenizer split = maker->second(json, place);
  if (maker->first == "Sequence") return split;
  return [split = std::move(split)](TextPieces& pieces, TextBudget& budget) {
    constexpr uint64_t kStepsPerPiece = 20;
    constexpr uint64_t kStepsPerByte = 4;
    const size_t before = size_of_text(pieces);
    split(pieces, budget);
    const size_t after = size_of_text(pieces);
    budget.take_steps(kStepsPerPiece * pieces.size() + kStepsPerByte * (before + after));
    budget.resize(before, after);
  };
}

}  // namespace vitrine::hugging_face
