// Compares Vitrine with the original tokenizers from npm packages, on vocabularies of real models.
// vocabularies.mjs fetches the packages into a folder, sets VITRINE_VOCABULARIES to this folder,
// and runs this test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "test/support/read_json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

TEST(RealVocabularies, MatchTheOriginalTokenizers) {
  const char* folder = std::getenv("VITRINE_VOCABULARIES");
  ASSERT_NE(folder, nullptr);
  const json expected = test::read_json(std::filesystem::path(folder) / "expected.json");
  EXPECT_EQ(expected.size(), 5U);
  for (const auto& [name, texts] : expected.items()) {
    SCOPED_TRACE(name);
    const auto tokenizer = load_tokenizer(std::filesystem::path(folder) / name);
    EXPECT_GE(tokenizer->vocabulary_size(), 32000U);
    EXPECT_GT(texts.size(), 2000U);
    for (const json& item : texts) {
      const std::string text = item.at("text");
      const Ids ids = item.at("ids");
      EXPECT_EQ(tokenizer->encode(text), ids) << text;
      EXPECT_EQ(tokenizer->decode(ids), text);
    }
  }
}

}  // namespace
}  // namespace vitrine
