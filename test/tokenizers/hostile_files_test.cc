// Tests tokenizer files that need too much work or memory. Each must be rejected or produce the
// correct result, in little time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/platform/clock.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Limits the processor time of each test. The limit is large enough for emulated processors and
// sanitizers.
class HostileFiles : public testing::Test {
 protected:
  json file = {
      {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}, {"?", 1}}}, {"unk_token", "?"}}}};

  void SetUp() override { begin_ns_ = platform::thread_cpu_ns(); }
  void TearDown() override { EXPECT_LT(platform::thread_cpu_ns() - begin_ns_, 20'000'000'000U); }

 private:
  uint64_t begin_ns_ = 0;
};

template <class Use>
std::string refusal_of(Use use) {
  return test::thrown<TokenizerError>([&] { use(); });
}
std::string refusal_to_load(const json& file) {
  return refusal_of([&] { parse_tokenizer(file.dump(), "the file"); });
}
std::string refusal_to_encode(const json& file, const std::string& text) {
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  return refusal_of([&] { tokenizer->encode(text); });
}

json replace_step(const char* pattern, size_t size) {
  return {{"type", "Replace"},
          {"pattern", {{"String", pattern}}},
          {"content", std::string(size, pattern[0])}};
}
json sequence(const char* key, const json& step, size_t count) {
  json steps = json::array();
  for (size_t i = 0; i < count; ++i) steps.push_back(step);
  return {{"type", "Sequence"}, {key, steps}};
}

constexpr const char* kGrows = "the tokenizer turns a text of";
constexpr const char* kTooLong = "the tokenizer takes too long";

TEST_F(HostileFiles, ChainedNormalizersShareLimitsOnSizeAndTime) {
  file["normalizer"] = sequence("normalizers", replace_step("a", 64), 4);
  EXPECT_THAT(
      refusal_to_encode(file, "a"),
      HasSubstr("the file: the tokenizer turns a text of 1 bytes into 262144 bytes; at most "
                "65548 are accepted"));
  // Each step of the normalizer makes the text only a little longer, but there are many steps.
  file["normalizer"] = sequence("normalizers", replace_step("a", 2), 40);
  EXPECT_THAT(refusal_to_encode(file, "a"), HasSubstr(kGrows));
  file["normalizer"] = sequence("normalizers", {{"type", "ByteLevel"}}, 40);
  EXPECT_THAT(refusal_to_encode(file, "é"), HasSubstr(kGrows));
  file["normalizer"] = sequence("normalizers", {{"type", "Prepend"}, {"prepend", "aaaa"}}, 40'000);
  EXPECT_THAT(refusal_to_encode(file, "a"), HasSubstr(kTooLong));
  // No step of the normalizer makes the text longer, but there are many steps.
  file["normalizer"] = sequence("normalizers", {{"type", "Lowercase"}}, 5000);
  EXPECT_THAT(refusal_to_encode(file, std::string(40'000, 'a')), HasSubstr(kTooLong));
  // Each element of the sequence is a sequence too.
  file["normalizer"] = sequence("normalizers", sequence("normalizers", replace_step("a", 2), 8), 8);
  EXPECT_THAT(refusal_to_encode(file, "a"), HasSubstr(kGrows));
}

TEST_F(HostileFiles, PiecesBetweenAddedTokensShareOneGrowthLimit) {
  file["added_tokens"] = {{{"id", 2}, {"content", "|"}, {"special", true}}};
  file["normalizer"] = {{"type", "Prepend"}, {"prepend", std::string(256, 'a')}};
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "a|";
  EXPECT_THAT(refusal_to_encode(file, text), HasSubstr(kGrows));
}

TEST_F(HostileFiles, ChainedPreTokenizersShareLimitsOnSizeAndTime) {
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  file["pre_tokenizer"] = sequence("pretokenizers", byte_level, 40);
  EXPECT_THAT(refusal_to_encode(file, "é"), HasSubstr(kGrows));
  const json metaspace = {{"type", "Metaspace"}, {"replacement", "é"}, {"split", true}};
  file["pre_tokenizer"] = sequence("pretokenizers", metaspace, 5000);
  EXPECT_THAT(refusal_to_encode(file, std::string(40'000, ' ')), HasSubstr(kTooLong));
}

TEST_F(HostileFiles, NormalizedAddedTokensShareOneGrowthLimit) {
  file["normalizer"] = sequence("normalizers", replace_step("a", 64), 7);
  file["added_tokens"] = {{{"id", 2}, {"content", "a!"}, {"normalized", true}}};
  EXPECT_THAT(refusal_to_load(file),
              HasSubstr("the file: added_tokens: the tokenizer turns a text of"));
  // The total size of all normalized tokens is limited to 64 KB plus 12 times the total size of the
  // original tokens.
  file["normalizer"] = replace_step("a", 200);
  const auto with_added = [&](size_t count) {
    json& added = file["added_tokens"] = json::array();
    for (size_t i = 0; i < count; ++i) {
      added.push_back({{"id", 2 + i}, {"content", "a" + std::to_string(i)}, {"normalized", true}});
    }
    return refusal_to_load(file);
  };
  EXPECT_EQ(with_added(300), "");
  EXPECT_THAT(with_added(600), HasSubstr(kGrows));
}

TEST_F(HostileFiles, RegularExpressionMatchesOfAllPiecesShareOneTimeLimit) {
  const json cut = {{"type", "FixedLength"}, {"length", 24}};
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", "(a|a|b){19}[cd]"}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {cut, split}}};
  std::string text;
  for (int i = 0; i < 1700; ++i) text += std::string(23, 'a') + "d";
  EXPECT_THAT(refusal_to_encode(file, text), HasSubstr(kTooLong));
}

TEST_F(HostileFiles, WordPieceTakesLinearTime) {
  json vocabulary = {{"?", 0}, {std::string(20'000, 'x'), 1}};
  for (char c = ' '; c < '?'; ++c) vocabulary[std::string(1, c)] = vocabulary.size();
  file = {{"pre_tokenizer", {{"type", "FixedLength"}, {"length", 4096}}},
          {"model",
           {{"type", "WordPiece"},
            {"vocab", vocabulary},
            {"unk_token", "?"},
            {"continuing_subword_prefix", ""},
            {"max_input_chars_per_word", 4096}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  const std::string text(40'000, '!');
  EXPECT_EQ(tokenizer->encode(text),
            std::vector<TokenId>(text.size(), tokenizer->id_of("!").value()));
}

TEST_F(HostileFiles, WordPieceTakesLinearTimeWhenLongTokensAlmostMatch) {
  const std::string almost = std::string(30'000, 'x') + "y";
  file = {{"model",
           {{"type", "WordPiece"},
            {"vocab", {{"?", 0}, {"x", 1}, {almost, 2}, {"##x", 3}, {"##" + almost, 4}}},
            {"unk_token", "?"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 1'000'000'000}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  std::vector<TokenId> expected(1'000'000, 3);
  expected.front() = 1;
  EXPECT_EQ(tokenizer->encode(std::string(expected.size(), 'x')), expected);
}

// Up to 1024 entries of the vocabulary match at each position of the text.
TEST_F(HostileFiles, UnigramIsRejectedOrTakesLittleTime) {
  json vocabulary = json::array();
  for (size_t size = 0; size <= 1024; ++size) {
    vocabulary.push_back({size == 0 ? "?" : std::string(size, 'a'), -1.0});
  }
  file = {{"model", {{"type", "Unigram"}, {"vocab", vocabulary}, {"unk_id", 0}}}};
  EXPECT_THAT(refusal_to_encode(file, std::string(40'000, 'a')),
              testing::AnyOf("", HasSubstr(kTooLong)));
}

TEST_F(HostileFiles, RejectsTextsThatLongSubwordPrefixesExpand) {
  json vocabulary = {{"?", 0}};
  for (const char* byte : {"<0x61>", "<0x62>"}) vocabulary[byte] = vocabulary.size();
  file = {{"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", json::array()},
            {"byte_fallback", true},
            {"continuing_subword_prefix", std::string(256, 'b')}}}};
  EXPECT_EQ(refusal_to_encode(file, "aaa"), "");
  EXPECT_THAT(refusal_to_encode(file, std::string(40'000, 'a')),
              testing::AnyOf(HasSubstr(kGrows), HasSubstr(kTooLong)));
}

std::string refusal_to_decode(const json& file, size_t num_tokens) {
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  const std::vector<TokenId> ids(num_tokens, 0);
  const std::string refusal = refusal_of([&] { tokenizer->decode(ids); });
  const std::string streamed = refusal_of([&] {
    const auto stream = tokenizer->stream();
    for (const TokenId id : ids) stream->push(id);
    stream->finish();
  });
  EXPECT_EQ(refusal == "", streamed == "") << refusal << ", " << streamed;
  return refusal;
}

TEST_F(HostileFiles, ChainedDecodersShareLimitsOnSizeAndTime) {
  file["decoder"] = sequence("decoders", replace_step("a", 64), 4);
  EXPECT_THAT(refusal_to_decode(file, 1), HasSubstr("the file: the tokenizer turns a text of"));
  // The text of each token is within the limit, but the text of all tokens together is too long.
  file["decoder"] = sequence("decoders", replace_step("a", 64), 2);
  EXPECT_THAT(refusal_to_decode(file, 1000), HasSubstr(kGrows));
  file["decoder"] = sequence("decoders", {{"type", "Fuse"}}, 5000);
  EXPECT_THAT(refusal_to_decode(file, 1000), HasSubstr(kTooLong));
}

TEST_F(HostileFiles, RegularExpressionMatchesOfDecodersShareOneTimeLimit) {
  file["model"]["vocab"] = {{std::string(22, 'a') + "d", 0}, {"?", 1}};
  file["decoder"] = {
      {"type", "Replace"}, {"pattern", {{"Regex", "(a|a|b){19}[cd]e?[fd]"}}}, {"content", ""}};
  EXPECT_THAT(refusal_to_decode(file, 2000), HasSubstr(kTooLong));
}

TEST_F(HostileFiles, StripDecoderTakesLinearTime) {
  const json strip = {{"type", "Strip"}, {"content", "a"}, {"start", 0}, {"stop", 1'000'000}};
  file["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, strip}}};
  EXPECT_EQ(refusal_to_decode(file, 200'000), "");
}

// A named pipe without a writer must not block the loader.
TEST_F(HostileFiles, RejectsFilesThatAreNotRegular) {
  const test::ScratchFolder folder;
  const std::filesystem::path fifo = folder / "tokenizer.json";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of([&] { load_tokenizer(fifo); }), fifo.string() + ": not a regular file");
  EXPECT_EQ(refusal_of([&] { load_tokenizer(fifo.parent_path()); }),
            fifo.string() + ": not a regular file");
}

}  // namespace
}  // namespace vitrine
