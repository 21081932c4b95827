#include "inspector/join/operator_map_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

using testing::HasSubstr;

// In this backend's operator maps, each operator is a single digit, which is its debug handle.
class DigitsProfile final : public DelegateProfile {
 public:
  std::string_view backend_id() const override { return "Digits"; }
  OperatorMap parse_operator_map(std::string_view text) const override {
    OperatorMap map;
    map.num_operators = text.size();
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') throw InspectorError("not a digit");
      map.nodes.push_back({.type = text,
                           .debug_handle = static_cast<uint32_t>(text[i] - '0'),
                           .role = OperatorMap::Role::kOperator,
                           .op = i,
                           .serves = {}});
    }
    return map;
  }
};

const DigitsProfile kDigits;

OperatorMapChoice chosen(const std::vector<std::string_view>& texts,
                         const std::vector<int32_t>& identifiers) {
  std::vector<OperatorMapText> maps;
  for (const std::string_view text : texts) maps.push_back({&kDigits, text});
  return choose_operator_map(maps, identifiers);
}

TEST(OperatorMapChoice, ChoosesTheNewestMapThatMatches) {
  const OperatorMapChoice choice = chosen({"2", "25", "26", "x"}, {2, 5});
  EXPECT_EQ(choice.why_none, "");
  EXPECT_EQ(choice.profile, &kDigits);
  ASSERT_FALSE(choice.operator_map.nodes.empty());
  EXPECT_EQ(choice.operator_map.nodes[0].type, "25") << "the older \"2\" matches too";
}

TEST(OperatorMapChoice, ReportsWhyNoMapMatches) {
  EXPECT_EQ(chosen({"x", "9"}, {2}).why_none, "not a digit")
      << "the reason is about the oldest map";
  EXPECT_THAT(chosen({"25"}, {2}).why_none, HasSubstr("lists 2 operators, but 1 ran"));
  EXPECT_THAT(chosen({"26"}, {2, 5}).why_none,
              HasSubstr("operator 1 has debug handle 6 in the map, but logged 5"));
}

}  // namespace
}  // namespace vitrine::inspector
