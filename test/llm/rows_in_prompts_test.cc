// Tests prompts in which rows from an encoder (of an image or audio) replace placeholder tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "examples/models/model_builder.h"
#include "test/llm/lowered_models.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "vitrine/array.h"
#include "vitrine/method_decoder.h"

namespace vitrine {
namespace {

using aot::ModelBuilder;
using aot::Node;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<TokenId>;
using Floats = std::vector<float>;

constexpr int64_t kWords = 6;
constexpr int64_t kMaxRows = 4;
constexpr int64_t kContext = 32;
constexpr TokenId kImage = 9;  // the placeholder, outside of the vocabulary

// The logits are the sum of all rows so far plus twice the last row. The embedding of a word is
// one-hot. The encoder multiplies the features by 10.
aot::Methods adding_model(bool has_dynamic_rows, bool has_cache) {
  aot::Methods methods;
  ModelBuilder encoder("Encoder");
  const aot::SymInt rows = has_dynamic_rows ? encoder.dynamic_size(1, kMaxRows) : aot::SymInt(2);
  Node* features = encoder.input("features", ScalarType::kFloat, {1, rows, kWords});
  methods.emplace("vision_encoder",
                  encoder.finish({encoder.call("aten.mul.Tensor", {features, 10.0})}));
  ModelBuilder embedding("Embedding");
  Node* ids = embedding.input("ids", ScalarType::kLong, {1, embedding.dynamic_size(1, 8)});
  Floats ones(kWords * kWords);
  for (size_t i = 0; i < kWords; ++i) ones[i * (kWords + 1)] = 1;
  const auto table = [](const Floats& values, std::vector<int64_t> sizes) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return aot::make_tensor_data(ScalarType::kFloat, std::move(sizes), std::move(bytes));
  };
  Node* words = embedding.parameter("words", table(ones, {kWords, kWords}));
  methods.emplace("token_embedding",
                  embedding.finish({embedding.call("aten.embedding.default", {words, ids})}));
  ModelBuilder decoder("Decoder");
  Node* in = decoder.input("rows", ScalarType::kFloat, {1, decoder.dynamic_size(1, 8), kWords});
  Node* sum = decoder.call("aten.sum.dim_IntList", {in, std::vector<int64_t>{1}});
  if (has_cache) {
    Node* position = decoder.input("position", ScalarType::kLong, {1});
    Node* before = decoder.buffer("sum", table(Floats(kWords), {1, kWords}));
    decoder.call("aten.add_.Tensor", {before, sum});
    sum = decoder.call("aten.add.Tensor", {before, decoder.call("aten.mul.Tensor", {position, 0})});
  }
  Node* last = decoder.call("aten.select.int", {in, 1, -1});
  Node* logits = decoder.call("aten.add.Tensor", {sum, decoder.call("aten.mul.Tensor", {last, 2})});
  methods.emplace("text_decoder", decoder.finish({logits}));
  return methods;
}

template <class Act>
std::string refusal_of(Act act) {
  return test::thrown<GenerationError>(act);
}
std::string refusal(TextGenerator& generator, const Ids& prompt, const GenerateOptions& options) {
  return refusal_of([&] { generator.generate(prompt, options); });
}

class EncoderRowsInPrompts : public testing::Test {
 protected:
  void load(const std::filesystem::path& file, const MethodDecoderOptions& options) {
    session_ = std::make_unique<tools::Session>(tools::SessionOptions{file, {}, 1});
    const DecoderMethodNames names = find_decoder_methods(*session_->program());
    const auto method = [this](const std::string& name) {
      methods_.push_back(session_->load_method(name));
      return methods_.back().get();
    };
    DecoderMethods found;
    found.decode = method(names.decode);
    found.encoder = method(names.encoder);
    found.embedding = method(names.embedding);
    decoder_ = std::make_unique<MethodDecoder>(session_->program(), found, options);
  }
  void load_adding(bool has_dynamic_rows, std::optional<TokenId> row_id = kImage,
                   bool has_cache = true) {
    aot::EmitOptions options;
    options.constant_methods = {{"get_max_seq_len", {int64_t{8}}},
                                {"get_max_context_len", {kContext}}};
    const auto bytes =
        test::lower_methods(adding_model(has_dynamic_rows, has_cache), false, options);
    tools::write_file(folder_ / "model.pte", std::span(bytes));
    load(folder_ / "model.pte", {.row_id = row_id});
  }
  // Encodes an image with one row per word. Row i has the value i + 1 at the index of word i. The
  // encoder multiplies this value by 10.
  void show(const Ids& words) {
    Floats values(words.size() * kWords);
    for (size_t i = 0; i < words.size(); ++i) {
      values[i * kWords + static_cast<size_t>(words[i])] = static_cast<float>(i + 1);
    }
    features_ = *Array::copy_of<float>(
        values, {1, static_cast<int32_t>(words.size()), static_cast<int32_t>(kWords)});
    decoder_->encode(features_.mutable_tensor());
  }
  // Feeds a prompt in chunks and returns the logits after its last token.
  Floats feed(const Ids& prompt, size_t chunk, int64_t position = 0) {
    const Ids tokens = decoder_->with_rows(prompt);
    Floats logits;
    for (size_t i = 0; i < tokens.size(); i += chunk) {
      const auto part = std::span(tokens).subspan(i, std::min(chunk, tokens.size() - i));
      const auto found = decoder_->feed(part, position + static_cast<int64_t>(i));
      logits.assign(found.begin(), found.end());
    }
    return logits;
  }

  test::ScratchFolder folder_;
  std::unique_ptr<tools::Session> session_;
  std::vector<std::unique_ptr<Method>> methods_;
  Array features_;
  std::unique_ptr<MethodDecoder> decoder_;
};

TEST_F(EncoderRowsInPrompts, ReplaceThePlaceholderToken) {
  for (const bool has_dynamic_rows : {false, true}) {
    for (const size_t chunk : {1, 2, 3, 8}) {
      load_adding(has_dynamic_rows);
      EXPECT_TRUE(decoder_->inserts_rows());
      show({4, 2});
      // Words 1 and 3 each add 1 to their own logit. The image adds 10 to the logit of word 4 and
      // 20 to the logit of word 2. The row of word 3 is the last one and counts three times, so
      // word 3 has the logit 3.
      EXPECT_THAT(feed({1, kImage, 3}, chunk), ElementsAre(0, 1, 20, 3, 10, 0)) << chunk;
      // The rows of two later prompts are added to the sum too. The first prompt does not have an
      // image, and the second has another image.
      EXPECT_THAT(feed({5}, chunk, 4), ElementsAre(0, 1, 20, 1, 10, 3));
      show({0, 0});
      EXPECT_THAT(feed({kImage}, chunk, 5), ElementsAre(30 + 40, 1, 20, 1, 10, 1));
    }
  }
}

TEST_F(EncoderRowsInPrompts, AcceptOnePlaceholderPerRow) {
  load_adding(true);
  show({4, 2, 0});
  EXPECT_THAT(feed({kImage, 1, kImage, kImage}, 3), ElementsAre(90, 1, 20, 0, 10, 0));
  show({4, 2, 0});
  EXPECT_EQ(refusal_of([&] { feed(Ids(2, kImage), 3); }),
            "the prompt has 2 placeholder tokens (id 9), but method vision_encoder returns 3 rows: "
            "use one placeholder, or one for each row");
}

TEST_F(EncoderRowsInPrompts, WorkInTextGenerator) {
  load_adding(true);
  show({4, 4, 4});
  TextGenerator generator(*decoder_, nullptr);
  const Generation first =
      generator.generate(Ids{1, kImage}, {.max_new_tokens = 2, .sampling = {.temperature = 0}});
  EXPECT_THAT(first.ids, ElementsAre(4, 4));
  EXPECT_EQ(first.statistics.prompt_tokens, 4);
  EXPECT_EQ(generator.position(), 5);
  EXPECT_THROW(generator.generate(Ids{kWords}, {}), GenerationError)
      << "kWords is outside of the vocabulary";
}

// Without a cache, each call gets the text from its beginning.
TEST_F(EncoderRowsInPrompts, AreFedAgainInEveryCallWithoutCache) {
  for (const bool has_dynamic_rows : {false, true}) {
    load_adding(has_dynamic_rows, kImage, false);
    show({4, 2});
    Ids text = decoder_->with_rows(Ids{1, kImage, 3});
    const auto logits_with = [&](const Ids& more) {
      text.insert(text.end(), more.begin(), more.end());
      const auto found = decoder_->feed(text, 0);
      return Floats(found.begin(), found.end());
    };
    EXPECT_THAT(logits_with({}), ElementsAre(0, 1, 20, 3, 10, 0));
    EXPECT_THAT(logits_with({0}), ElementsAre(3, 1, 20, 1, 10, 0));
    EXPECT_THAT(logits_with({5}), ElementsAre(1, 1, 20, 1, 10, 3));
    EXPECT_THAT(logits_with(decoder_->with_rows(Ids{2})), ElementsAre(1, 1, 23, 1, 10, 1));
    text.clear();
    show({0, 0});
    EXPECT_THAT(logits_with(decoder_->with_rows(Ids{kImage, 1})), ElementsAre(30, 3, 0, 0, 0, 0));
    show({4, 2});
    EXPECT_EQ(refusal_of([&] { logits_with(decoder_->with_rows(Ids{kImage})); }),
              "the text has 4 placeholder tokens (id 9), but method vision_encoder returns 2 rows: "
              "without a cache, a text can have only one encoder input");
    TextGenerator generator(*decoder_, nullptr);
    show({4, 2});
    const GenerateOptions two = {.max_new_tokens = 2, .sampling = {.temperature = 0}};
    EXPECT_THAT(generator.generate(Ids{1, kImage, 3}, two).ids, ElementsAre(2, 2));
  }
}

TEST_F(EncoderRowsInPrompts, WithoutACacheARejectedPromptLeavesTheTextUnchanged) {
  const GenerateOptions one = {.max_new_tokens = 1, .sampling = {.temperature = 0}};
  for (const Ids& refused : {Ids{kImage, 1, 1, 1, 1}, Ids{kImage, kImage}}) {
    load_adding(true, kImage, false);
    TextGenerator generator(*decoder_, nullptr);
    EXPECT_THAT(generator.generate(Ids{1, 2}, one).ids, ElementsAre(2));
    show({4, 2, 0});
    EXPECT_THAT(refusal(generator, refused, one), refused.size() == 2
                                                      ? HasSubstr("2 placeholder tokens (id 9)")
                                                      : HasSubstr("no room"));
    EXPECT_EQ(generator.position(), 2);
    EXPECT_EQ(refusal(generator, Ids{3}, one), "");
    EXPECT_EQ(generator.position(), 4);
  }
  // In the encoder, the rows of the rejected prompt's image have replaced those of the earlier
  // image. Without the earlier rows, the text cannot continue.
  load_adding(true, kImage, false);
  TextGenerator generator(*decoder_, nullptr);
  show({4, 4});
  EXPECT_EQ(refusal(generator, Ids{kImage, 1}, one), "");
  show({0, 0});
  EXPECT_THAT(refusal(generator, Ids{kImage, 1, 1, 1}, one), HasSubstr("no room"));
  EXPECT_THAT(refusal(generator, Ids{3}, one),
              HasSubstr("the rows of method vision_encoder belong to a rejected prompt"));
  show({0, 0});
  EXPECT_EQ(refusal(generator, Ids{kImage}, one), "") << "a new text";
}

TEST_F(EncoderRowsInPrompts, RejectMissingFeaturesOrPlaceholder) {
  load_adding(true);
  const Ids with_image = {1, kImage};
  EXPECT_ERROR(GenerationError, feed(with_image, 8),
               "needs the output of method vision_encoder, whose input is not set");
  show({1});
  EXPECT_EQ(refusal_of([&] { feed({1}, 8); }),
            "the prompt has no placeholder token (id 9) for the rows of method vision_encoder");
  load_adding(true, std::nullopt);
  EXPECT_THAT(feed({1}, 8), ElementsAre(0, 3, 0, 0, 0, 0)) << "text without an image";
  EXPECT_EQ(refusal_of([&] { show({1}); }),
            "give the placeholder token for the rows of method vision_encoder with "
            "--encoder_token");
}

TEST(FindRowId, AcceptsTokenTextOrId) {
  const auto tokenizer = load_tokenizer(test::sample("tokenizers/byte_level.json"));
  EXPECT_EQ(find_row_id(tokenizer.get(), "vision_encoder", "ab"), tokenizer->id_of("ab"));
  EXPECT_EQ(find_row_id(tokenizer.get(), "vision_encoder", "17"), 17);
  EXPECT_EQ(find_row_id(nullptr, "vision_encoder", "17"), 17);
  EXPECT_EQ(find_row_id(nullptr, "vision_encoder", ""), std::nullopt);
  EXPECT_EQ(find_row_id(tokenizer.get(), "audio_encoder", ""), std::nullopt);
  EXPECT_EQ(refusal_of([&] { find_row_id(tokenizer.get(), "vision_encoder", "<picture>"); }),
            "\"<picture>\" is neither a token of the tokenizer nor an id");
}

// The prompt contains four words and an image of 16 rows. A second prompt is one more word. The
// size of the chunks must not change the logits.
TEST_F(EncoderRowsInPrompts, LogitsMatchPyTorch) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / "multimodal_three_methods";
  const auto floats = [&](const char* name) { return test::read_floats(folder / name); };
  const auto expect_near = [](const Floats& found, const Floats& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-3) << i;
  };
  constexpr TokenId kPlaceholder = 63;
  for (const size_t chunk : {1, 5, 20}) {
    load(folder / "model.pte", {.row_id = kPlaceholder});
    Array image = *Array::copy_of<float>(floats("input_0.bin"), {1, 3, 32, 32});
    decoder_->encode(image.mutable_tensor());
    expect_near(feed({kPlaceholder, 10, 38, 55, 46}, chunk), floats("expected_0_c3.bin"));
    expect_near(feed({7}, chunk, 20), floats("expected_0_c5.bin"));
  }
}

}  // namespace
}  // namespace vitrine
