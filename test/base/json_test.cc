#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/format_error.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Parses `text` and calls act(root). Returns the message of the error, or an empty string.
template <class Act>
std::string json_error(const std::string& text, Act act) {
  return test::thrown<FormatError>([&] {
    const JsonDocument document(text, "model.json");
    act(document.root());
  });
}

std::string parse_error(const std::string& text) {
  return json_error(text, [](const JsonValue&) {});
}

TEST(JsonDocument, ReportsThePathOfAValue) {
  const std::string text = R"({"nodes": [{"name": "a"}, {"name": {"first": 1}}]})";
  const auto name_of = [](const JsonValue& root) {
    root.at("nodes").each_item([](const JsonValue& node) { node.at("name").string(); });
  };
  EXPECT_EQ(json_error(text, name_of), "model.json: nodes[1].name: is not a string");
  EXPECT_EQ(json_error("[]", name_of), "model.json: is not an object");
  EXPECT_EQ(json_error("{}", name_of), "model.json: has no \"nodes\"");
  EXPECT_EQ(json_error(R"({"nodes": {}})", name_of), "model.json: nodes: is not a list");
}

TEST(JsonDocument, RejectsEveryTruncation) {
  const std::string text = R"({"a": [1, -2.5e3, "b\"\\", null, true], "c": {"d": []}})";
  EXPECT_EQ(parse_error(text), "");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(parse_error(text.substr(0, size)), StartsWith("model.json: is not JSON: "))
        << "cut to " << size << " bytes";
  }
}

TEST(JsonDocument, RejectsInvalidJson) {
  for (const char* text : {"nul", "[1,]", "{\"a\" 1}", "1 2", "'a'", "\"\xff\"", "\"\x01\"", "01",
                           "Nan", "Infinit", "[NaN 1]"}) {
    EXPECT_THAT(parse_error(text), StartsWith("model.json: is not JSON: ")) << text;
  }
}

TEST(JsonDocument, LimitsNestingButIgnoresBracketsInStrings) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  for (const size_t limit : {size_t{1}, size_t{3}, size_t{200}}) {
    EXPECT_NO_THROW(JsonDocument(nested(limit), "deep", limit)) << limit;
    EXPECT_THAT([&] { JsonDocument(nested(limit + 1), "deep", limit); },
                testing::ThrowsMessage<FormatError>("deep: is nested deeper than " +
                                                    std::to_string(limit) + " levels"));
  }
  EXPECT_NO_THROW(JsonDocument(R"(["[[[", "\"[[", "{{"])", "text", 1));
  EXPECT_NO_THROW(JsonDocument("[[],[],{}]", "siblings", 2));
}

TEST(JsonDocument, AcceptsNanAndInfinityOutsideStrings) {
  const JsonDocument document(R"({"a": [NaN, Infinity,-Infinity], "b": "NaN \" Infinity"})", "x");
  std::vector<double> numbers;
  document.root().at("a").each_item([&](const JsonValue& n) { numbers.push_back(n.number()); });
  EXPECT_THAT(numbers, ElementsAre(testing::IsNan(), kInfinity, -kInfinity));
  EXPECT_EQ(document.root().at("b").string(), "NaN \" Infinity");
}

TEST(JsonValue, ReadsNumbersAndTheStringsNanAndInfinity) {
  const JsonDocument document(R"([1, -0.5, 1e3, "Infinity", "-Infinity", "NaN"])", "x");
  std::vector<double> numbers;
  document.root().each_item([&](const JsonValue& n) { numbers.push_back(n.number()); });
  EXPECT_THAT(numbers, ElementsAre(1, -0.5, 1000, kInfinity, -kInfinity, testing::IsNan()));
  for (const char* text : {"\"1\"", "\"nan\"", "\"\"", "null", "true", "[]"}) {
    EXPECT_EQ(json_error(text, [](const JsonValue& value) { value.number(); }),
              "model.json: is not a number")
        << text;
  }
}

template <class T>
void expect_integer_limits() {
  const auto read = [](const JsonValue& value) { value.integer<T>(); };
  const auto text_of = [](auto number) { return std::to_string(number); };
  constexpr int64_t kMin = std::numeric_limits<T>::min();
  constexpr int64_t kMax = std::numeric_limits<T>::max();
  EXPECT_EQ(json_error(text_of(kMin), read), "");
  EXPECT_EQ(json_error(text_of(kMax), read), "");
  EXPECT_EQ(json_error(text_of(kMin - 1), read),
            "model.json: is " + text_of(kMin - 1) + ", out of range");
  EXPECT_EQ(json_error(text_of(kMax + 1), read),
            "model.json: is " + text_of(kMax + 1) + ", out of range");
}

TEST(JsonValue, RejectsIntegersOutOfRange) {
  expect_integer_limits<int8_t>();
  expect_integer_limits<uint8_t>();
  expect_integer_limits<int32_t>();
  expect_integer_limits<uint32_t>();
  const auto wide = [](const JsonValue& value) { value.integer(); };
  EXPECT_EQ(json_error("9223372036854775807", wide), "");
  EXPECT_EQ(json_error("-9223372036854775808", wide), "");
  EXPECT_EQ(json_error("9223372036854775808", wide), "model.json: is out of range");
  EXPECT_EQ(json_error("18446744073709551615", wide), "model.json: is out of range");
  for (const char* text : {"1.0", "1e2", "true", "null", "\"1\"", "[1]", "18446744073709551616"}) {
    EXPECT_EQ(json_error(text, wide), "model.json: is not an integer") << text;
  }
}

TEST(JsonValue, RejectsValuesOfTheWrongType) {
  const auto error = [](const char* text, auto act) { return json_error(text, act); };
  EXPECT_EQ(error("1", [](const JsonValue& v) { v.boolean(); }),
            "model.json: is not true or false");
  EXPECT_EQ(error("{}", [](const JsonValue& v) { v.size(); }), "model.json: is not a list");
  EXPECT_EQ(error("[]", [](const JsonValue& v) { v.each_member([](auto&&...) {}); }),
            "model.json: is not an object");
  for (const char* text : {"{}", R"({"a": 1, "b": 2})", "[1]", "null"}) {
    EXPECT_EQ(error(text, [](const JsonValue& v) { v.variant(); }),
              "model.json: is not an object with one key");
  }
}

TEST(JsonValue, DistinguishesAbsentAndNullMembers) {
  const JsonDocument document(R"({"null": null, "zero": 0})", "x");
  const JsonValue root = document.root();
  EXPECT_TRUE(root.has("null"));
  EXPECT_FALSE(root.holds("null"));
  EXPECT_TRUE(root.holds("zero"));
  EXPECT_FALSE(root.has("absent"));
  EXPECT_FALSE(root.at("zero").has("null")) << "a number has no members";
}

TEST(JsonValue, VisitsMembersAndItems) {
  const JsonDocument document(R"({"a": [10, 20], "b": []})", "x");
  std::vector<std::string> keys;
  document.root().each_member([&](const std::string& key, const JsonValue& list) {
    keys.push_back(key + std::to_string(list.size()));
  });
  EXPECT_THAT(keys, ElementsAre("a2", "b0"));
  const JsonDocument tagged(R"({"as_int": 7})", "x");
  EXPECT_EQ(tagged.root().variant().first, "as_int");
  EXPECT_EQ(tagged.root().variant().second.integer(), 7);
}

}  // namespace
}  // namespace vitrine
